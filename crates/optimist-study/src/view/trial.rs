//! A trial: what there is to say about it, and nothing else.

use optimist::Why;
use optimist::space::Assignment;
use serde::Serialize;
use serde_json::{Map, Value};

use super::front::{ByOutcome, measured};
use crate::evaluation::{Measurement, Values};
use crate::event::{FailureKind, Source};
use crate::outcomes::Outcomes;
use crate::trial::{Amended, Trial};

/// A trial, as `trials`, `tell`, `fail` and `run` print it. What is not known, or goes without saying, is left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialView<'t> {
    /// Its number: counted from 0, in the order of asking.
    pub trial: usize,
    /// The active parameters.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub params: &'t Assignment,
    /// `running`, `waiting`, `complete`, `failed` or `cancelled`.
    pub state: &'static str,
    /// Who wanted this point: `suggested`, `enqueued`, `replicate` or `imported`.
    pub source: &'static str,
    /// How the optimizer found the point, if it suggested it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Map<String, serde_json::Value>>"))]
    pub why: Option<&'t Why>,
    /// The first trial at this point, if this is a replicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
    /// What was measured, in the user's direction: of several measurements the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Every measurement, if there are several. Of several outcomes what was measured of each, also of a trial that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<ValuesView>,
    /// Whether all constraints are kept, if there are any and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<bool>,
    /// Standard deviation of the noise of the first measurement, as it was told; of several outcomes of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_std: Option<NoiseView>,
    /// Every measurement of several outcomes, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measurements: Option<&'t [Measurement]>,
    /// A remark that was told with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'t str>,
    /// Further results that were told with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<&'t Map<String, Value>>,
    /// In which way it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
    /// Why it failed, or was last put back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'t str>,
    /// The end of what it wrote to standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<&'t str>,
    /// How often it was started, if more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<usize>,
    /// How long the last attempt took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Who runs it, or ran it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<&'t str>,
    /// What the log said before it was amended, the first first.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub amended: &'t [Amended],
}

/// Values of a trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ValuesView {
    /// Measurements of the one outcome.
    One(Vec<f64>),
    /// One for each of several outcomes; the mean if there are several measurements.
    ByOutcome(ByOutcome<f64>),
}

/// The noise of a trial's first measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum NoiseView {
    /// In a study with a single outcome.
    One(f64),
    /// One for each of several outcomes.
    ByOutcome(ByOutcome<f64>),
}

impl<'t> TrialView<'t> {
    /// With what the study's outcomes say of it: whether it is feasible, and its values in their order.
    #[must_use]
    pub fn judged(mut self, trial: &Trial, outcomes: &Outcomes) -> Self {
        if !outcomes.is_one() {
            let values = Some(measured(outcomes, trial)).filter(|values| !values.is_empty());
            let told = trial.measurements.first().or_else(|| trial.known());
            let noise = ByOutcome::of(outcomes.all(), |one| told?.values.get(&one.name)?.noise_std);
            (self.value, self.values) = (None, values.map(ValuesView::ByOutcome));
            self.noise_std = Some(noise).filter(|noise| !noise.is_empty()).map(NoiseView::ByOutcome);
            let feasible = outcomes.is_feasible(|name| trial.value_of(name));
            self.feasible = feasible.filter(|_| outcomes.has_constraints());
        }
        self
    }

    /// A trial with a value says nothing of failures before it.
    pub fn new(trial: &'t Trial) -> Self {
        let measured = trial.measurements.first();
        let failure = trial.failure.as_ref().filter(|_| measured.is_none());
        let told = measured.or_else(|| trial.known());
        let is_one = told.is_none_or(|told| matches!(told.values, Values::One(_)));
        let n = trial.measurements.len();
        Self {
            trial: trial.number,
            params: &trial.params,
            state: trial.state.word(),
            source: trial.source.word(),
            why: trial.why.as_ref(),
            of: match trial.source {
                Source::Replicate { of } => Some(of),
                Source::Suggested { .. } | Source::Enqueued | Source::Imported => None,
            },
            value: trial.value(),
            values: match told {
                Some(Measurement { values: Values::Named(named), .. }) => {
                    let mean = |name: &String| Some((name.clone(), trial.value_of(name)?));
                    let means = named.iter().filter_map(|(name, _)| mean(name)).collect();
                    Some(ValuesView::ByOutcome(ByOutcome(means)))
                }
                _ => (n > 1).then(|| ValuesView::One(values(trial))),
            },
            feasible: None,
            noise_std: told.and_then(|told| noise(&told.values)),
            measurements: Some(&trial.measurements[..]).filter(|_| n > 1 && !is_one),
            note: told.and_then(|told| told.note.as_deref()),
            metrics: told.and_then(|told| told.metrics.as_deref()),
            failure: failure.and_then(|failure| failure.kind),
            reason: failure.map(|failure| failure.reason.as_str()),
            stderr: failure.and_then(|failure| failure.stderr.as_deref()),
            attempts: Some(trial.attempts).filter(|&attempts| attempts > 1),
            seconds: trial.seconds,
            worker: trial.worker.as_deref(),
            amended: &trial.amendments,
        }
    }
}

