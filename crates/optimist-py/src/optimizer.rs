//! The low level: an optimizer of the core and the space it searches, without storage.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use optimist::encode::Encoding;
use optimist::goals::Goals;
use optimist::space::{Assignment, Space};
use optimist::{
    Family, GoUcb, Insight, Method, MethodError, Observation, Optimizer as Core, Outcome, Recommendation,
    Settings, Suggestion, Truth, rng,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::call;
use crate::convert::{from_python, json_from_python, to_python};
use crate::error;
use crate::family::{Law, Written};

/// How long to wait for a law's running call after Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(1);

/// Suggests points and learns from their values.
#[pyclass(frozen, module = "optimist._native")]
pub struct Optimizer {
    shared: Arc<Shared>,
}

struct Shared {
    encoding: Encoding,
    seed: u64,
    engine: Mutex<Engine>,
    law: Option<Arc<Law>>,
    /// The settings of the model that predicts: the optimizer's own, or the default ones if it has no such model.
    settings: Settings,
}

/// An optimizer; GO-UCB by itself, because it has reports that the others don't have.
enum Engine {
    GoUcb(Box<Core<GoUcb>>),
    Other(Box<Core>),
}

/// Does the same with either kind of engine.
macro_rules! with_core {
    ($engine:expr, $core:ident => $work:expr) => {
        match $engine {
            Engine::GoUcb($core) => $work,
            Engine::Other($core) => $work,
        }
    };
}

/// A recommendation: an encoded point, its mean and its standard deviation.
type Answer = (Vec<f64>, f64, Option<f64>);

#[pymethods]
impl Optimizer {
    #[new]
    #[pyo3(signature = (space, method, trials, seed, family, goals=None))]
    fn new(
        py: Python<'_>,
        space: &Bound<'_, PyAny>,
        method: &Bound<'_, PyAny>,
        trials: usize,
        seed: u64,
        family: Option<&Bound<'_, PyDict>>,
        goals: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let space: Result<Space, _> = serde_json::from_value(json_from_python(space)?);
        let encoding = Encoding::new(space.map_err(|problem| error::named(py, "SpaceError", problem))?);
        let table = json_from_python(method)?;
        table["name"]
            .as_str()
            .unwrap_or_default()
            .parse::<Method>()
            .map_err(|problem| error::invalid(py, problem))?;
        let method: Method = serde_json::from_value(table).map_err(|problem| error::invalid(py, problem))?;
        let goals = goals.map(from_python).transpose()?.unwrap_or_else(Goals::single);
        let law = family.map(|family| law(family, encoding.domain().dimension())).transpose()?.map(Arc::new);
        let is_scaled = family.map(|family| flag(family, "scaled")).transpose()?.unwrap_or(true);
        let (domain, own) = (encoding.domain(), law.clone());
        let settings = match &method {
            Method::GoUcb(settings) if matches!(**settings, Settings::Default(_)) => (**settings).clone(),
            _ => Settings::default(),
        };
        if law.is_some() && !matches!(method, Method::GoUcb(_)) {
            return Err(error::invalid(py, "only `go-ucb` takes a family of functions"));
        }
        if law.is_some() && !goals.is_single() {
            return Err(error::invalid(py, "a family of your own is for one outcome; leave out the others"));
        }
        let engine = call::run_here(py, || match (method, own) {
            (Method::GoUcb(settings), Some(law)) => {
                let settings = if is_scaled { *settings } else { in_own_units(*settings) };
                let family = move || -> Box<dyn Family> { Box::new(Written(Arc::clone(&law))) };
                let policy = GoUcb::with_family(domain, trials, &settings, seed, family);
                policy.map(|policy| Engine::GoUcb(Box::new(Core::new(domain.clone(), policy))))
            }
            (method, _) if !goals.is_single() => {
                method.build_for(domain, &goals, trials, seed).map(|core| Engine::Other(Box::new(core)))
            }
            (Method::GoUcb(settings), None) => GoUcb::new(domain, trials, &settings, seed)
                .map(|policy| Engine::GoUcb(Box::new(Core::new(domain.clone(), policy)))),
            (method, _) => method.build(domain, trials, seed).map(|core| Engine::Other(Box::new(core))),
        })?;
        let engine = Mutex::new(engine.map_err(|problem| error::invalid(py, problem))?);
        Ok(Self { shared: Arc::new(Shared { encoding, seed, engine, law, settings }) })
    }

    /// How many coordinates an encoded point has.
    #[getter]
    fn dimension(&self) -> usize {
        self.shared.encoding.domain().dimension()
    }

    /// The next point to try, from this stream of the seed, and how it was found. It isn't pending yet.
    fn suggest<'py>(&self, py: Python<'py>, stream: u64) -> PyResult<(Vec<f64>, Bound<'py, PyAny>)> {
        let Suggestion { x, why } = self.call(py, move |shared, engine| {
            let rng = &mut rng(shared.seed, stream);
            with_core!(engine, core => core.suggest(rng))
        })?;
        Ok((x, to_python(py, &why)?))
    }

    /// Marks a point as pending.
    fn propose(&self, py: Python<'_>, x: Vec<f64>) -> PyResult<()> {
        let x = self.checked(py, x)?;
        self.call(py, move |_, engine| with_core!(engine, core => core.propose(x)))
    }

    /// Tells the value of a point, which is to be maximized, or `None` if it failed.
    fn tell(&self, py: Python<'_>, x: Vec<f64>, y: Option<f64>, noise_std: Option<f64>) -> PyResult<()> {
        let outcome = y.map_or(Outcome::Failed, |y| Outcome::Value { y, noise_std });
        let told = self
            .call(py, move |_, engine| with_core!(engine, core => core.tell(Observation { x, outcome })))?;
        told.map_err(|problem| error::invalid(py, problem))
    }

    /// Tells each outcome at a point: a value to be maximized, with its noise, or `None` if it failed.
    fn tell_outcomes(
        &self,
        py: Python<'_>,
        x: Vec<f64>,
        outcomes: Vec<Option<(f64, Option<f64>)>>,
    ) -> PyResult<()> {
        let outcome =
            |told: Option<_>| told.map_or(Outcome::Failed, |(y, noise_std)| Outcome::Value { y, noise_std });
        let outcomes: Vec<Outcome> = outcomes.into_iter().map(outcome).collect();
        let told =
            self.call(py, move |_, engine| with_core!(engine, core => core.tell_outcomes(x, &outcomes)))?;
        told.map_err(|problem| error::invalid(py, problem))
    }

    /// Forgets a pending point.
    fn withdraw(&self, py: Python<'_>, x: Vec<f64>) -> PyResult<()> {
        let x = self.checked(py, x)?;
        self.call(py, move |_, engine| with_core!(engine, core => core.withdraw(&x)))
    }

    /// The best points so far, starting with the recommended one.
    fn ranking(&self, py: Python<'_>, n: usize) -> PyResult<Vec<Answer>> {
        let answer = |Recommendation { x, mean, std }| (x, mean, std);
        self.call(py, move |_, engine| {
            with_core!(engine, core => {
                let first = core.recommend();
                let others = core.ranking(n).into_iter().filter(|other| first.as_ref().is_none_or(|first| first.x != other.x));
                first.clone().into_iter().chain(others).take(n).map(answer).collect()
            })
        })
    }

    /// By how much the next point is expected to raise the best value.
    fn expected_gain(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.call(py, |_, engine| with_core!(engine, core => core.expected_gain()))
    }

    /// Mean and standard deviation at encoded points, noise not included; `None` before there is a model.
    fn predict(&self, py: Python<'_>, points: Vec<Vec<f64>>) -> PyResult<Option<Vec<(f64, f64)>>> {
        if self.shared.law.is_some() {
            let problem = "predictions with a family of your own are not available; `ranking` has those of the best points";
            return Err(error::invalid(py, problem));
        }
        let points = points.into_iter().map(|x| self.checked(py, x)).collect::<PyResult<Vec<_>>>()?;
        let predicted = self.call(py, move |shared, engine| {
            let told = with_core!(engine, core => core.history().observations().to_vec());
            let model = Insight::fit(&shared.encoding, told, &shared.settings)?;
            Ok(model.map(|model| points.par_iter().map(|x| model.predict(x)).collect()))
        })?;
        predicted.map_err(|problem: MethodError| error::invalid(py, problem))
    }

    /// The importance of each parameter, by itself and with its interactions; `None` before there is a model.
    fn importance(&self, py: Python<'_>) -> PyResult<Option<Vec<(f64, f64)>>> {
        let shares = self.call(py, |shared, engine| {
            let told = with_core!(engine, core => core.history().observations().to_vec());
            let model = Insight::fit(&shared.encoding, told, &Settings::default())?;
            Ok(model.map(|model| model.importances().iter().map(|share| (share.main, share.total)).collect()))
        })?;
        shares.map_err(|problem: MethodError| error::invalid(py, problem))
    }

    /// Problems with how points are suggested, one sentence each.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.call(py, |_, engine| with_core!(engine, core => core.warnings()))
    }

    /// Preset `theory`: the quantities of the proofs in each round, and how they compare with the truth if it's known.
    fn round_reports<'py>(
        &self,
        py: Python<'py>,
        truth: Option<(Vec<f64>, f64)>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let truth = truth.map(|(w_star, optimum)| Truth { w_star, optimum });
        let reports = self.call(py, move |_, engine| match engine {
            Engine::GoUcb(core) => {
                core.policy().round_reports(core.history(), truth).map_err(|error| error.to_string())
            }
            Engine::Other(_) => Ok(Vec::new()),
        })?;
        let reports = reports.map_err(|problem| error::invalid(py, problem))?;
        reports.iter().map(|report| to_python(py, report)).collect()
    }

    /// Encodes parameters.
    fn encode(&self, py: Python<'_>, params: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
        let params: Assignment = from_python(params)?;
        let encoded = call::run_here(py, || self.shared.encoding.encode(&params))?;
        encoded.map_err(|problem| error::named(py, "SpaceError", problem))
    }

    /// Decodes a point, which is snapped to the space.
    fn decode<'py>(&self, py: Python<'py>, x: Vec<f64>) -> PyResult<Bound<'py, PyAny>> {
        let x = self.checked(py, x)?;
        to_python(py, &call::run_here(py, || self.shared.encoding.decode(&x))?)
    }
}

