//! Pictures of a study.

use optimist_plot::study::Plots as Drawn;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::run_here;
use crate::convert::to_python;
use crate::error;

/// Pictures of a study, ready to be shown or written.
#[pyclass(frozen, module = "optimist._native")]
pub struct Plots {
    pub drawn: Drawn,
    /// The numbers behind them.
    pub data: serde_json::Value,
}

#[pymethods]
impl Plots {
    /// All of them on one sheet.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        run_here(py, || self.drawn.svg())
    }

    /// The same, as a PNG file.
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let png = run_here(py, || self.drawn.png())?.map_err(|error| error::invalid(py, error))?;
        Ok(PyBytes::new(py, &png))
    }

    /// A page that needs nothing else.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        run_here(py, || self.drawn.html())
    }

    /// The numbers behind them, by kind.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data)
    }
}
