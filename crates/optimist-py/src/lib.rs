//! Optimist for Python: the extension module `optimist._native`.
//!
//! Given: calls of the package `optimist` (`python/optimist/`), with plain dictionaries, lists and numbers. Gives: the functions of
//! `optimist-study`, `optimist` and `optimist-plot`, with results of the same types. Does not know: how users write spaces and
//! objectives, which is Python's part.

mod call;
mod convert;
mod error;
mod family;
mod optimizer;
mod plot;
mod shared;
mod study;

use pyo3::prelude::*;

/// The extension module behind the package `optimist`. It isn't for users, and changes without notice.
#[pymodule]
mod _native {
    use std::ffi::OsString;
    use std::process::ExitCode;

    use pyo3::prelude::*;

    #[pymodule_export]
    use super::optimizer::Optimizer;
    #[pymodule_export]
    use super::plot::Plots;
    #[pymodule_export]
    use super::study::{Study, studies};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::call::quieten_panics();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("ENGINE_VERSION", optimist::ENGINE_VERSION)?;
        module.add("METHODS", optimist::Method::NAMES.to_vec())
    }

    /// Runs the command `optimist` with these words, and returns the exit status.
    #[pyfunction]
    fn command(py: Python<'_>, command_line: Vec<OsString>) -> u8 {
        drop(std::panic::take_hook()); // the command prints what went wrong
        let status = py.detach(|| optimist_cli::execute(&command_line));
        (0..u8::MAX).find(|&number| ExitCode::from(number) == status).unwrap_or(u8::MAX)
    }
    /// Panics, to test what users see then.
    #[pyfunction]
    fn panic(py: Python<'_>, message: String) -> PyResult<()> {
        crate::call::run(py, move || crate::call::in_pool(|| panic!("{message}")), drop)
    }
}
