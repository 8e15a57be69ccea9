//! How good is an optimizer? Tasks with known optima, regret runs over them, and reports.
//!
//! ```no_run
//! use optimist_bench::{optimizers, report::Report, results, run::{self, Plan}, task};
//!
//! let plan = Plan {
//!     tasks: task::select(&["paper"])?,
//!     optimizers: vec!["random".into()],
//!     reps: 5,
//!     seed: 0,
//!     jobs: 2,
//! };
//! let failures = run::run(&plan, "results.jsonl".as_ref(), &optimizers::build, &|_| {})?;
//! assert!(failures.is_empty());
//! println!("{}", Report::new(&results::read("results.jsonl".as_ref())?)?.to_text());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod estimate;
mod figure;
pub mod optimizers;
pub mod peer;
pub mod process;
pub mod report;
pub mod results;
pub mod run;
pub mod table;
pub mod task;
