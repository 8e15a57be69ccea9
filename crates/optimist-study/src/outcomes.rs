//! What is measured in a trial, and what is wanted of it: the outcomes of a study.
//!
//! Most studies have one outcome, which has no name: `direction = "minimize"`. Others have up to [`MOST`] named ones, each a goal or
//! a constraint on what is measured. Given: what a study file or a record says. Gives: which names there are, which way each is
//! better, whether measurements are complete and feasible. Does not know: trials, optimizers.

use serde::{Deserialize, Serialize};

use crate::definition::{Direction, Plan};
use crate::evaluation::{Measured, Measurement, Values};
use optimist::goals::{Goal, Goals};
use optimist::spelling::nearest;

/// The most outcomes that a study can have.
pub const MOST: usize = 8;

/// What the one outcome of a study is called where it needs a name, as in columns of tables.
pub const VALUE: &str = "value";

/// The outcomes of a study, in the order of declaration: one or more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Outcomes(Vec<NamedOutcome>);

/// An outcome, and what is wanted of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "WrittenOutcome", into = "WrittenOutcome")]
pub struct NamedOutcome {
    /// As answers and columns of tables call it.
    pub name: String,
    /// What is wanted.
    pub aim: Aim,
}

/// What is wanted of an outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// As good as possible.
    Goal {
        /// Which way is better.
        direction: Direction,
        /// Worse than this is worth nothing; only if there are several goals.
        reference: Option<f64>,
    },
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// What a study looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// The best point, which must be feasible if there are constraints.
    Best,
    /// A front of points, none of which is better than another in every goal.
    Front,
    /// Any feasible point.
    Feasible,
}

/// Measurements that cannot be used as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Unusable {
    /// What is wrong, naming the outcome.
    pub reason: String,
    /// The outcomes that can be used all the same.
    pub known: Option<Measurement>,
}

impl Aim {
    /// Which way is better: constraints are kept by small or by large values.
    pub fn direction(self) -> Direction {
        match self {
            Self::Goal { direction, .. } => direction,
            Self::AtMost(_) => Direction::Minimize,
            Self::AtLeast(_) => Direction::Maximize,
        }
    }

    /// The bound of a constraint.
    pub fn bound(self) -> Option<f64> {
        match self {
            Self::Goal { .. } => None,
            Self::AtMost(bound) | Self::AtLeast(bound) => Some(bound),
        }
    }

    /// What of a goal is worth nothing, if the study says.
    pub fn reference(self) -> Option<f64> {
        match self {
            Self::Goal { reference, .. } => reference,
            Self::AtMost(_) | Self::AtLeast(_) => None,
        }
    }

    /// Whether `value` is allowed; any value of a goal is.
    pub fn allows(self, value: f64) -> bool {
        self.bound().is_none_or(|bound| !self.direction().is_better(bound, value))
    }

    /// As the optimizer has it, for which larger is always better.
    fn goal(self) -> Goal {
        let flip = |value| self.direction().flip(value);
        match self {
            Self::Goal { reference, .. } => Goal::Maximize { reference: reference.map(flip) },
            Self::AtMost(bound) | Self::AtLeast(bound) => Goal::AtLeast { bound: flip(bound) },
        }
    }
}

/// As users read it: `maximize`, `at most 8`.
impl std::fmt::Display for Aim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Goal { direction, reference: None } => f.write_str(direction.word()),
            Self::Goal { direction, reference: Some(reference) } => {
                write!(f, "{}, reference {reference}", direction.word())
            }
            Self::AtMost(bound) => write!(f, "at most {bound}"),
            Self::AtLeast(bound) => write!(f, "at least {bound}"),
        }
    }
}

impl NamedOutcome {
    /// An outcome of that name.
    pub fn new(name: impl Into<String>, aim: Aim) -> Self {
        Self { name: name.into(), aim }
    }

    /// Whether it is a goal, and not a constraint.
    pub fn is_goal(&self) -> bool {
        matches!(self.aim, Aim::Goal { .. })
    }
}

impl Outcomes {
    /// The one outcome of a study that says no more than its direction.
    pub fn one(direction: Direction) -> Self {
        Self(vec![NamedOutcome::new(VALUE, Aim::Goal { direction, reference: None })])
    }

