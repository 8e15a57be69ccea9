//! How a study stands, in one object.

use optimist::Why;
use optimist::space::{Assignment, Space};
use serde::Serialize;

use super::number::significant;
use super::{Best, Front, TrialView};
use crate::definition::{Direction, OptimizerChoice, Plan};
use crate::event::Course;
use crate::log::Lease;
use crate::outcomes::NamedOutcome;
use crate::state::{Over, State, Widening};
use crate::study::Study;
use crate::trial::{Trial, TrialState};

/// A study: what it is about, how far it is, and what is under way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyView<'s> {
    /// Name of the study.
    pub study: &'s str,
    /// Where it is kept.
    pub storage: String,
    /// When it began: milliseconds since 1970.
    pub created_at: u64,
    /// Which way is better; `None` if the outcomes have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// What is measured and what is wanted of it, if the outcomes have names.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub outcomes: &'s [NamedOutcome],
    /// Same seed, same suggestions.
    pub seed: u64,
    /// What suggests trials: the table of the study file.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub optimizer: &'s OptimizerChoice,
    /// What may be varied.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub space: &'s Space,
    /// How it is run.
    pub plan: &'s Plan,
    /// How many trials there are, imported and cancelled ones included.
    pub trials: usize,
    /// How many of those that the plan pays for have ended.
    pub done: usize,
    /// How many have a value.
    pub complete: usize,
    /// How many have none and will have none.
    pub failed: usize,
    /// How many nobody will measure.
    pub cancelled: usize,
    /// Why there will be no further trial, in words; `None` if there will.
    pub over: Option<String>,
    /// Whether it is paused or stopped; left out if neither.
    #[serde(skip_serializing_if = "is_going")]
    pub course: Course,
    /// The note on the study, in Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'s str>,
    /// The point to bet on; `None` before the first value, and if there are several goals.
    pub best: Option<Best>,
    /// What there is to choose from, if there are several goals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front: Option<Front>,
    /// How many trials keep all constraints, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<usize>,
    /// Trials that are running.
    pub running: Vec<UnderwayView<'s>>,
    /// Trials that were put back and wait for a worker.
    pub waiting: Vec<UnderwayView<'s>>,
    /// Enqueued points, the oldest first.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>"))]
    pub queue: Vec<&'s Assignment>,
    /// How suggestions were found, each way with how many; in the order in which they first occurred.
    pub suggestions: Vec<FoundView>,
    /// How the space became wider, the first change first.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub widened: &'s [Widening],
}

/// One way in which suggestions were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundView {
    /// In words, such as `exploration` or `optimism under anova`.
    pub how: String,
    /// How many trials.
    pub trials: usize,
    /// Whether `how` names a rule. It says what was done otherwise, such as `drawn at random`.
    #[serde(skip)]
    pub is_rule: bool,
}

/// A trial that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnderwayView<'s> {
    /// The trial itself: its keys come first.
    #[serde(flatten)]
    pub trial: TrialView<'s>,
    /// `held` by its worker, `ran out`, or `none` if the trial needs no lease.
    pub lease: &'static str,
    /// When it was first asked for: milliseconds since 1970.
    pub asked_at: u64,
}

impl<'s> StudyView<'s> {
    /// The same with what [`Study::front`] gave.
    #[must_use]
    pub fn with_front(self, front: Option<Front>) -> Self {
        Self { front, ..self }
    }

    /// The current status of a study, with what [`Study::recommend`] and [`Study::leases`] returned.
    pub fn new(study: &'s Study, best: Option<Best>, leases: &[Lease]) -> Self {
        Self::of(study.state(), study.storage().to_string(), best, leases)
    }

