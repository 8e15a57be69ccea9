//! Studies that lose nothing.
//!
//! A study is an append-only log of events ([`event`]). What it looks like is a pure fold over them ([`State`]), and so
//! is what its optimizer knows: each suggestion is a function of the log up to a record and of the seed, so that it can be
//! made again at any time ([`suggest`]). Storage ([`log`]) does no more than *append if the head is still where I saw it* and
//! *read from here*. Leases, which say who is alive, are no part of a study's meaning and lie beside its log.
//!
//! Ask for a trial, measure it, tell what came of it; or let workers do so ([`worker::work`]), with the user's command or with
//! a function:
//!
//! ```
//! use optimist_study::{Storage, Study, StudyFile};
//!
//! let file = StudyFile::parse(
//!     r#"
//!     name = "parabola"
//!     direction = "minimize"
//!     parameters.x = { type = "float", low = -1.0, high = 1.0 }
//!     "#,
//! )?;
//! let storage = Storage::memory(); // or "optimist.db".parse()?, or "postgres://…".parse()?
//! let mut study = Study::create(&storage, file.definition)?;
//! for _ in 0..10 {
//!     let job = study.ask(None)?;
//!     let x = job.params.get("x").and_then(|x| x.as_f64()).expect("a float");
//!     study.tell(job.trial, (x - 0.3).powi(2), None)?;
//! }
//! let best = study.recommend()?.expect("there are values");
//! println!("{:?}: {} expected", best.params, best.mean);
//! # assert!(study.verify(|_| ())?.mismatches.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Features that are on by default: `sqlite` (storage in a file, imports of Optuna's databases), `postgres` (storage in a
//! database server), `http` (an Optimist server as storage) and `command` (trials measured by the user's command; on Unix
//! only). Off by default: `schema` (JSON schemas of what [`view`] has). Without features the crate builds wherever the standard library does, and keeps studies in memory or in a
//! [`log::Backend`] of your own.

#[cfg(all(feature = "command", not(unix)))]
compile_error!(
    "the feature `command` of optimist-study needs a Unix system; set `default-features = false` and name the others"
);

#[cfg(feature = "command")]
mod command;
pub mod definition;
mod error;
mod evaluation;
pub mod event;
mod front;
mod identity;
pub mod import;
mod insight;
mod interrupt;
pub mod limits;
pub mod log;
pub mod objective;
pub mod outcomes;
pub mod state;
mod study;
pub mod study_file;
pub mod suggest;
mod trial;
pub mod view;
pub mod worker;

#[cfg(feature = "command")]
pub use command::{CommandEvaluator, process};
pub use definition::{Definition, Direction, Plan};
pub use error::StudyError;
pub use evaluation::{Evaluation, Evaluator, Measured, Measurement, StartError, Values};
pub use event::{Amendment, Cause, Course, Event, FailureKind, Record, Source};
pub use front::{Covered, ObservedFront};
pub use insight::{LeaveOneOut, StudyInsight, TrialPrediction};
pub use interrupt::Interrupt;
pub use log::{Storage, StorageError};
pub use objective::Objective;
pub use outcomes::{Aim, NamedOutcome, Outcomes, Search};
pub use state::{Note, State, Widening};
pub use study::{AskTell, Import, Imported, Job, Kept, Salvaged, Study, backup};
pub use study_file::{StudyFile, StudyFileError};
pub use trial::{Amended, Failure, Trial, TrialState};
pub use view::{Best, Front, FrontPoint};