    /// Outcomes with names.
    ///
    /// # Errors
    /// If there are none or too many, a name cannot be one, or a number is not finite.
    pub fn new(outcomes: Vec<NamedOutcome>) -> Result<Self, String> {
        if outcomes.is_empty() {
            return Err("a study needs at least one outcome".to_owned());
        }
        if outcomes.len() > MOST {
            return Err(format!("a study can have at most {MOST} outcomes, got {}", outcomes.len()));
        }
        let n_goals = outcomes.iter().filter(|outcome| outcome.is_goal()).count();
        for (i, outcome) in outcomes.iter().enumerate() {
            if let Some(problem) = outcome.problem(n_goals) {
                return Err(problem);
            }
            if outcomes[..i].iter().any(|other| other.name == outcome.name) {
                return Err(format!("there are two outcomes `{}`", outcome.name));
            }
        }
        Ok(Self(outcomes))
    }

    /// All of them, in the order of declaration.
    pub fn all(&self) -> &[NamedOutcome] {
        &self.0
    }

    /// The names of all outcomes, in the order of declaration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|outcome| outcome.name.as_str())
    }

    /// Whether there is one, without a name: a study as most are.
    pub fn is_one(&self) -> bool {
        self.one_direction().is_some()
    }

    /// Which way the one without a name is better.
    pub fn one_direction(&self) -> Option<Direction> {
        match &self.0[..] {
            [NamedOutcome { name, aim: Aim::Goal { direction, reference: None } }] if name == VALUE => {
                Some(*direction)
            }
            _ => None,
        }
    }

    /// What is wanted, as users read it: `maximize`, or each outcome with its name.
    pub fn in_words(&self) -> String {
        match self.one_direction() {
            Some(direction) => direction.word().to_owned(),
            None => {
                let words = self.0.iter().map(|outcome| format!("{} ({})", outcome.name, outcome.aim));
                words.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// The outcomes to maximise or minimise.
    pub fn goals(&self) -> impl Iterator<Item = &NamedOutcome> {
        self.0.iter().filter(|outcome| outcome.is_goal())
    }

    /// The goal, if there is exactly one.
    pub fn goal(&self) -> Option<&NamedOutcome> {
        let mut goals = self.goals();
        goals.next().filter(|_| goals.next().is_none())
    }

    /// The outcomes with a bound that makes a trial feasible.
    pub fn constraints(&self) -> impl Iterator<Item = &NamedOutcome> {
        self.0.iter().filter(|outcome| !outcome.is_goal())
    }

    /// Whether there are constraints.
    pub fn has_constraints(&self) -> bool {
        self.constraints().next().is_some()
    }

    /// What the study looks for.
    pub fn search(&self) -> Search {
        match self.goals().count() {
            0 => Search::Feasible,
            1 => Search::Best,
            _ => Search::Front,
        }
    }

    /// As the optimizer has them.
    pub(crate) fn for_optimizer(&self) -> Goals {
        let goals = self.0.iter().map(|outcome| outcome.aim.goal()).collect();
        Goals::new(goals).expect("there are 1 to 8, and their numbers are finite")
    }

    /// Whether values keep all constraints; `None` if that cannot be said, since some are not known.
    pub fn is_feasible(&self, value: impl Fn(&str) -> Option<f64>) -> Option<bool> {
        let kept = || self.constraints().map(|outcome| Some(outcome.aim.allows(value(&outcome.name)?)));
        if kept().any(|kept| kept == Some(false)) {
            return Some(false);
        }
        kept().all(|kept| kept.is_some()).then_some(true)
    }

    /// By what the best trial is chosen, given its values: that of the one goal, or 0 if there is none. `None` of one that cannot be
    /// the best: something is not known, it is not feasible, or there are several goals.
    pub fn merit(&self, value: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        if self.is_feasible(&value) != Some(true) {
            return None;
        }
        match self.search() {
            Search::Best => value(&self.goal()?.name),
            Search::Feasible => Some(0.0),
            Search::Front => None,
        }
    }

    /// Whether one merit is better than another.
    pub fn is_better(&self, merit: f64, other: f64) -> bool {
        self.goal().is_some_and(|goal| goal.aim.direction().is_better(merit, other))
    }

    /// What is traded off where there are several goals, larger is better: the values of the goals. `None` if something is not
    /// known, or not feasible, or there is at most one goal.
    pub fn traded(&self, value: impl Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        if self.search() != Search::Front || self.is_feasible(&value) != Some(true) {
            return None;
        }
        self.goals().map(|goal| Some(goal.aim.direction().flip(value(&goal.name)?))).collect()
    }

    /// The measurement in the order of declaration, if it has all outcomes and no others, all of them usable.
    ///
    /// # Errors
    /// What is wrong, and what of it can be used.
    pub fn check(&self, measured: Measurement) -> Result<Measurement, Unusable> {
        match self.problem(&measured).or_else(|| measured.excess()) {
            None => Ok(self.in_order(measured)),
            Some(reason) => Err(Unusable { reason, known: self.known(measured) }),
        }
    }

    /// What was measured of a trial that failed, in the order of declaration: of some outcomes, all of them usable.
    ///
    /// # Errors
    /// What is wrong, naming the outcome.
    pub fn check_partly(&self, measured: Measurement) -> Result<Measurement, String> {
        let problem = |(name, one): (&str, Measured)| match self.position(name) {
            Some(_) => one.problem(name),
            None => Some(self.unknown(name)),
        };
        let problem = measured.values.iter().find_map(problem).or_else(|| measured.excess());
        problem.map_or_else(|| Ok(self.in_order(measured)), Err)
    }

    /// What of a measurement can be used, in the order of declaration; `None` if nothing can. Of a study's only outcome there is no
    /// part that could be known.
    pub fn known(&self, mut measured: Measurement) -> Option<Measurement> {
        if self.is_one() || measured.excess().is_some() {
            return None;
        }
        let is_usable =
            |name: &str, one: Measured| self.position(name).is_some() && one.problem(name).is_none();
        let known = measured.values.iter().filter(|(name, one)| is_usable(name, *one));
        let known: Vec<(String, Measured)> = known.map(|(name, one)| (name.to_owned(), one)).collect();
        if known.is_empty() {
            return None;
        }
        measured.values = Values::named(known);
        Some(self.in_order(measured))
    }

    /// Whether every outcome was measured.
    pub(crate) fn is_whole(&self, measured: &Measurement) -> bool {
        self.names().all(|name| measured.values.get(name).is_some())
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|outcome| outcome.name == name)
    }

    fn in_order(&self, mut measured: Measurement) -> Measurement {
        if let Values::Named(values) = &mut measured.values {
            values.sort_by_key(|(name, _)| self.position(name));
        }
        measured
    }

    /// What is wrong with a measurement but for its size, naming the outcome.
    pub(crate) fn problem(&self, measured: &Measurement) -> Option<String> {
        let unknown = measured.values.iter().find(|(name, _)| self.position(name).is_none());
        if let Some((name, _)) = unknown {
            return Some(self.unknown(name));
        }
        if let Some(name) = self.names().find(|name| measured.values.get(name).is_none()) {
            let names = self.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Some(format!("outcome `{name}` is missing; the outcomes are {names}"));
        }
        measured.values.iter().find_map(|(name, one)| one.problem(name))
    }

    /// That `name` is not an outcome, and which one may be meant.
    pub fn unknown(&self, name: &str) -> String {
        if self.is_one() {
            return format!("there is no outcome `{name}`: the study has a single value");
        }
        if name == VALUE {
            let first = &self.0[0].name;
            return format!("the study has named outcomes: give `{first}` and so on, not a single value");
        }
        match nearest(name, self.names()) {
            Some(meant) => format!("there is no outcome `{name}`; did you mean `{meant}`?"),
            None => {
                let names = self.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                format!("there is no outcome `{name}`; the outcomes are {names}")
            }
        }
    }

    /// Settings of a plan that mean nothing with these outcomes: each with its key, and why.
    pub fn misfits(&self, plan: &Plan) -> Vec<(&'static str, String)> {
        let (search, mut misfits) = (self.search(), Vec::new());
        let mut misfit = |is_set: bool, key, front: &str, feasible: &str| match search {
            Search::Front if is_set => misfits.push((key, format!("`{key}` needs a single goal: {front}"))),
            Search::Feasible if is_set => misfits.push((key, format!("`{key}` needs a goal: {feasible}"))),
            _ => {}
        };
        misfit(
            plan.target.is_some(),
            "target",
            "no single value is good enough; use `at_least` or `at_most`",
            "a point is good enough if it is feasible",
        );
        misfit(
            plan.min_gain.is_some(),
            "min_gain",
            "a gain in several goals at once is not a single number; use `trials` or `max_time`",
            "without one there is nothing to gain; use `trials` or `max_time`",
        );
        misfit(
            plan.replicates > 1,
            "replicates",
            "there is no single best point to measure again; enqueue points of the front, or give `noise_std`",
            "there is no best point to measure again; enqueue a point, or give `noise_std`",
        );
        misfits
    }
}

impl NamedOutcome {
    /// What is wrong with it, in a study of so many goals.
    pub(crate) fn problem(&self, n_goals: usize) -> Option<String> {
        let Self { name, aim } = self;
        if name.is_empty() || name.contains('=') || name.chars().any(char::is_control) {
            return Some(format!(
                "outcome `{}` needs another name: one without `=` and control characters",
                name.escape_debug()
            ));
        }
        let number = match *aim {
            Aim::Goal { reference, .. } => reference.map(|number| ("reference", number)),
            Aim::AtMost(number) => Some(("at_most", number)),
            Aim::AtLeast(number) => Some(("at_least", number)),
        };
        match number {
            Some((key, number)) if !number.is_finite() => {
                Some(format!("`{key}` of outcome `{name}` must be a finite number, got {number}"))
            }
            Some(("reference", _)) if n_goals == 1 => Some(format!(
                "`reference` of outcome `{name}` has no effect with a single goal; drop it, or use `at_least` or `at_most`"
            )),
            _ => None,
        }
    }
}

/// As records and study files have them.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    direction: Option<Direction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcomes: Option<Vec<NamedOutcome>>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct WrittenOutcome {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<Direction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
}

