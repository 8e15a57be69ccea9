//! Functions to be maximised whose best value is known: what an optimizer is judged on.
//!
//! Given: nothing. Gives: [`all`] tasks, or those [`select`]ed by name or group.
//! A task sees encoded points only (the unit cube, as optimizers do) and is free of noise;
//! how much noise an optimizer is shown on top is one of its facts (`noise_std`).
//! Values are maximised: functions that the literature minimises are negated here.

mod bbob;
mod classic;
mod engineering;
mod mixed;
mod paper;
mod structure;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use optimist::encode::{AxisKind, Domain, Encoding};
use optimist::space::{Assignment, Space};

/// A function with a known maximum, and how it is played: `n` uniform points, then `horizon` asks.
pub struct Task {
    /// What it is called on the command line and in result files.
    pub name: &'static str,
    /// What makes it easy or hard, in a few words.
    pub summary: &'static str,
    /// Where it was defined.
    pub source: &'static str,
    /// The feasible points.
    pub domain: Domain,
    /// Points of Phase I.
    pub n: usize,
    /// Asks after Phase I (the paper's T).
    pub horizon: usize,
    /// Standard deviation of the noise added to each value that an optimizer is told.
    pub noise_std: f64,
    /// The largest value, f*.
    pub optimum: f64,
    /// A point, in the unit cube, where it is reached.
    pub maximiser: Vec<f64>,
    function: Function<[f64]>,
}

/// What is maximised, as a function of points or of named values.
type Function<X> = Box<dyn Fn(&X) -> f64 + Send + Sync>;

impl Task {
    /// The value at a point of the unit cube, without noise.
    pub fn value(&self, x: &[f64]) -> f64 {
        (self.function)(x)
    }

    /// How far the value at a round falls short of the best one.
    pub fn regret(&self, value: f64) -> f64 {
        self.optimum - value
    }

    /// Rounds played: Phase I and the asks.
    pub fn rounds(&self) -> usize {
        self.n + self.horizon
    }

    /// What is varied, counted by kind: `4 real, 2 grid, 1 category`.
    pub fn kinds(&self) -> String {
        let count = |is_kind: fn(&AxisKind) -> bool| {
            self.domain.axes().iter().filter(|axis| is_kind(&axis.kind)).count()
        };
        let conditional = self.domain.axes().iter().filter(|axis| !axis.when.is_empty()).count();
        [
            (count(|kind| matches!(kind, AxisKind::Real)), "real"),
            (count(|kind| matches!(kind, AxisKind::Grid(_))), "grid"),
            (count(|kind| matches!(kind, AxisKind::OneHot)), "category"),
            (conditional, "conditional"),
        ]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect::<Vec<_>>()
        .join(", ")
    }

    fn budget(self, n: usize, horizon: usize) -> Task {
        Task { n, horizon, ..self }
    }
}

/// Every task: the paper's three, then the suite.
pub fn all() -> &'static [Task] {
    static TASKS: LazyLock<Vec<Task>> = LazyLock::new(|| {
        let mut tasks = paper::tasks();
        tasks.extend(suite());
        tasks
    });
    &TASKS
}

/// Tasks by name or group, in the order of [`all`], each once.
///
/// # Errors
/// If a name is neither a task nor one of [`GROUPS`].
pub fn select<S: AsRef<str>>(names: &[S]) -> Result<Vec<&'static Task>, UnknownTask> {
    let mut wanted = BTreeSet::new();
    for name in names {
        wanted.extend(members(name.as_ref())?);
    }
    Ok(all().iter().filter(|task| wanted.contains(task.name)).collect())
}

/// The task of that name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Task, UnknownTask> {
    all().iter().find(|task| task.name == name).ok_or_else(|| UnknownTask::new(name))
}

/// Names that stand for several tasks: all of them, the paper's three, the others.
pub const GROUPS: [&str; 3] = ["all", "paper", "suite"];

/// A name that is neither a task nor a group.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("there is no task `{name}`; did you mean `{nearest}`? `optimist bench tasks` lists them all")]
pub struct UnknownTask {
    /// The name asked for.
    pub name: String,
    /// The task or group spelt most like it.
    pub nearest: &'static str,
}

impl UnknownTask {
    fn new(name: &str) -> UnknownTask {
        let known = GROUPS.into_iter().chain(all().iter().map(|task| task.name));
        let nearest = known
            .min_by_key(|known| strsim::damerau_levenshtein(&name.to_lowercase(), known))
            .expect("the groups are never empty");
        UnknownTask { name: name.to_owned(), nearest }
    }
}

fn members(name: &str) -> Result<Vec<&'static str>, UnknownTask> {
    let paper = paper::NAMES;
    let names = all().iter().map(|task| task.name);
    match name {
        "all" => Ok(names.collect()),
        "paper" => Ok(paper.to_vec()),
        "suite" => Ok(names.filter(|name| !paper.contains(name)).collect()),
        _ => Ok(vec![find(name)?.name]),
    }
}

