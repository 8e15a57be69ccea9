//! What optimizers are judged on where a trial has several outcomes.
//!
//! Given: nothing. Gives: problems of two groups, and what a list of trials has achieved on one. Formulas are those of the
//! literature, which minimises objectives and wants constraints at most 0; here they are turned round once, in [`Problem::outcomes`].
//! A problem is free of noise; what is told strays from it by `noise`.

use optimist::encode::{Domain, Encoding};
use optimist::pareto;
use optimist::space::{Kind, Parameter, Space};
use optimist::{Goal, Goals};

use super::{constrained, multi};

/// A part of this benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Several goals, with or without constraints.
    Multi,
    /// One goal and constraints.
    Constrained,
}

impl Group {
    /// What it is called on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Group::Multi => "multi",
            Group::Constrained => "constrained",
        }
    }
}

/// What is minimised, then what is to be at most 0.
type Formula = fn(&[f64]) -> Vec<f64>;

/// A function with several outcomes.
pub struct Problem {
    /// What it is called on the command line and in result files.
    pub name: &'static str,
    /// What makes it easy or hard, in a few words.
    pub summary: &'static str,
    /// Where it was defined.
    pub source: &'static str,
    /// Which part of the benchmark it belongs to.
    pub group: Group,
    /// The feasible points.
    pub domain: Domain,
    /// What is wanted of each outcome.
    pub goals: Goals,
    /// The largest hypervolume, or the best value that meets the bounds, as far as is known.
    pub best: f64,
    /// What a run without a feasible point has achieved.
    pub worst: f64,
    /// Standard deviation of what is told about each outcome; 0 for none.
    pub noise: Vec<f64>,
    /// The share of the domain that meets the bounds is below 1 %.
    pub tiny: bool,
    encoding: Encoding,
    formula: Formula,
}

/// A problem as the literature has it.
pub(super) struct Raw {
    pub name: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    /// Low, high and step of each coordinate; a step of 0 is none.
    pub bounds: Vec<(f64, f64, f64)>,
    /// Of each objective, where there are several: worse is worth nothing. Empty for one objective.
    pub reference: Vec<f64>,
    /// How many values are to be at most 0.
    pub n_constraints: usize,
    /// The largest hypervolume, or the least feasible value.
    pub best: f64,
    /// What counts as the least value if none is feasible; anything for several objectives.
    pub worst: f64,
    pub tiny: bool,
    pub formula: Formula,
}

impl From<Raw> for Problem {
    fn from(raw: Raw) -> Problem {
        let parameter = |(i, &(low, high, step)): (usize, &(f64, f64, f64))| {
            let step = (step > 0.0).then_some(step);
            Parameter::new(format!("x{}", i + 1), Kind::Float { low, high, log: false, step })
        };
        let space = Space::new(raw.bounds.iter().enumerate().map(parameter).collect());
        let encoding = Encoding::new(space.expect("a problem's space is valid"));
        let wanted: Vec<Option<f64>> = match raw.reference.is_empty() {
            true => vec![None],
            false => raw.reference.iter().map(|reference| Some(-reference)).collect(),
        };
        let is_multi = wanted.len() > 1;
        let goals = wanted
            .into_iter()
            .map(|reference| Goal::Maximize { reference })
            .chain((0..raw.n_constraints).map(|_| Goal::AtLeast { bound: 0.0 }));
        let goals = Goals::new(goals.collect()).expect("a problem has up to eight outcomes");
        Problem {
            name: raw.name,
            summary: raw.summary,
            source: raw.source,
            group: if is_multi { Group::Multi } else { Group::Constrained },
            domain: encoding.domain().clone(),
            best: if is_multi { raw.best } else { -raw.best },
            worst: if is_multi { 0.0 } else { -raw.worst },
            noise: vec![0.0; goals.len()],
            tiny: raw.tiny,
            goals,
            encoding,
            formula: raw.formula,
        }
    }
}

impl Problem {
    /// Its outcomes at a point of the unit cube, without noise; larger is better.
    pub fn outcomes(&self, x: &[f64]) -> Vec<f64> {
        let point = self.encoding.decode(x);
        let x: Vec<f64> = (1..=point.iter().count()).map(|i| point.float(&format!("x{i}"))).collect();
        self.at(&x).into_iter().map(|value| -value).collect()
    }

    /// The formula at a point on its natural scale: what is minimised, then what is to be at most 0.
    pub fn at(&self, x: &[f64]) -> Vec<f64> {
        (self.formula)(x)
    }

    /// What trials with these outcomes have achieved together: the hypervolume of those that meet the bounds, or the best value.
    pub fn achieved(&self, told: &[Vec<f64>]) -> f64 {
        let feasible = told.iter().filter(|values| self.goals.are_met_by(values));
        let traded: Vec<Vec<f64>> = feasible.map(|values| self.goals.traded(values)).collect();
        match self.group {
            Group::Constrained => traded.iter().map(|value| value[0]).fold(self.worst, f64::max),
            Group::Multi => {
                let reference: Vec<f64> = self.goals.references().into_iter().flatten().collect();
                pareto::hypervolume(&traded, &reference)
            }
        }
    }

    /// Whether what is told strays from the truth.
    pub fn is_noisy(&self) -> bool {
        self.noise.iter().any(|std| *std > 0.0)
    }

    /// The same under another name, with noise of these standard deviations.
    pub(super) fn with_noise(self, name: &'static str, noise: &[f64]) -> Problem {
        assert_eq!(noise.len(), self.goals.len(), "{name}: one standard deviation for each outcome");
        Problem { name, noise: noise.to_vec(), ..self }
    }
}

/// All problems.
pub fn all() -> Vec<Problem> {
    [multi::problems(), constrained::problems()].into_iter().flatten().collect()
}

/// Problems by name or group, in the order of [`all`], each once.
///
/// # Errors
/// If a name is neither a problem nor a group.
pub fn select<S: AsRef<str>>(names: &[S]) -> Result<Vec<Problem>, UnknownProblem> {
    let all = all();
    let is_known =
        |name: &str| all.iter().any(|problem| problem.name == name || problem.group.name() == name);
    if let Some(name) = names.iter().map(AsRef::as_ref).find(|name| !is_known(name)) {
        let known = all.iter().flat_map(|problem| [problem.name, problem.group.name()]);
        let nearest = optimist::spelling::nearest(name, known).map(str::to_owned);
        return Err(UnknownProblem { name: name.to_owned(), nearest });
    }
    let is_wanted = |problem: &Problem| {
        names.iter().map(AsRef::as_ref).any(|name| name == problem.name || name == problem.group.name())
    };
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// A name that is neither a problem nor a group of them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "there is no problem with several outcomes called `{name}`{}",
    nearest.as_ref().map_or_else(
        || "; `multi` and `constrained` are all of them".to_owned(),
        |nearest| format!("; did you mean `{nearest}`?")
    )
)]
pub struct UnknownProblem {
    /// The name asked for.
    pub name: String,
    /// The problem or group that may have been meant.
    pub nearest: Option<String>,
}
