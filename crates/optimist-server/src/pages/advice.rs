//! What the optimizer says of a study: the point to bet on, and what is to be expected of going on.

use optimist_study::{Best, Study, StudyError};

/// What the optimizer says.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The point to bet on.
    pub best: Option<Best>,
    /// By how much the next trial is expected to improve the best value.
    pub gain: Option<f64>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// Asks the optimizer, with the record that it knew the log up to.
///
/// # Errors
/// If the study cannot be read, or has a point that is not in its space.
pub fn advise(study: &mut Study) -> Result<(u64, Advice), StudyError> {
    study.refresh()?;
    let best = study.recommend()?;
    // An optimizer that cannot say what is to be gained is no trouble.
    let gain =
        best.as_ref().and_then(|_| study.expected_gain().ok().flatten()).filter(|gain| gain.is_finite());
    let warnings = study.warnings()?;
    Ok((study.state().head(), Advice { best, gain, warnings }))
}