impl Optimizer {
    /// Does `work` by `call::run`, and passes on the exception if a family written in Python raised one.
    fn call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Shared, &mut Engine) -> T + Send + 'static,
    ) -> PyResult<T> {
        let shared = Arc::clone(&self.shared);
        let work = move || {
            let mut engine = call::lock(&shared.engine);
            let engine = &mut *engine;
            call::in_pool(|| work(&shared, engine))
        };
        let result = call::run(py, work, drop).inspect_err(|_| self.abandon(py))?;
        match self.shared.law.as_ref().and_then(|law| call::lock(&law.raised).take()) {
            Some(raised) => Err(raised),
            None => Ok(result),
        }
    }

    /// After Ctrl-C: keeps the law from being called again, and waits until it isn't in the middle of a call, in which the interpreter
    /// could end.
    fn abandon(&self, py: Python<'_>) {
        if let Some(law) = &self.shared.law {
            law.is_abandoned.store(true, Ordering::Relaxed);
            py.detach(|| drop(call::try_lock(&self.shared.engine, PATIENCE)));
        }
    }

    fn checked(&self, py: Python<'_>, x: Vec<f64>) -> PyResult<Vec<f64>> {
        let (wanted, got) = (self.dimension(), x.len());
        if wanted != got || x.iter().any(|x| !x.is_finite()) {
            let problem = format!("an encoded point has {wanted} finite coordinates from 0 to 1, got {got}");
            return Err(error::invalid(py, problem));
        }
        Ok(x)
    }
}

