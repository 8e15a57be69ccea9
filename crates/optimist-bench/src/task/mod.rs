//! What an optimizer is judged on: functions to be maximised.
//!
//! Given: nothing. Gives: [`all`] tasks, or those [`select`]ed by name or group.
//! Most are formulas whose maximum is known. Some are accuracies of classifiers: they have to be trained, which
//! a task leaves to its caller, and their maximum is not known ([`Optima`](crate::optima::Optima) estimates it).
//! A task sees encoded points only (the unit cube, as optimizers do) and is free of noise;
//! what noise an optimizer is shown on top, and which of its trials fail, are facts of the task.
//! Values are maximised: functions that the literature minimises are negated here.

mod bbob;
mod classic;
mod constrained;
mod engineering;
mod failing;
mod failures;
mod formulas;
mod half;
mod lab;
mod large;
mod long;
mod mixed;
mod noise;
mod real;
mod small;
mod structure;
mod synthetic;
mod tables;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use optimist::encode::{AxisKind, Domain, Encoding};
use optimist::space::{Assignment, Space, Value};
use optimist::{Outcome, spelling};
use rand::RngExt;

pub use self::failures::{Failures, Region};
pub use self::half::Half;
pub use self::noise::Noise;
pub use self::real::{Learner, fold};
use crate::trainer::{Train, TrainError};

/// A function to be maximised, and how it is played: `n` uniform points, then `horizon` asks.
pub struct Task {
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
    /// Points of Phase I.
    pub n: usize,
    /// Asks after Phase I (the paper's T).
    pub horizon: usize,
    /// How what an optimizer is told strays from the value.
    pub noise: Noise,
    /// Which trials fail, if any do.
    pub failures: Option<Failures>,
    /// What is maximised.
    pub objective: Objective,
}

/// What is random about a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialLuck {
    /// From [`Noise::draw`].
    pub noise: f64,
    /// From 0 to 1; the trial fails if it is small, where trials fail at random.
    pub failure: f64,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The paper's f1, f2, f3.
    Synthetic,
    /// The paper's classifiers, on its relaxed domain.
    Real,
    /// Further formulas from the literature.
    Suite,
    /// The paper's classifiers, on typed spaces.
    Typed,
    /// Classical functions of few dimensions, with and without noise.
    Small,
    /// Functions some of whose trials fail.
    Failing,
    /// Emulators of laboratory data.
    Lab,
    /// Tables of trained networks.
    Tables,
    /// Functions of 50 to 200 dimensions.
    Large,
    /// A sample of all others, with 300 trials.
    Long,
}

/// What is maximised.
pub enum Objective {
    /// A formula.
    Formula(Formula),
    /// The accuracy of a classifier.
    Accuracy(Learner),
    /// A number from 0 to 1, its optimum, that a process works out or looks up.
    Served(Served),
}

/// What a process is asked for a value.
pub struct Served {
    /// Which function.
    which: [(&'static str, &'static str); 2],
    /// Its arguments at a point of the unit cube.
    arguments: Box<real::Configure>,
}

impl Served {
    fn new(
        which: [(&'static str, &'static str); 2],
        arguments: impl Fn(&[f64]) -> Assignment + Send + Sync + 'static,
    ) -> Served {
        Served { which, arguments: Box::new(arguments) }
    }

    /// The whole request.
    fn params(&self, x: &[f64]) -> Assignment {
        let which = self.which.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        let arguments = (self.arguments)(x);
        which.chain(arguments.iter().map(|(name, value)| (name.to_owned(), value.clone()))).collect()
    }
}

/// A function that is computed, and its known maximum.
pub struct Formula {
    /// The largest value, f*.
    pub optimum: f64,
    /// A point, in the unit cube, where it is reached.
    pub maximiser: Vec<f64>,
    function: Function<[f64]>,
}

/// What is computed, as a function of points or of named values.
type Function<X> = Box<dyn Fn(&X) -> f64 + Send + Sync>;

impl Formula {
    /// The value at a point of the unit cube, without noise.
    pub fn value(&self, x: &[f64]) -> f64 {
        (self.function)(x)
    }

