//! Pictures of studies, and charts that compare lines.
//!
//! Given: the state of a study ([`study`]), or points ([`lines`]). Gives: SVG; of studies also PNG, a page in HTML, text for a
//! terminal, and the numbers behind them. Does not know: where studies are kept, what a command line says; prints nothing.
//!
//! A picture of a study is a canvas of marks (`canvas`), most of them in a chart with axes (`chart`); `render` makes files of
//! it. `render` and `lines` are the files that call the plotting crate, and no other crate does. Without the feature `study`,
//! which is on unless it is switched off, there is only [`lines`].

#[cfg(feature = "study")]
mod canvas;
#[cfg(feature = "study")]
mod chart;
#[cfg(feature = "study")]
mod error;
pub mod lines;
#[cfg(feature = "study")]
mod render;
#[cfg(feature = "study")]
pub mod study;

#[cfg(feature = "study")]
pub use error::PlotError;
