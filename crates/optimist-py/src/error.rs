//! Errors of the library as Python's: the one mapping. The classes are in `optimist/_errors.py`.

use std::fmt::Display;

use optimist_study::{StorageError, StudyError, StudyFileError};
use pyo3::prelude::*;

/// A study that cannot do what it was asked for.
pub fn study(py: Python<'_>, error: StudyError) -> PyErr {
    match error {
        StudyError::Storage(error) => storage(py, &error),
        StudyError::NotFound { .. } | StudyError::NoTrial { .. } => named(py, "NotFoundError", error),
        StudyError::Space(error) => named(py, "SpaceError", error),
        error => invalid(py, error),
    }
}

/// Storage that cannot be used, and whether that may pass.
pub fn storage(py: Python<'_>, error: &StorageError) -> PyErr {
    let raised = named(py, "StorageError", error);
    match raised.value(py).setattr("may_pass", error.may_pass()) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// A study file that cannot be read, or that says what cannot be meant.
pub fn study_file(py: Python<'_>, error: &StudyFileError) -> PyErr {
    match error {
        StudyFileError::Unreadable { .. } => named(py, "StorageError", error),
        error => invalid(py, error),
    }
}

/// A value that cannot be meant.
pub fn invalid(py: Python<'_>, problem: impl Display) -> PyErr {
    named(py, "StudyError", problem)
}

/// A mistake of ours.
pub fn internal(py: Python<'_>, problem: impl Display) -> PyErr {
    let sentence = format!("this is a bug in Optimist: {problem}; please report it with what you called");
    named(py, "InternalError", sentence)
}

/// An error of one of the package's classes.
pub fn named(py: Python<'_>, class: &str, message: impl Display) -> PyErr {
    let make = || py.import("optimist._errors")?.getattr(class)?.call1((message.to_string(),));
    match make() {
        Ok(error) => PyErr::from_value(error),
        Err(other) => other,
    }
}
