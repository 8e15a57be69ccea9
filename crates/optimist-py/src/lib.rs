//! Optimist for Python: the extension module `optimist._native`.
//!
//! Given: calls of the package `optimist` (`python/optimist/`), with plain dictionaries, lists and numbers. Gives: what
//! `optimist-study`, `optimist` and `optimist-plot` have, as the same. Does not know: how users write spaces and objectives, which
//! is better said in Python.

mod call;
mod convert;
mod error;
mod family;
mod optimizer;
mod plot;
mod shared;
mod study;

use pyo3::prelude::*;

/// What the package `optimist` is built on. Not for users: it changes without notice.
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

    /// The command `optimist`: does what a command line asks for, and gives the exit status.
    #[pyfunction]
    fn command(py: Python<'_>, command_line: Vec<OsString>) -> u8 {
        drop(std::panic::take_hook()); // the command prints what went wrong
        let status = py.detach(|| optimist_cli::execute(&command_line));
        (0..u8::MAX).find(|&number| ExitCode::from(number) == status).unwrap_or(u8::MAX)
    }
    /// Panics: for the test of what users see when we do.
    #[pyfunction]
    fn panic(py: Python<'_>, message: String) -> PyResult<()> {
        crate::call::run(py, move || crate::call::in_pool(|| panic!("{message}")), drop)
    }
}