/// Every measurement of the one outcome.
fn values(trial: &Trial) -> Vec<f64> {
    let one = |measured: &Measurement| match measured.values {
        Values::One(one) => Some(one.value),
        Values::Named(_) => None,
    };
    trial.measurements.iter().filter_map(one).collect()
}

fn noise(values: &Values) -> Option<NoiseView> {
    match values {
        Values::One(one) => one.noise_std.map(NoiseView::One),
        Values::Named(named) => {
            let noise = named.iter().filter_map(|(name, one)| Some((name.clone(), one.noise_std?)));
            let noise = ByOutcome(noise.collect());
            (!noise.is_empty()).then_some(NoiseView::ByOutcome(noise))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Failure, TrialState};

    fn enqueued() -> Trial {
        Trial {
            number: 4,
            params: Assignment::from_iter([("x", 0.5)]),
            source: Source::Enqueued,
            why: None,
            state: TrialState::Running,
            attempts: 1,
            measurements: Vec::new(),
            failure: None,
            seconds: None,
            worker: None,
            asked_at: 17,
            ended_at: None,
            amendments: Vec::new(),
        }
    }

    fn written(trial: &Trial) -> String {
        serde_json::to_string(&TrialView::new(trial)).unwrap()
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let expected = r#"{"trial":4,"params":{"x":0.5},"state":"running","source":"enqueued"}"#;
        assert_eq!(written(&enqueued()), expected);
    }

    #[test]
    fn a_suggestion_says_how_it_was_found() {
        let why = Some(Why::Optimism { family: "anova".to_owned(), radius: 0.5 });
        let trial = Trial {
            why,
            source: Source::Suggested { seen: 1, gain: None, engine: None, since: None },
            ..enqueued()
        };
        let expected = concat!(
            r#"{"trial":4,"params":{"x":0.5},"state":"running","source":"suggested","#,
            r#""why":{"phase":"optimism","family":"anova","radius":0.5}}"#
        );
        assert_eq!(written(&trial), expected);
    }

    #[test]
    fn a_measured_trial_has_its_mean_every_value_and_what_was_told_with_the_first() {
        let metrics = Map::from_iter([("loss".to_owned(), Value::from(0.25))]);
        let first = Measurement {
            note: Some("second oven".to_owned()),
            metrics: Some(Box::new(metrics)),
            ..Measurement::new(1.0).with_noise(0.5)
        };
        let trial = Trial {
            source: Source::Replicate { of: 2 },
            state: TrialState::Complete,
            attempts: 2,
            measurements: vec![first, Measurement::new(2.0)],
            failure: Some(Failure { kind: None, reason: "power cut".to_owned(), stderr: None, known: None }),
            seconds: Some(1.5),
            worker: Some("anna".to_owned()),
            ..enqueued()
        };
        let expected = concat!(
            r#"{"trial":4,"params":{"x":0.5},"state":"complete","source":"replicate","of":2,"value":1.5,"#,
            r#""values":[1.0,2.0],"noise_std":0.5,"note":"second oven","metrics":{"loss":0.25},"attempts":2,"#,
            r#""seconds":1.5,"worker":"anna"}"#
        );
        assert_eq!(written(&trial), expected);
    }

    #[test]
    fn an_amended_trial_says_what_it_was_before() {
        let before = Amended {
            at: 18,
            reason: Some("typo".to_owned()),
            state: TrialState::Complete,
            failure: None,
            values: vec![715.0],
            measurements: Vec::new(),
            params: None,
        };
        let trial = Trial {
            state: TrialState::Complete,
            measurements: vec![Measurement::new(71.5)],
            amendments: vec![before],
            ..enqueued()
        };
        let expected = concat!(
            r#"{"trial":4,"params":{"x":0.5},"state":"complete","source":"enqueued","value":71.5,"#,
            r#""amended":[{"at":18,"reason":"typo","state":"complete","values":[715.0]}]}"#
        );
        assert_eq!(written(&trial), expected);
    }

    #[test]
    fn a_failed_trial_says_how_and_why() {
        let failure = Failure {
            kind: Some(FailureKind::TimedOut),
            reason: "took longer than 3 s".to_owned(),
            stderr: Some("Traceback".to_owned()),
            known: None,
        };
        let trial = Trial { state: TrialState::Failed, failure: Some(failure), ..enqueued() };
        let expected = concat!(
            r#"{"trial":4,"params":{"x":0.5},"state":"failed","source":"enqueued","failure":"timed_out","#,
            r#""reason":"took longer than 3 s","stderr":"Traceback"}"#
        );
        assert_eq!(written(&trial), expected);
    }
}