    /// Its standard deviation over the unit cube, from a fixed sample.
    fn std(&self) -> f64 {
        const N: usize = 4096;
        let rng = &mut optimist::rng(0, 1);
        let mut sample = || self.value(&self.maximiser.iter().map(|_| rng.random()).collect::<Vec<_>>());
        let values: Vec<f64> = (0..N).map(|_| sample()).collect();
        let mean = values.iter().sum::<f64>() / N as f64;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / N as f64).sqrt()
    }
}

impl Group {
    /// What it is called on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Group::Synthetic => "synthetic",
            Group::Real => "real",
            Group::Suite => "suite",
            Group::Typed => "typed",
            Group::Small => "small",
            Group::Failing => "failing",
            Group::Lab => "lab",
            Group::Tables => "tables",
            Group::Large => "large",
            Group::Long => "long",
        }
    }
}

impl Task {
    /// The value at a point of the unit cube in a repetition, without noise; the [worst](Task::worst) where every trial fails.
    /// Classifiers are trained by `train`.
    ///
    /// # Errors
    /// If a classifier cannot be trained.
    pub fn value(&self, x: &[f64], rep: usize, train: &Train<'_>) -> Result<f64, TrainError> {
        match &self.objective {
            Objective::Formula(_) if self.is_infeasible(x) => Ok(self.worst()),
            Objective::Formula(formula) => Ok(formula.value(x)),
            Objective::Accuracy(learner) => train(&learner.params(x, rep)),
            Objective::Served(served) => train(&served.params(x)),
        }
    }

    /// What an optimizer is told of a trial, given its value.
    pub fn outcome(&self, x: &[f64], value: f64, luck: TrialLuck) -> Outcome {
        match &self.failures {
            Some(failures) if failures.happens(x, luck.failure) => Outcome::Failed,
            _ => Outcome::Value { y: self.noise.observed(value, luck.noise), noise_std: None },
        }
    }

    /// What counts as the value of an answer that fails, or that is missing because every trial failed.
    pub fn worst(&self) -> f64 {
        self.failures.as_ref().map_or(f64::MIN, |failures| failures.floor)
    }

    fn is_infeasible(&self, x: &[f64]) -> bool {
        self.failures.as_ref().is_some_and(|failures| failures.is_infeasible(x))
    }

    /// The formula, if it is one.
    pub fn formula(&self) -> Option<&Formula> {
        match &self.objective {
            Objective::Formula(formula) => Some(formula),
            Objective::Accuracy(_) | Objective::Served(_) => None,
        }
    }

    /// The largest value, f*, where it is known.
    pub fn optimum(&self) -> Option<f64> {
        match &self.objective {
            Objective::Formula(formula) => Some(formula.optimum),
            Objective::Accuracy(_) => None,
            Objective::Served(_) => Some(1.0),
        }
    }

    /// Whether it is for choosing or for confirming a choice.
    pub fn half(&self) -> Half {
        Half::of(self.name)
    }

    /// Whether its values come from a process: classifiers that are trained, emulators, tables.
    pub fn needs_training(&self) -> bool {
        self.formula().is_none()
    }

    /// What is varied, counted by kind: `4 real, 2 grid, 1 category`, and whether there are constraints.
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
        .chain(self.domain.is_constrained().then(|| "constrained".to_owned()))
        .collect::<Vec<_>>()
        .join(", ")
    }

    fn budget(self, n: usize, horizon: usize) -> Task {
        Task { n, horizon, ..self }
    }

    fn in_group(self, group: Group) -> Task {
        Task { group, ..self }
    }
}