impl From<Outcomes> for Written {
    fn from(outcomes: Outcomes) -> Self {
        match outcomes.one_direction() {
            Some(direction) => Self { direction: Some(direction), outcomes: None },
            None => Self { direction: None, outcomes: Some(outcomes.0) },
        }
    }
}

impl TryFrom<Written> for Outcomes {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match (written.direction, written.outcomes) {
            (Some(direction), None) => Ok(Self::one(direction)),
            (None, Some(outcomes)) => Self::new(outcomes),
            (None, None) => Err("missing field `direction`, or `outcomes`".to_owned()),
            (Some(_), Some(_)) => Err("give either `direction` or `outcomes`, not both".to_owned()),
        }
    }
}

impl From<NamedOutcome> for WrittenOutcome {
    fn from(NamedOutcome { name, aim }: NamedOutcome) -> Self {
        let bare = Self { name, goal: None, reference: None, at_most: None, at_least: None };
        match aim {
            Aim::Goal { direction, reference } => Self { goal: Some(direction), reference, ..bare },
            Aim::AtMost(bound) => Self { at_most: Some(bound), ..bare },
            Aim::AtLeast(bound) => Self { at_least: Some(bound), ..bare },
        }
    }
}

impl TryFrom<WrittenOutcome> for NamedOutcome {
    type Error = String;

    fn try_from(written: WrittenOutcome) -> Result<Self, String> {
        let WrittenOutcome { name, goal, reference, at_most, at_least } = written;
        let aim = match (goal, reference, at_most, at_least) {
            (Some(direction), reference, None, None) => Aim::Goal { direction, reference },
            (None, None, Some(bound), None) => Aim::AtMost(bound),
            (None, None, None, Some(bound)) => Aim::AtLeast(bound),
            _ => return Err(format!("outcome `{name}` needs either `goal`, `at_most` or `at_least`")),
        };
        Ok(Self { name, aim })
    }
}
