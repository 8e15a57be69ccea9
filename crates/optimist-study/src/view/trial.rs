//! A trial: what there is to say about it, and nothing else.

use optimist::Why;
use optimist::space::Assignment;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::event::{FailureKind, Source};
use crate::trial::{Amended, Trial};

/// A trial, as `trials`, `tell`, `fail` and `run` print it. What is not known, or goes without saying, is left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrialView<'t> {
    /// Its number: counted from 0, in the order of asking.
    pub trial: usize,
    /// The active parameters.
    pub params: &'t Assignment,
    /// `running`, `waiting`, `complete`, `failed` or `cancelled`.
    pub state: &'static str,
    /// Who wanted this point: `suggested`, `enqueued`, `replicate` or `imported`.
    pub source: &'static str,
    /// Of a suggestion: how the optimizer found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'t Why>,
    /// Of a replicate: the first trial at this point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
    /// What was measured, in the user's direction: of several measurements the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Every measurement, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<f64>>,
    /// Standard deviation of the noise of the first measurement, as it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_std: Option<f64>,
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

impl<'t> TrialView<'t> {
    /// A trial with a value says nothing of failures before it.
    pub fn new(trial: &'t Trial) -> Self {
        let measured = trial.measurements.first();
        let failure = trial.failure.as_ref().filter(|_| measured.is_none());
        let values = || trial.measurements.iter().map(|measured| measured.value).collect();
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
            values: (trial.measurements.len() > 1).then(values),
            noise_std: measured.and_then(|measured| measured.noise_std),
            note: measured.and_then(|measured| measured.note.as_deref()),
            metrics: measured.and_then(|measured| measured.metrics.as_deref()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Measurement;
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
        let trial =
            Trial { why, source: Source::Suggested { seen: 1, gain: None, engine: None }, ..enqueued() };
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
            value: 1.0,
            noise_std: Some(0.5),
            note: Some("second oven".to_owned()),
            metrics: Some(Box::new(metrics)),
        };
        let trial = Trial {
            source: Source::Replicate { of: 2 },
            state: TrialState::Complete,
            attempts: 2,
            measurements: vec![first, Measurement::new(2.0)],
            failure: Some(Failure { kind: None, reason: "power cut".to_owned(), stderr: None }),
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
            values: vec![715.0],
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
        };
        let trial = Trial { state: TrialState::Failed, failure: Some(failure), ..enqueued() };
        let expected = concat!(
            r#"{"trial":4,"params":{"x":0.5},"state":"failed","source":"enqueued","failure":"timed_out","#,
            r#""reason":"took longer than 3 s","stderr":"Traceback"}"#
        );
        assert_eq!(written(&trial), expected);
    }
}
