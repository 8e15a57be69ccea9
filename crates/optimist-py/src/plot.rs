//! Pictures of a study.

use std::path::PathBuf;

use optimist_plot::study::Plots as Drawn;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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
    fn svg(&self, py: Python<'_>) -> String {
        py.detach(|| self.drawn.svg())
    }

    /// The same, as a PNG file.
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let png = py.detach(|| self.drawn.png()).map_err(|error| error::plot(py, &error))?;
        Ok(PyBytes::new(py, &png))
    }

    /// A page that needs nothing else.
    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| self.drawn.html())
    }

    /// Writes a file whose name ends in `.svg`, `.png` or `.html`.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.drawn.write(&path)).map_err(|error| error::plot(py, &error))
    }

    /// The numbers behind them, by kind.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data)
    }
}
