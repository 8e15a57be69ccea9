//! Studies that lose nothing.
//!
//! A study is an append-only log of events ([`event`]). What it looks like is a pure fold over them ([`State`]), and so
//! is what its optimizer knows: each suggestion is a function of the log up to a record and of the seed, so that it can be
//! made again at any time ([`suggest`]). Storage ([`log`]) does no more than *append if the head is still where I saw it* and
//! *read from here*. Leases, which say who is alive, are no part of a study's meaning and lie beside its log.
//!
//! ```
//! use optimist_study::{Measurement, Storage, Study, StudyFile};
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
//!     study.tell(job.trial, Measurement::new((x - 0.3).powi(2)), None)?;
//! }
//! let best = study.recommend()?.expect("there are values");
//! println!("{:?}: {} expected", best.params, best.mean);
//! # assert!(study.verify(|_| ())?.mismatches.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod definition;
mod error;
pub mod event;
mod identity;
pub mod import;
mod insight;
mod interrupt;
pub mod log;
pub mod objective;
pub mod state;
mod study;
pub mod study_file;
pub mod suggest;
mod trial;
pub mod view;
pub mod worker;

pub use definition::{Definition, Direction, Plan};
pub use error::StudyError;
pub use event::{Cause, Event, FailureKind, Record, Source};
pub use insight::{LeaveOneOut, StudyInsight, TrialPrediction};
pub use interrupt::Interrupt;
pub use log::{Storage, StorageError};
pub use objective::{Measurement, Objective, process};
pub use state::State;
pub use study::{Import, Imported, Job, Kept, Study};
pub use study_file::{StudyFile, StudyFileError};
pub use trial::{Failure, Trial, TrialState};
pub use view::Best;
