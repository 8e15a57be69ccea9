//! What can happen to a study: the records of its log.
//!
//! A record is one line of JSON, `{"v": 1, "seq": 12, "at": 1763280000123, "event": {"told": {…}}}`. Numbers are kept bit for
//! bit. A change that gives old records another meaning, or that older programs would misread, raises [`VERSION`];
//! a further field that may be missing does not. A record has the lowest version that knows its event, so that older
//! programs read a study until it has something that they don't know, and then say so. Records of every version so far can
//! be read forever.
//!
//! | version | new |
//! |---|---|
//! | 1 | everything else |
//! | 2 | [`Event::Amended`], [`Event::Widened`] |
//! | 3 | studies of several outcomes: `outcomes` of a definition, `values` of a measurement, `known` of a failed trial |
//! | 4 | [`Event::Steered`], [`Event::Noted`] |
//! | 5 | suggestions that were made in a batch: `since` of [`Source::Suggested`] |

use optimist::Why;
use optimist::space::{Assignment, Space};
use serde::{Deserialize, Serialize};

use crate::definition::{Definition, Plan};
use crate::error::StudyError;
use crate::evaluation::{Measurement, Values};
use crate::limits::RECORD_BYTES;

/// The latest version of records that this program reads and writes.
pub const VERSION: u32 = 5;

/// One entry of a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the format.
    pub v: u32,
    /// Counted from 1, without gaps.
    pub seq: u64,
    /// When it was written: milliseconds since 1970, by the clock of who wrote it.
    pub at: u64,
    /// Who wanted it, where that is known: the user or token of a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What happened to the study.
    pub event: Event,
}

/// Something that happened to a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The study began; always the first record, and only that.
    Created {
        /// The version of Optimist.
        optimist: String,
        /// Which suggestions it makes (`optimist::ENGINE_VERSION`); 0 before these were counted.
        #[serde(default, skip_serializing_if = "is_zero")]
        engine: u32,
        /// What it is about.
        definition: Box<Definition>,
    },
    /// The plan is another one from now on.
    Changed {
        /// The new plan, whole.
        plan: Box<Plan>,
    },
    /// Somebody wants this point to be tried next.
    Enqueued {
        /// A point of the space.
        params: Assignment,
    },
    /// A new trial, handed to a worker.
    Asked {
        /// Its number: trials are counted from 0.
        trial: usize,
        /// What it is run with.
        params: Assignment,
        /// Who wanted this point.
        source: Source,
        /// Who runs it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
        /// How the optimizer found it, if it did; older records do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Why>,
    },
    /// A trial that was put back, handed to a worker again.
    Retried {
        /// Number of the trial, from 0.
        trial: usize,
        /// Who runs it now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
    },
    /// A trial was measured.
    Told {
        /// Number of the trial, from 0.
        trial: usize,
        /// In the user's direction.
        measured: Measurement,
        /// How long that took.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
    /// A trial gave no value, and will not be tried again.
    Failed {
        /// Number of the trial, from 0.
        trial: usize,
        /// In which way.
        kind: FailureKind,
        /// Why, for people to read.
        reason: String,
        /// The end of what it wrote to standard error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
        /// What was measured before it failed, of several outcomes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known: Option<Box<Measurement>>,
        /// How long that took.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
    /// A trial was put back, to be run again with the same parameters.
    Requeued {
        /// Number of the trial, from 0.
        trial: usize,
        /// Whether the trial is run again by request or because its worker was lost.
        cause: Cause,
        /// Why, for people to read.
        reason: String,
    },
    /// Nobody will measure this trial.
    Cancelled {
        /// Number of the trial, from 0.
        trial: usize,
    },
    /// A trial that was made elsewhere and is known with its outcome.
    Added {
        /// Its number here.
        trial: usize,
        /// What it was run with.
        params: Assignment,
        /// What was measured; `None` if it failed, unless some of several outcomes are known all the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        measured: Option<Measurement>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// What the log says of a trial is wrong: from now on it was run with other parameters, or something else came of it.
    Amended {
        /// Number of the trial, from 0.
        trial: usize,
        /// What it was really run with; as the log has it if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        params: Option<Assignment>,
        /// What really came of it; as the log has it if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<Amendment>,
        /// Why it is amended, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Parameters have wider bounds or more choices from now on; every point tried so far is still one of the space.
    Widened {
        /// The new space, whole.
        space: Box<Space>,
    },
    /// Somebody wants runs of the study to pause, to stop or to resume.
    Steered {
        /// What holds from now on.
        course: Course,
    },
    /// Somebody wrote about the study or a trial; this stands in place of what was written there before.
    Noted {
        /// The trial; `None` if it is about the whole study.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trial: Option<usize>,
        /// Markdown; empty to delete the note.
        text: String,
    },
}

/// What runs of a study are to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Course {
    /// Measure trials as planned.
    #[default]
    Going,
    /// Begin no trial until the study is resumed; those that run are measured to their end.
    Paused,
    /// End, once the trials that run have ended.
    Stopped,
}

/// What came of a trial instead of what the log says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amendment {
    /// This was measured, and nothing else.
    Measured(Measurement),
    /// There is no value at this point.
    Failed {
        /// Why, for people to read.
        reason: String,
        /// What was measured all the same, of several outcomes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known: Option<Box<Measurement>>,
    },
    /// Nobody measured the trial, and nobody will.
    Cancelled,
    /// The trial is put back.
    Waiting,
}

/// Why a point is tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The optimizer thought of it.
    Suggested {
        /// It knew the log up to this record.
        seen: u64,
        /// The gain that it expected, where somebody wanted to know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gain: Option<f64>,
        /// By which engine, if not by that which the study was created with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        engine: Option<u32>,
        /// In a batch: the first trial of the batch. The suggestion also knew that the trials from there up to its own were going
        /// to be tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<usize>,
    },
    /// Somebody asked for it.
    Enqueued,
    /// A promising point is measured again.
    Replicate {
        /// The first trial at this point.
        of: usize,
    },
    /// It was tried elsewhere.
    Imported,
}