/// Every task: the paper's twelve in the order of its figures, the suite, the typed forms of the real ones, then those that
/// are judged by their answers.
pub fn all() -> &'static [Task] {
    static TASKS: LazyLock<Vec<Task>> = LazyLock::new(|| {
        let groups = [
            synthetic::tasks(),
            real::relaxed(),
            suite(),
            real::typed(),
            small::tasks(),
            failing::tasks(),
            lab::tasks(),
            tables::tasks(),
            large::tasks(),
            long::tasks(),
        ];
        groups.into_iter().flatten().collect()
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
        match GROUPS.iter().find(|(group, _)| *group == name.as_ref()) {
            Some((_, groups)) => wanted.extend(members(groups)),
            None => _ = wanted.insert(find(name.as_ref())?.name),
        }
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

/// Names that stand for several tasks. `all` is what regret is judged on without Python.
pub const GROUPS: [(&str, &[Group]); 12] = [
    ("all", &[Group::Synthetic, Group::Suite]),
    ("paper", &[Group::Synthetic, Group::Real]),
    ("synthetic", &[Group::Synthetic]),
    ("real", &[Group::Real]),
    ("typed", &[Group::Typed]),
    ("suite", &[Group::Suite]),
    ("small", &[Group::Small]),
    ("failing", &[Group::Failing]),
    ("lab", &[Group::Lab]),
    ("tables", &[Group::Tables]),
    ("large", &[Group::Large]),
    ("long", &[Group::Long]),
];

/// A name that is neither a task nor a group.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "there is no task `{name}`; {}`optimist-bench tasks` lists them all",
    nearest.map_or_else(String::new, |nearest| format!("did you mean `{nearest}`? "))
)]
pub struct UnknownTask {
    /// The name asked for.
    pub name: String,
    /// The task or group that may have been meant.
    pub nearest: Option<&'static str>,
}

impl UnknownTask {
    fn new(name: &str) -> UnknownTask {
        let known = GROUPS.iter().map(|(group, _)| *group).chain(all().iter().map(|task| task.name));
        UnknownTask { name: name.to_owned(), nearest: spelling::nearest(name, known) }
    }
}

fn members(groups: &[Group]) -> impl Iterator<Item = &'static str> {
    all().iter().filter(|task| groups.contains(&task.group)).map(|task| task.name)
}

