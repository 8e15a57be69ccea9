//! What can go wrong with a study.

use optimist::{MethodError, SpaceError};

use crate::log::StorageError;

/// Why something could not be done with a study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// Storage cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// There is no study of that name.
    #[error("study `{name}` is not in {storage}; {}", known(others))]
    NotFound {
        /// What was looked for.
        name: String,
        /// Where studies are stored, without passwords.
        storage: String,
        /// The studies that are there.
        others: Vec<String>,
    },
    /// There is one already.
    #[error(
        "study `{name}` is already in {storage}; give the new one another name, or `optimist delete {name}` first"
    )]
    Exists {
        /// The name of both.
        name: String,
        /// Where studies are stored, without passwords.
        storage: String,
    },
    /// A name for what a server keeps beside studies.
    #[error(
        "a study cannot be called `{name}`: names that begin with `optimist:` are reserved; choose another"
    )]
    ReservedName {
        /// What was wanted.
        name: String,
    },
    /// Somebody deleted the study while it was being used.
    #[error("study `{name}` was deleted by someone else; nothing more can be stored in it")]
    Deleted {
        /// What it was called.
        name: String,
    },
    /// The study file describes another study than the stored one.
    #[error(
        "study `{name}` was created with {what} {was}; the study file says {says}. Change `name` in the file for a new study, or \
         `optimist delete {name}` to start over"
    )]
    Different {
        /// Both have this name.
        name: String,
        /// The key of the study file: `direction`, `optimizer` or `seed`.
        what: &'static str,
        /// In the study.
        was: String,
        /// In the file.
        says: String,
    },
    /// There is no such trial.
    #[error("study `{study}` has no trial {trial}; {}", trials_there_are(*n_trials))]
    NoTrial {
        /// The study's name.
        study: String,
        /// The number that was given.
        trial: usize,
        /// How many there are.
        n_trials: usize,
    },
    /// The trial is over.
    #[error(
        "trial {trial} is already {state}; only running or waiting trials can be {wanted}, `optimist amend` corrects others"
    )]
    HasEnded {
        /// The number that was given.
        trial: usize,
        /// How it stands.
        state: &'static str,
        /// What was to be done with it.
        wanted: &'static str,
    },
    /// The trial is not over.
    #[error(
        "trial {trial} is {state}: there is nothing to amend yet; `optimist tell` or `optimist fail` says what came of it"
    )]
    NotEnded {
        /// The number that was given.
        trial: usize,
        /// How it stands.
        state: &'static str,
    },
    /// Only failed and cancelled trials can be tried again.
    #[error(
        "trial {trial} is {state}; only failed and cancelled trials can be put back, `optimist enqueue` tries a point again"
    )]
    NotFailed {
        /// The number that was given.
        trial: usize,
        /// How it stands.
        state: &'static str,
    },
    /// A trial has one point.
    #[error(
        "trial {trial} has a value measured at another point; correct that with `optimist amend`, or make a new trial with \
         `optimist enqueue` and `ask`"
    )]
    OtherPoint {
        /// The number that was given.
        trial: usize,
    },
    /// The space of a study with trials can only become wider.
    #[error(
        "the parameters of study `{name}` differ from those in the study file; only wider bounds and further choices are \
         possible: {problem}; change `name` in the file for a new study, or `optimist delete {name}` to start over"
    )]
    NotWider {
        /// Both have this name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A value that no optimizer can learn from.
    #[error(
        "the value of trial {trial} must be a finite number, got {value}; report the trial as failed instead"
    )]
    NotFinite {
        /// The number of the trial.
        trial: usize,
        /// What was given.
        value: f64,
    },
    /// The noise of a value is not a standard deviation.
    #[error("the noise of trial {trial} must be 0 or more and finite, got {noise_std}")]
    BadNoise {
        /// The number of the trial.
        trial: usize,
        /// What was given.
        noise_std: f64,
    },
    /// An outcome is missing, misspelt or cannot be used.
    #[error("trial {trial}: {problem}")]
    BadOutcome {
        /// The number of the trial.
        trial: usize,
        /// What is wrong, naming the outcome.
        problem: String,
    },
    /// A definition that no study file could have.
    #[error("study `{name}` is not valid: {problem}")]
    Unsuitable {
        /// The name of the study.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What comes with a value is too much.
    #[error("trial {trial}: {problem}")]
    TooLarge {
        /// The number of the trial.
        trial: usize,
        /// What is too large, and what to do.
        problem: String,
    },
    /// A note that is too long.
    #[error("the note has {bytes} bytes, the limit is {most}; shorten it, or link to a file")]
    LongNote {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// What would be stored could not be read again.
    #[error("this cannot be stored, because it could not be read back: {problem}")]
    Unstorable {
        /// What is wrong with it.
        problem: String,
    },
    /// A point that is not in the space.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The settings of the optimizer do not fit the study.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A model that cannot be fitted to so much.
    #[error(
        "{optimizer} can learn from {most} values at most, not {n_values}: its memory grows with their square; continue with go-ucb, \
         tpe or random in a new study, into which `optimist import` can bring these trials"
    )]
    TooManyValues {
        /// Name of the optimizer.
        optimizer: String,
        /// How many there are.
        n_values: usize,
        /// How many it can learn from.
        most: usize,
    },
    /// More workers than a process can have.
    #[error(
        "cannot start {workers} workers: {reason}; use fewer, and `optimist worker` here or on other machines for more"
    )]
    TooManyWorkers {
        /// How many were wanted.
        workers: usize,
        /// What stands against it.
        reason: String,
    },
    /// A value was measured and cannot be stored.
    #[error(
        "trial {trial} measured {measured}, which could not be stored: {problem}; report it later with `optimist tell`"
    )]
    Unstored {
        /// The number of the trial.
        trial: usize,
        /// What was measured, as `tell` takes it.
        measured: String,
        /// Why it could not be stored.
        problem: Box<StudyError>,
    },
    /// Written by a later version of Optimist.
    #[error(
        "the study was written by a newer version of optimist (format {version}, this one knows {known}); update optimist"
    )]
    Newer {
        /// The version of its records.
        version: u32,
        /// The last one known here.
        known: u32,
    },
    /// Nothing can be made of what is left of a study.
    #[error(
        "nothing of study `{name}` can be recovered: its first record, which describes the study, is damaged"
    )]
    Lost {
        /// What it was called.
        name: String,
    },
    /// A copy is not what was copied.
    #[error("the copy of study `{name}` differs from the original; check the disk, and try again")]
    BadCopy {
        /// What it is called.
        name: String,
    },
    /// A record makes no sense by itself.
    #[error("a record of the study cannot be read: {problem}")]
    Unreadable {
        /// What the parser said.
        problem: String,
    },
    /// A record does not follow from those before it.
    #[error(
        "record {seq} of the study is broken: {problem}; the records before it are intact: restore a copy of the storage, or recover \
         them with `optimist salvage`"
    )]
    Broken {
        /// Number of the record, from 1.
        seq: u64,
        /// What is wrong with it.
        problem: String,
    },
}

impl StudyError {
    /// Whether the study is there and is not what was written.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Broken { .. } | Self::Unreadable { .. } | Self::Storage(StorageError::Damaged { .. })
        )
    }

    pub(crate) fn broken(seq: u64, problem: impl Into<String>) -> Self {
        Self::Broken { seq, problem: problem.into() }
    }
}

fn known(others: &[String]) -> String {
    match others {
        [] => "there are no studies yet; `optimist run FILE` starts one".to_owned(),
        [only] => format!("the only study is `{only}`"),
        several => format!("`optimist list` lists all {}", several.len()),
    }
}

fn trials_there_are(n_trials: usize) -> String {
    match n_trials {
        0 => "it has no trials yet".to_owned(),
        1 => "it only has trial 0".to_owned(),
        n => format!("it has trials 0 to {}", n - 1),
    }
}