/// The tasks that are not the paper's, grouped by where they come from.
fn suite() -> Vec<Task> {
    [structure::tasks(), bbob::tasks(), classic::tasks(), engineering::tasks(), mixed::tasks()]
        .into_iter()
        .flatten()
        .collect()
}

/// Most tasks' Phase I and horizon: the paper's for f2 and f3.
const BUDGET: (usize, usize) = (8, 64);

/// A task over real coordinates, written on their natural scale.
struct RealTask {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    bounds: Vec<(f64, f64)>,
    noise_std: f64,
    optimum: f64,
    /// On the natural scale, as `value` takes it.
    maximiser: Vec<f64>,
    value: Function<[f64]>,
}

impl From<RealTask> for Task {
    fn from(real: RealTask) -> Task {
        let RealTask { name, summary, source, bounds, noise_std, optimum, maximiser, value } = real;
        let to_unit = |(&x, &(low, high)): (&f64, &(f64, f64))| (x - low) / (high - low);
        Task {
            name,
            summary,
            source,
            domain: Domain::boxed(&bounds),
            n: BUDGET.0,
            horizon: BUDGET.1,
            noise_std,
            optimum,
            maximiser: maximiser.iter().zip(&bounds).map(to_unit).collect(),
            function: Box::new(move |u| {
                let x: Vec<f64> =
                    u.iter().zip(&bounds).map(|(&u, &(low, high))| low + (high - low) * u).collect();
                value(&x)
            }),
        }
    }
}

/// A task over a space with integers, categories or conditions, written on named values.
struct MixedTask {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    space: Space,
    noise_std: f64,
    optimum: f64,
    maximiser: Assignment,
    value: Function<Assignment>,
}

impl From<MixedTask> for Task {
    fn from(mixed: MixedTask) -> Task {
        let MixedTask { name, summary, source, space, noise_std, optimum, maximiser, value } = mixed;
        let encoding = Encoding::new(space);
        Task {
            name,
            summary,
            source,
            domain: encoding.domain().clone(),
            n: BUDGET.0,
            horizon: BUDGET.1,
            noise_std,
            optimum,
            maximiser: encoding.encode(&maximiser).expect("a task's maximiser lies in its space"),
            function: Box::new(move |x| value(&encoding.decode(x))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_maximiser_is_feasible_and_reaches_the_optimum() {
        for task in all() {
            assert!(task.domain.contains(&task.maximiser), "{}: maximiser is not feasible", task.name);
            let value = task.value(&task.maximiser);
            let tolerance = 1e-6 * (1.0 + task.optimum.abs());
            assert!((value - task.optimum).abs() <= tolerance, "{}: {value} at the maximiser", task.name);
        }
    }

    #[test]
    fn no_random_point_beats_the_optimum() {
        for task in all() {
            let mut rng = optimist::rng(7, 0);
            for _ in 0..20_000 {
                let x = task.domain.sample(&mut rng);
                let value = task.value(&x);
                assert!(value.is_finite(), "{}: {value} at {x:?}", task.name);
                assert!(value <= task.optimum + 1e-9, "{}: {value} at {x:?}", task.name);
            }
        }
    }

    /// A maximiser that is wrong in the last digits, or a local one, is found out from close by.
    #[test]
    fn no_neighbour_of_the_maximiser_beats_it() {
        use rand::RngExt;
        for task in all() {
            let mut rng = optimist::rng(8, 0);
            for trial in 0..5_000 {
                let reach = 10f64.powi(-(trial % 5) - 1);
                let mut x: Vec<f64> = task
                    .maximiser
                    .iter()
                    .map(|x| (x + reach * rng.random_range(-1.0..1.0)).clamp(0.0, 1.0))
                    .collect();
                task.domain.snap(&mut x);
                let value = task.value(&x);
                assert!(value <= task.optimum + 1e-8 * (1.0 + task.optimum.abs()), "{}: {value}", task.name);
            }
        }
    }

    #[test]
    fn names_are_unique_and_every_task_is_described() {
        let names: BTreeSet<_> = all().iter().map(|task| task.name).collect();
        assert_eq!(names.len(), all().len());
        for task in all() {
            assert!(!task.summary.is_empty() && !task.source.is_empty(), "{}", task.name);
            assert_eq!(task.maximiser.len(), task.domain.dimension(), "{}", task.name);
        }
    }

    #[test]
    fn groups_and_names_select_each_task_once_in_order() {
        let names = |selected: Vec<&Task>| selected.iter().map(|task| task.name).collect::<Vec<_>>();
        assert_eq!(names(select(&["f2", "paper", "f1"]).unwrap()), ["f1", "f2", "f3"]);
        assert_eq!(select(&["paper", "suite"]).unwrap().len(), select(&["all"]).unwrap().len());
    }

    #[test]
    fn a_misspelt_task_names_the_nearest_one() {
        let error = select(&["rosenbrok"]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "there is no task `rosenbrok`; did you mean `rosenbrock`? `optimist bench tasks` lists them all"
        );
    }
}
