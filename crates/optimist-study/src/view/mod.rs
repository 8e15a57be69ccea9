//! A study as users see it: in their own direction and units, ready to be written as JSON.
//!
//! Given: a study, or its state. Gives: what `optimist show`, `best`, `trials` and `list` print with `--json`; whoever else
//! shows studies to people or programs writes the same. Does not know: tables, terminals, pictures.
//!
//! Keys and their order are a contract: a key may be added, none changes its meaning.

mod best;
mod front;
pub mod number;
mod study;
mod summary;
mod trial;

pub use best::Best;
pub use front::{ByOutcome, Front, FrontPoint, OutcomeView};
pub use study::{FoundView, StudyView, UnderwayView, reason};
pub use summary::{ListedStudy, StudySummary};
pub use trial::{NoiseView, TrialView, ValuesView};
