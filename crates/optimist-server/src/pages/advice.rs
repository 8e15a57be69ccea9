//! The optimizer's advice on a study: the recommended point or the front, the expected gain of the next trial, warnings.

use optimist_study::{Best, Front, Study, StudyError};

/// The optimizer's advice on a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The recommended point; `None` before the first value, and with several goals.
    pub best: Option<Best>,
    /// With several goals, the points to choose from; `None` before the first trial of which everything was measured.
    pub front: Option<Front>,
    /// By how much the next trial is expected to improve the best value.
    pub gain: Option<f64>,
    /// Warnings to show to users.
    pub warnings: Vec<String>,
}

/// Asks the optimizer for advice, and returns it with the number of the last record it is based on.
///
/// # Errors
/// If the study can't be read, or has a point outside its space.
pub fn advise(study: &mut Study) -> Result<(u64, Advice), StudyError> {
    study.refresh()?;
    let best = study.recommend()?;
    // Not every optimizer can say what the next trial will gain; that is no error.
    let gain =
        best.as_ref().and_then(|_| study.expected_gain().ok().flatten()).filter(|gain| gain.is_finite());
    let warnings = study.warnings()?;
    let front = study.front().ok().flatten(); // the warnings say why there is none
    Ok((study.state().head(), Advice { best, front, gain, warnings }))
}