/// Settings for a law in its own units: nothing is scaled or warped, and the whole space is searched.
fn in_own_units(settings: Settings) -> Settings {
    match settings {
        Settings::Default(mut default) => {
            (default.scaled, default.warp, default.trust_region) = (false, false, None);
            Settings::Default(default)
        }
        other => other,
    }
}

fn law(family: &Bound<'_, PyDict>, dimension: usize) -> PyResult<Law> {
    let item = |key: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(family.get_item(key)?.filter(|item| !item.is_none()))
    };
    let numbers = |key: &str| item(key)?.map(|item| item.extract::<Vec<f64>>()).transpose();
    let needed = |key: &str| pyo3::exceptions::PyTypeError::new_err(format!("a family needs `{key}`"));
    let n_weights: usize = item("n_weights")?.ok_or_else(|| needed("n_weights"))?.extract()?;
    let (prior_mean, prior_std) = (numbers("prior_mean")?, numbers("prior_std")?);
    for prior in [&prior_mean, &prior_std].into_iter().flatten() {
        if prior.len() != n_weights {
            let problem =
                format!("the prior has {} numbers, the family has {n_weights} weights", prior.len());
            return Err(error::invalid(family.py(), problem));
        }
    }
    Ok(Law {
        dimension,
        n_weights,
        value: item("value")?.ok_or_else(|| needed("value"))?.unbind(),
        grad_w: item("grad_w")?.map(Bound::unbind),
        grad_x: item("grad_x")?.map(Bound::unbind),
        prior_mean,
        prior_std,
        raised: Mutex::new(None),
        is_abandoned: AtomicBool::new(false),
    })
}

fn flag(family: &Bound<'_, PyDict>, key: &str) -> PyResult<bool> {
    family.get_item(key)?.map_or(Ok(false), |flag| flag.extract())
}
