//! The point to bet on, and those that come next.

use optimist::Recommendation;
use optimist::space::Assignment;
use serde::Serialize;

use crate::state::State;
use crate::trial::Trial;

/// The point to bet on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// The first trial that tried it; `None` if nobody has.
    pub trial: Option<usize>,
    /// Where: the active parameters.
    pub params: Assignment,
    /// What is expected there, in the user's direction; `expected` in JSON.
    #[serde(rename = "expected")]
    pub mean: f64,
    /// How unsure that is, one standard deviation; `None` if the optimizer has no model.
    pub std: Option<f64>,
    /// What that trial measured.
    pub value: Option<f64>,
}

impl Best {
    /// A trial that is only known by its value.
    pub(crate) fn observed(trial: &Trial) -> Option<Self> {
        let value = trial.value()?;
        let params = trial.params.clone();
        Some(Self { trial: Some(trial.number), params, mean: value, std: None, value: Some(value) })
    }

    /// What the optimizer recommends, in the user's terms.
    pub(crate) fn new(state: &State, recommended: Recommendation, trial: Option<usize>) -> Self {
        let tried = trial.map(|trial| &state.trials()[trial]);
        Self {
            trial,
            params: match tried {
                Some(tried) => tried.params.clone(),
                None => state.encoding().decode(&recommended.x),
            },
            mean: state.in_user_direction(recommended.mean),
            std: recommended.std,
            value: tried.and_then(Trial::value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_is_written_with_nulls_for_what_is_not_known() {
        let params = Assignment::from_iter([("x", 0.5)]);
        let tried =
            Best { trial: Some(3), params: params.clone(), mean: -1.5, std: Some(0.25), value: Some(-1.0) };
        let written = serde_json::to_string(&tried).unwrap();
        assert_eq!(written, r#"{"trial":3,"params":{"x":0.5},"expected":-1.5,"std":0.25,"value":-1.0}"#);
        let new = Best { trial: None, params, mean: 2.0, std: None, value: None };
        let written = serde_json::to_string(&new).unwrap();
        assert_eq!(written, r#"{"trial":null,"params":{"x":0.5},"expected":2.0,"std":null,"value":null}"#);
    }
}
