//! What a model says about the parameters of a study, whatever its optimizer.

use optimist::settings::{Settings, Updates};
use optimist::{Insight, Method, Observation};

use crate::error::StudyError;
use crate::state::{State, Update};

/// A model of a study's objective. Its values are to be maximised.
pub struct StudyInsight {
    /// What the model says.
    pub model: Insight,
    /// The trial of each of its observations.
    pub trials: Vec<usize>,
}

impl StudyInsight {
    /// Fits the model of GO-UCB to what was told: with the study's own settings, if GO-UCB suggests in it and refits, and
    /// with the default ones if not. `None` before the first value, or if no family fits.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn of(state: &State) -> Result<Option<Self>, StudyError> {
        let mut trials = Vec::new();
        let mut observations = Vec::new();
        for update in state.updates() {
            let Update::Told { trial, outcome } = *update else { continue };
            let x = state.encoding().encode(&state.trials()[trial].params)?;
            observations.push(Observation { x, outcome });
            trials.push(trial);
        }
        let settings = match state.definition().optimizer.method() {
            Method::GoUcb(settings) if settings.updates == Updates::Refit => (**settings).clone(),
            _ => Settings::default(),
        };
        let model = Insight::fit(state.encoding(), observations, settings)?;
        Ok(model.map(|model| Self { model, trials }))
    }
}