    /// The same from the state alone; `storage` is where the study is stored.
    pub fn of(state: &'s State, storage: String, best: Option<Best>, leases: &[Lease]) -> Self {
        let definition = state.definition();
        let underway = |trial| UnderwayView::new(trial, leases);
        Self {
            study: &definition.name,
            storage,
            created_at: state.created_at(),
            direction: definition.outcomes.one_direction(),
            outcomes: if definition.outcomes.is_one() { &[] } else { definition.outcomes.all() },
            seed: definition.seed,
            optimizer: &definition.optimizer,
            space: &definition.space,
            plan: state.plan(),
            trials: state.trials().len(),
            done: state.n_done(),
            complete: state.count(TrialState::Complete),
            failed: state.count(TrialState::Failed),
            cancelled: state.count(TrialState::Cancelled),
            over: state.over().map(reason),
            course: state.course(),
            note: state.note(None).map(|note| note.text.as_str()),
            best,
            front: None,
            feasible: definition.outcomes.has_constraints().then(|| n_feasible(state)),
            running: state.running().map(underway).collect(),
            waiting: state.waiting().map(underway).collect(),
            queue: state.queue().collect(),
            suggestions: suggestions(state.trials()),
            widened: state.widenings(),
        }
    }
}

/// How many trials keep all constraints.
fn n_feasible(state: &State) -> usize {
    let complete = state.trials().iter().filter(|trial| trial.state == TrialState::Complete);
    complete.filter(|trial| state.is_feasible(trial) == Some(true)).count()
}

impl<'s> UnderwayView<'s> {
    fn new(trial: &'s Trial, leases: &[Lease]) -> Self {
        let lease = match leases.iter().find(|lease| lease.trial == trial.number) {
            Some(lease) if lease.has_expired => "ran out",
            Some(_) => "held",
            None => "none",
        };
        Self { trial: TrialView::new(trial), lease, asked_at: trial.asked_at }
    }
}

fn is_going(course: &Course) -> bool {
    *course == Course::Going
}

/// `6 by exploration`, `2 drawn at random: every point that was found has been tried`.
impl std::fmt::Display for FoundView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{} {}", self.trials, if self.is_rule { " by" } else { "" }, self.how)
    }
}

fn suggestions(trials: &[Trial]) -> Vec<FoundView> {
    let mut found: Vec<FoundView> = Vec::new();
    for why in trials.iter().filter_map(|trial| trial.why.as_ref()) {
        let how = match why {
            Why::Optimism { family, .. } => format!("optimism under {family}"),
            why => why.to_string(),
        };
        match found.iter_mut().find(|known| known.how == how) {
            Some(known) => known.trials += 1,
            None => {
                let is_rule = matches!(why, Why::Explore | Why::Optimism { .. } | Why::Model { .. });
                found.push(FoundView { how, trials: 1, is_rule });
            }
        }
    }
    found
}

/// Why there will be no further trial, in words.
pub fn reason(over: Over) -> String {
    match over {
        Over::Trials => "all planned trials done".to_owned(),
        Over::Target { trial } => format!("trial {trial} reached the target"),
        Over::Stopped => "stopped by a user".to_owned(),
        Over::Gain { gain } => format!("expected gain below {}", significant(gain, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Source;

    #[test]
    fn ways_in_which_suggestions_were_found_are_counted_and_read_as_sentences() {
        let tried = |because: &str| Why::Random { because: because.to_owned() };
        let optimism = |radius| Why::Optimism { family: "anova".to_owned(), radius };
        let reasons =
            [Why::Explore, optimism(0.5), Why::Repeat, optimism(2.0), tried("all were tried"), Why::Explore];
        let trial = |(number, why)| Trial {
            why: Some(why),
            ..Trial::asked(number, Assignment::default(), Source::Enqueued, None, 0)
        };
        let trials: Vec<Trial> = reasons.into_iter().enumerate().map(trial).collect();
        let found: Vec<String> = suggestions(&trials).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "2 by exploration",
                "2 by optimism under anova",
                "1 repeated, to measure the noise",
                "1 drawn at random: all were tried",
            ]
        );
    }
}
