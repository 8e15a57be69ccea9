//! The library's errors as Python exceptions, whose classes are in `optimist/_errors.py`. This is the only place that maps them.

use std::fmt::Display;

use optimist_study::{StorageError, StudyError, StudyFileError};
use pyo3::prelude::*;

/// The exception for something that a study can't do.
pub fn study(py: Python<'_>, error: StudyError) -> PyErr {
    match error {
        StudyError::Storage(error) => storage(py, &error),
        StudyError::NotFound { .. } | StudyError::NoTrial { .. } => named(py, "NotFoundError", error),
        StudyError::Space(error) => named(py, "SpaceError", error),
        error => invalid(py, error),
    }
}

/// The exception for storage that can't be used; `may_pass` says whether it may work later.
pub fn storage(py: Python<'_>, error: &StorageError) -> PyErr {
    let raised = named(py, "StorageError", error);
    match raised.value(py).setattr("may_pass", error.may_pass()) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// The exception for a study file that can't be read or has a mistake.
pub fn study_file(py: Python<'_>, error: &StudyFileError) -> PyErr {
    match error {
        StudyFileError::Unreadable { .. } => named(py, "StorageError", error),
        error => invalid(py, error),
    }
}

/// The exception for an invalid value.
pub fn invalid(py: Python<'_>, problem: impl Display) -> PyErr {
    named(py, "StudyError", problem)
}

/// The exception for a bug of ours.
pub fn internal(py: Python<'_>, problem: impl Display) -> PyErr {
    let sentence = format!("this is a bug in Optimist: {problem}; please report it with what you called");
    named(py, "InternalError", sentence)
}

/// An exception of one of the package's classes.
pub fn named(py: Python<'_>, class: &str, message: impl Display) -> PyErr {
    let make = || py.import("optimist._errors")?.getattr(class)?.call1((message.to_string(),));
    match make() {
        Ok(error) => PyErr::from_value(error),
        Err(other) => other,
    }
}
