//! Families of functions written in Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use optimist::Family;
use optimist::model::central_differences;
use pyo3::prelude::*;

use crate::call::lock;

/// A family as Python passes it: `value(w, x)`, and gradients and a prior if it has them.
pub struct Law {
    pub dimension: usize,
    pub n_weights: usize,
    pub value: Py<PyAny>,
    pub grad_w: Option<Py<PyAny>>,
    pub grad_x: Option<Py<PyAny>>,
    pub prior_mean: Option<Vec<f64>>,
    pub prior_std: Option<Vec<f64>>,
    /// The first exception it raised that hasn't been passed on to the caller.
    pub raised: Mutex<Option<PyErr>>,
    /// The caller has stopped waiting, so it isn't called any more.
    pub is_abandoned: AtomicBool,
}

/// A law as a family of the engine.
pub struct Written(pub Arc<Law>);

impl Law {
    /// Calls a function; the result is NaN if it raises, or if the caller has stopped waiting.
    fn call(&self, function: &Py<PyAny>, w: &[f64], x: &[f64], out: &mut [f64]) {
        if self.is_abandoned.load(Ordering::Relaxed) {
            return out.fill(f64::NAN);
        }
        let called: Option<PyResult<Vec<f64>>> =
            Python::try_attach(|py| function.call1(py, (w.to_vec(), x.to_vec()))?.extract(py));
        match called {
            Some(Ok(numbers)) if numbers.len() == out.len() => out.copy_from_slice(&numbers),
            Some(Ok(numbers)) => {
                let (got, wanted) = (numbers.len(), out.len());
                let problem = format!("the family returned {got} numbers where {wanted} were expected");
                self.fail(pyo3::exceptions::PyValueError::new_err(problem), out);
            }
            Some(Err(raised)) => self.fail(raised, out),
            None => out.fill(f64::NAN), // the interpreter is shutting down
        }
    }

    fn fail(&self, raised: PyErr, out: &mut [f64]) {
        lock(&self.raised).get_or_insert(raised);
        out.fill(f64::NAN);
    }
}

impl Family for Written {
    fn dimension(&self) -> usize {
        self.0.dimension
    }

    fn n_weights(&self) -> usize {
        self.0.n_weights
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        let mut value = [0.0];
        self.0.call(&self.0.value, w, x, &mut value);
        value[0]
    }

    fn grad_w(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        match &self.0.grad_w {
            Some(grad_w) => self.0.call(grad_w, w, x, out),
            None => central_differences(w, out, |w| self.value(w, x)),
        }
    }

    fn grad_x(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        match &self.0.grad_x {
            Some(grad_x) => self.0.call(grad_x, w, x, out),
            None => central_differences(x, out, |x| self.value(w, x)),
        }
    }

    fn prior_mean(&self, out: &mut [f64]) {
        match &self.0.prior_mean {
            Some(mean) => out.copy_from_slice(mean),
            None => out.fill(0.0),
        }
    }

    fn prior_std(&self, out: &mut [f64]) {
        match &self.0.prior_std {
            Some(std) => out.copy_from_slice(std),
            None => out.fill(1.0),
        }
    }
}