/// In which way a trial failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FailureKind {
    /// The objective reported an error: there is no value at this point.
    Infeasible,
    /// The command ended badly.
    Crashed,
    /// It took too long.
    TimedOut,
    /// What it answered is no finite number.
    Unreadable,
    /// The objective wanted to be tried again, once too often.
    Retried,
    /// Whoever ran it was not heard of again, once too often.
    Lost,
}

/// Why a trial was put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Whoever ran it was not heard of again.
    Lost,
    /// The objective wants to be tried again.
    Retry,
    /// The run was stopped, or could not start it; that does not count as an attempt.
    Stopped,
}

impl Event {
    /// The first version that knows it.
    fn version(&self) -> u32 {
        match self {
            Self::Asked { source: Source::Suggested { since: Some(_), .. }, .. } => 5,
            _ if self.has_several_outcomes() => 3,
            Self::Amended { .. } | Self::Widened { .. } => 2,
            Self::Steered { .. } | Self::Noted { .. } => 4,
            _ => 1,
        }
    }

    fn has_several_outcomes(&self) -> bool {
        match self {
            Self::Created { definition, .. } => !definition.outcomes.is_one(),
            Self::Told { measured, .. }
            | Self::Added { measured: Some(measured), .. }
            | Self::Amended { outcome: Some(Amendment::Measured(measured)), .. } => {
                matches!(measured.values, Values::Named(_))
            }
            Self::Failed { known, .. }
            | Self::Amended { outcome: Some(Amendment::Failed { known, .. }), .. } => known.is_some(),
            _ => false,
        }
    }
}

impl Record {
    /// A record of `event` for place `seq`, written now.
    pub fn new(seq: u64, event: Event) -> Self {
        let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let at = since_1970.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        Self { v: event.version(), seq, at, by: None, event }
    }

