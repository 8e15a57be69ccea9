//! Plain Python values as JSON and back, bit for bit.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::error;

/// Converts anything that serializes to JSON into plain Python values.
pub fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_value(value).map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    json_to_python(py, &json)
}

/// Reads a type from plain Python values.
pub fn from_python<T: DeserializeOwned>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    let json = json_from_python(value)?;
    serde_json::from_value(json).map_err(|problem| error::invalid(value.py(), problem))
}

fn json_to_python<'py>(py: Python<'py>, json: &Value) -> PyResult<Bound<'py, PyAny>> {
    match json {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(truth) => truth.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.into_bound_py_any(py),
            (None, Some(integer)) => integer.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let items = items.iter().map(|item| json_to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (key, item) in entries {
                dict.set_item(key, json_to_python(py, item)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

/// Converts plain Python values to JSON. NaN and infinities are an error, since JSON doesn't have them.
pub fn json_from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        Ok(Value::Null)
    } else if let Ok(truth) = value.cast::<PyBool>() {
        Ok(Value::Bool(truth.is_true()))
    } else if value.cast::<PyInt>().is_ok() {
        match (value.extract::<i64>(), value.extract::<u64>()) {
            (Ok(integer), _) => Ok(Value::from(integer)),
            (_, Ok(integer)) => Ok(Value::from(integer)),
            _ => Ok(Value::from(value.extract::<f64>()?)),
        }
    } else if value.cast::<PyFloat>().is_ok() {
        let number = value.extract::<f64>()?;
        let finite = Number::from_f64(number).map(Value::Number);
        finite.ok_or_else(|| PyValueError::new_err(format!("{number} is not finite; give a finite number")))
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Value::String(text.extract()?))
    } else if let Ok(dict) = value.cast::<PyDict>() {
        let entry = |(key, item): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<(String, Value)> {
            Ok((key.extract()?, json_from_python(&item)?))
        };
        Ok(Value::Object(dict.iter().map(entry).collect::<PyResult<Map<_, _>>>()?))
    } else if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
        let items = value.try_iter()?.map(|item| json_from_python(&item?));
        Ok(Value::Array(items.collect::<PyResult<_>>()?))
    } else {
        let kind = value.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "cannot store a value of type {kind}; use numbers, strings, booleans, lists or dictionaries"
        )))
    }
}
