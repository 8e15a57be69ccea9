//! Pictures: of studies, and of lines that are to be compared.
//!
//! Given: the state of a study ([`study`]). Gives: SVG, PNG, a page in HTML, text for a terminal, and the numbers behind
//! them. Does not know: where studies are kept, what a command line says; prints nothing.
//!
//! A picture is a canvas of marks (`canvas`), most of them in a chart with axes (`chart`); `render` makes files of it, and is
//! the one file that calls the plotting crate.
//!
//! ```
//! use optimist_plot::study::{PlotKind, Plots};
//! use optimist_study::{Measurement, Storage, Study, StudyFile};
//!
//! let file = StudyFile::parse(
//!     r#"
//!     name = "parabola"
//!     direction = "minimize"
//!     parameters.x = { type = "float", low = -1.0, high = 1.0 }
//!     "#,
//! )?;
//! let mut study = Study::create(&Storage::memory(), file.definition)?;
//! for _ in 0..5 {
//!     let job = study.ask(None)?;
//!     let x = job.params.get("x").and_then(|x| x.as_f64()).expect("a float");
//!     study.tell(job.trial, Measurement::new((x - 0.3).powi(2)), None)?;
//! }
//! let plots = Plots::new(study.state(), &[PlotKind::History, PlotKind::Slices])?;
//! assert!(plots.svg().starts_with("<svg") && plots.html().starts_with("<!doctype html>"));
//! println!("{}", plots.data()); // the numbers behind them
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod canvas;
mod chart;
mod error;
mod render;
pub mod study;

pub use error::PlotError;