    /// As the log keeps it, once it was read again and is the same.
    ///
    /// # Errors
    /// If it is too large, or could not be read again.
    pub fn to_json(&self) -> Result<String, StudyError> {
        let unstorable = |problem: String| StudyError::Unstorable { problem };
        let body = serde_json::to_string(self).map_err(|error| unstorable(error.to_string()))?;
        if body.len() > RECORD_BYTES {
            return Err(unstorable(format!("it has {} bytes, the limit is {RECORD_BYTES}", body.len())));
        }
        match Self::from_json(&body) {
            Ok(read) if read == *self => Ok(body),
            Ok(_) => Err(unstorable("it would not read back unchanged".to_owned())),
            Err(error) => Err(unstorable(error.to_string())),
        }
    }

    /// Reads what [`Record::to_json`] wrote.
    ///
    /// # Errors
    /// If it is of a later version, or no record at all.
    pub fn from_json(body: &str) -> Result<Self, StudyError> {
        let read = serde_json::from_str(body);
        match read {
            Ok(Record { v: 1..=VERSION, .. }) => {}
            _ => check_version(body)?,
        }
        read.map_err(|error| StudyError::Unreadable { problem: error.to_string() })
    }
}

fn is_zero(engine: &u32) -> bool {
    *engine == 0
}

/// Whether a record is of a version that can be read.
fn check_version(body: &str) -> Result<(), StudyError> {
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    match serde_json::from_str(body) {
        Ok(Version { v: 1..=VERSION }) | Err(_) => Ok(()),
        Ok(Version { v }) => Err(StudyError::Newer { version: v, known: VERSION }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written_to_the_last_bit() {
        let value = f64::from_bits(0x3fd3_3333_3333_3334);
        let measured = Measurement::new(value).with_noise(5e-324);
        let record = Record::new(3, Event::Told { trial: 1, measured, seconds: Some(0.1 + 0.2) });
        assert_eq!(Record::from_json(&record.to_json().unwrap()).unwrap(), record);
        let params = Assignment::from_iter([("x", value), ("y", f64::MAX), ("z", -0.0)]);
        let asked =
            Event::Asked { trial: 0, params, source: Source::Replicate { of: 0 }, worker: None, why: None };
        let record = Record::new(2, asked);
        let read = Record::from_json(&record.to_json().unwrap()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{record:?}"));
    }

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let deep = (0..125).fold(serde_json::Value::Null, |inner, _| serde_json::json!([inner]));
        let metrics = serde_json::Map::from_iter([("a".to_owned(), deep)]);
        let measured = Measurement { metrics: Some(Box::new(metrics)), ..Measurement::new(1.0) };
        let params = Assignment::from_iter([("x", f64::NAN)]);
        let long = Event::Requeued { trial: 0, cause: Cause::Lost, reason: "x".repeat(RECORD_BYTES) };
        for event in [
            Event::Told { trial: 0, measured, seconds: None },
            Event::Told { trial: 0, measured: Measurement::new(1.0), seconds: Some(f64::NAN) },
            Event::Enqueued { params },
            long,
        ] {
            let written = Record::new(2, event).to_json();
            assert!(matches!(written, Err(StudyError::Unstorable { .. })), "{written:?}");
        }
    }

    #[test]
    fn a_record_of_a_later_version_says_so() {
        for body in [
            r#"{"v":6,"seq":1,"at":0,"event":{"teleported":{}}}"#,
            r#"{"v":6,"seq":1,"at":0,"event":{"cancelled":{"trial":1}}}"#,
        ] {
            let error = Record::from_json(body).unwrap_err();
            assert!(matches!(error, StudyError::Newer { version: 6, .. }), "{error}");
            assert!(error.to_string().contains("update optimist"), "{error}");
        }
    }

    #[test]
    fn what_is_no_record_is_an_error_that_says_why() {
        for body in ["", "{}", "null", r#"{"v":1,"seq":1,"at":0,"event":{"teleported":{}}}"#, "\u{0}"] {
            assert!(matches!(Record::from_json(body), Err(StudyError::Unreadable { .. })), "{body}");
        }
    }
}
