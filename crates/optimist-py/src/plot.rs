//! Plots of a study.

use std::sync::Arc;

use optimist_plot::study::Plots as Drawn;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::run;
use crate::convert::to_python;
use crate::error;

/// Plots of a study, ready to be rendered.
#[pyclass(frozen, module = "optimist._native")]
pub struct Plots {
    pub drawn: Arc<Drawn>,
    /// The numbers behind the plots, by kind.
    pub data: serde_json::Value,
}

#[pymethods]
impl Plots {
    /// All plots on one sheet, as SVG.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        let drawn = Arc::clone(&self.drawn);
        run(py, move || drawn.svg(), drop)
    }

    /// All plots on one sheet, as the content of a PNG file.
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let drawn = Arc::clone(&self.drawn);
        let png = run(py, move || drawn.png(), drop)?.map_err(|error| error::invalid(py, error))?;
        Ok(PyBytes::new(py, &png))
    }

    /// A self-contained HTML page.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let drawn = Arc::clone(&self.drawn);
        run(py, move || drawn.html(), drop)
    }

    /// The numbers behind the plots, by kind.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data)
    }
}