/// The tasks that are not the paper's, grouped by where they come from.
fn suite() -> Vec<Task> {
    [
        structure::tasks(),
        bbob::tasks(),
        classic::tasks(),
        engineering::tasks(),
        mixed::tasks(),
        constrained::tasks(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Most tasks' Phase I and horizon: the paper's for f2 and f3.
const BUDGET: (usize, usize) = (8, 64);

/// A task over real coordinates, written on their natural scale.
struct ContinuousTask {
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

impl From<ContinuousTask> for Task {
    fn from(real: ContinuousTask) -> Task {
        let ContinuousTask { name, summary, source, bounds, noise_std, optimum, maximiser, value } = real;
        let to_unit = |(&x, &(low, high)): (&f64, &(f64, f64))| (x - low) / (high - low);
        Task {
            name,
            summary,
            source,
            group: Group::Suite,
            domain: Domain::boxed(&bounds),
            n: BUDGET.0,
            horizon: BUDGET.1,
            noise: Noise::Gaussian { std: noise_std },
            failures: None,
            objective: Objective::Formula(Formula {
                optimum,
                maximiser: maximiser.iter().zip(&bounds).map(to_unit).collect(),
                function: Box::new(move |u| {
                    let x: Vec<f64> =
                        u.iter().zip(&bounds).map(|(&u, &(low, high))| low + (high - low) * u).collect();
                    value(&x)
                }),
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
            group: Group::Suite,
            domain: encoding.domain().clone(),
            n: BUDGET.0,
            horizon: BUDGET.1,
            noise: Noise::Gaussian { std: noise_std },
            failures: None,
            objective: Objective::Formula(Formula {
                optimum,
                maximiser: encoding.encode(&maximiser).expect("a task's maximiser lies in its space"),
                function: Box::new(move |x| value(&encoding.decode(x))),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formulas() -> impl Iterator<Item = (&'static Task, &'static Formula)> {
        all().iter().filter_map(|task| Some((task, task.formula()?)))
    }

    #[test]
    fn every_maximiser_is_feasible_and_reaches_the_optimum() {
        for (task, formula) in formulas() {
            assert!(task.domain.contains(&formula.maximiser), "{}: maximiser is not feasible", task.name);
            assert!(
                !task.is_infeasible(&formula.maximiser),
                "{}: every trial fails at the maximiser",
                task.name
            );
            let value = formula.value(&formula.maximiser);
            let tolerance = 1e-6 * (1.0 + formula.optimum.abs());
            assert!((value - formula.optimum).abs() <= tolerance, "{}: {value} at the maximiser", task.name);
        }
    }

    #[test]
    fn the_halves_of_each_group_are_about_halves() {
        for (name, _) in GROUPS {
            let tasks = select(&[name]).unwrap();
            let to_choose = tasks.iter().filter(|task| task.half() == Half::Choose).count();
            // A hash is fair on average only: few tasks may be shared out less evenly.
            let fair = if tasks.len() < 12 { 1 } else { tasks.len() / 3 };
            assert!(
                (fair..=tasks.len() - fair).contains(&to_choose),
                "{name}: {to_choose} of {}",
                tasks.len()
            );
        }
        assert_eq!(["branin", "hartmann3"].map(Half::of), [Half::Choose, Half::Confirm], "they never change");
    }

    #[test]
    fn no_random_point_beats_the_optimum() {
        for (task, formula) in formulas() {
            let mut rng = optimist::rng(7, 0);
            for _ in 0..20_000 {
                let x = task.domain.sample(&mut rng);
                let value = formula.value(&x);
                assert!(value.is_finite(), "{}: {value} at {x:?}", task.name);
                assert!(value <= formula.optimum + 1e-9, "{}: {value} at {x:?}", task.name);
            }
        }
    }

    /// A maximiser that is wrong in the last digits, or a local one, is found out from close by.
    #[test]
    fn no_neighbour_of_the_maximiser_beats_it() {
        use rand::RngExt;
        for (task, formula) in formulas() {
            let mut rng = optimist::rng(8, 0);
            let tolerance = 1e-8 * (1.0 + formula.optimum.abs());
            for trial in 0..5_000 {
                let reach = 10f64.powi(-(trial % 5) - 1);
                let mut x: Vec<f64> = formula
                    .maximiser
                    .iter()
                    .map(|x| (x + reach * rng.random_range(-1.0..1.0)).clamp(0.0, 1.0))
                    .collect();
                task.domain.snap(&mut x);
                let value = formula.value(&x);
                assert!(value <= formula.optimum + tolerance, "{}: {value}", task.name);
            }
        }
    }

    #[test]
    fn names_are_unique_and_every_task_is_described() {
        let names: BTreeSet<_> = all().iter().map(|task| task.name).collect();
        assert_eq!(names.len(), all().len());
        for task in all() {
            assert!(!task.summary.is_empty() && !task.source.is_empty(), "{}", task.name);
        }
        for (task, formula) in formulas() {
            assert_eq!(formula.maximiser.len(), task.domain.dimension(), "{}", task.name);
        }
    }

    fn names(selected: &[&str]) -> Vec<&'static str> {
        select(selected).unwrap().iter().map(|task| task.name).collect()
    }

    #[test]
    fn groups_and_names_select_each_task_once_in_order() {
        assert_eq!(names(&["f2", "synthetic", "f1"]), ["f1", "f2", "f3"]);
        assert_eq!(names(&["synthetic", "suite"]), names(&["all"]));
        let groups: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names(&groups).len(), all().len());
        for task in all() {
            assert!(names(&[task.group.name()]).contains(&task.name), "{}", task.name);
        }
    }

    #[test]
    fn the_papers_tasks_are_in_the_order_of_its_figures() {
        let paper = [
            ["f1", "f2", "f3"],
            ["rf-breast", "mlp-breast", "gb-breast"],
            ["rf-australian", "mlp-australian", "gb-australian"],
            ["rf-diabetes", "mlp-diabetes", "gb-diabetes"],
        ];
        assert_eq!(names(&["paper"]), paper.as_flattened());
        let dimensions =
            ["rf-breast", "mlp-australian", "gb-diabetes"].map(|name| find(name).unwrap().domain.dimension());
        assert_eq!(dimensions, [7, 8, 11]);
    }

    #[test]
    fn a_misspelt_task_names_the_nearest_one() {
        let error = |name: &str| select(&[name]).err().unwrap().to_string();
        assert_eq!(
            error("rosenbrok"),
            "there is no task `rosenbrok`; did you mean `rosenbrock`? `optimist-bench tasks` lists them all"
        );
        assert_eq!(error("zzz"), "there is no task `zzz`; `optimist-bench tasks` lists them all");
    }
}
