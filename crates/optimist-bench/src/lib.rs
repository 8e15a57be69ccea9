//! How good is an optimizer? Tasks, regret runs over them, and reports.
//!
//! ```no_run
//! use optimist_bench::{optimizers, report::Report, results, run::{self, Experiment, Grid}, task, trainer};
//!
//! let grid = Grid { tasks: task::select(&["synthetic"])?, optimizers: vec!["random".into()], reps: 5 };
//! let experiment = Experiment { grids: vec![grid], horizon: None, seed: 0, jobs: 2 };
//! let failures = run::run(&experiment, "results.jsonl".as_ref(), &optimizers::build, &trainer::nobody, &|_| {})?;
//! assert!(failures.is_empty());
//! println!("{}", Report::new(&results::read("results.jsonl".as_ref())?)?.to_text());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answer;
pub mod cache;
pub mod contestant;
pub mod engines;
pub mod environment;
mod figure;
pub mod forecast;
pub mod optima;
pub mod optimizers;
pub mod paper;
pub mod peer;
pub mod process;
pub mod random_search;
pub mod readings;
pub mod report;
pub mod results;
pub mod run;
pub mod several;
pub mod speed;
pub mod table;
pub mod task;
pub mod trainer;
