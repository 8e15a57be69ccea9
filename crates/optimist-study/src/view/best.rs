//! The point to bet on, and those that come next.

use optimist::space::Assignment;
use optimist::{Candidate, Recommendation};
use serde::Serialize;

use super::front::{ByOutcome, OutcomeView, believed, params};
use crate::outcomes::NamedOutcome;
use crate::state::State;
use crate::trial::Trial;

/// The point to bet on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Best {
    /// The first trial that tried it; `None` if nobody has.
    pub trial: Option<usize>,
    /// Where: the active parameters.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub params: Assignment,
    /// What is expected there, in the user's direction; `expected` in JSON. Of several outcomes, that of the goal; NaN, which JSON
    /// has as null, if there are only constraints.
    #[serde(rename = "expected")]
    pub mean: f64,
    /// How unsure that is, one standard deviation; `None` if the optimizer has no model.
    pub std: Option<f64>,
    /// What that trial measured.
    pub value: Option<f64>,
    /// How likely all constraints are kept, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<f64>,
    /// What is expected of each outcome, and what was observed, if they have names.
    #[serde(skip_serializing_if = "ByOutcome::is_empty")]
    pub outcomes: ByOutcome<OutcomeView>,
}

impl Best {
    /// A trial that is only known by what it measured.
    pub(crate) fn observed(state: &State, trial: &Trial) -> Self {
        let goal = state.outcomes().goal().map(|goal| goal.name.as_str());
        let value = goal.and_then(|goal| trial.value_of(goal));
        let view = |outcome: &NamedOutcome| {
            let value = trial.value_of(&outcome.name)?;
            Some(OutcomeView { expected: value, std: None, value: Some(value) })
        };
        let named = state.outcomes().all().iter().filter(|_| !state.outcomes().is_one());
        Self {
            trial: Some(trial.number),
            params: trial.params.clone(),
            mean: value.unwrap_or(f64::NAN),
            std: None,
            value,
            feasible: state.outcomes().has_constraints().then_some(1.0),
            outcomes: ByOutcome::of(named, view),
        }
    }

    /// What the optimizer believes of the outcomes at a point, in the user's terms.
    pub(crate) fn believed(state: &State, candidate: &Candidate, trial: Option<usize>) -> Self {
        let outcomes = believed(state, candidate, trial);
        let goal = state.outcomes().goal().and_then(|goal| outcomes.get(&goal.name)).copied();
        Self {
            trial,
            params: params(state, candidate, trial),
            mean: goal.map_or(f64::NAN, |goal| goal.expected),
            std: goal.and_then(|goal| goal.std),
            value: goal.and_then(|goal| goal.value),
            feasible: state.outcomes().has_constraints().then_some(candidate.feasibility),
            outcomes,
        }
    }

    /// What the optimizer recommends where there is a single outcome, in the user's terms.
    pub(crate) fn new(state: &State, recommended: Recommendation, trial: Option<usize>) -> Self {
        let tried = trial.map(|trial| &state.trials()[trial]);
        let only = &state.outcomes().all()[0];
        let view = OutcomeView {
            expected: state.in_user_direction(0, recommended.mean),
            std: recommended.std,
            value: tried.and_then(|tried| tried.value_of(&only.name)),
        };
        Self {
            trial,
            params: match tried {
                Some(tried) => tried.params.clone(),
                None => state.encoding().decode(&recommended.x),
            },
            mean: view.expected,
            std: view.std,
            value: view.value,
            feasible: None,
            outcomes: match state.outcomes().is_one() {
                true => ByOutcome::default(),
                false => ByOutcome(vec![(only.name.clone(), view)]),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_is_written_with_nulls_for_what_is_not_known() {
        let params = Assignment::from_iter([("x", 0.5)]);
        let (feasible, outcomes) = (None, ByOutcome::default());
        let new = Best { trial: None, params, mean: 2.0, std: None, value: None, feasible, outcomes };
        let tried = Best { trial: Some(3), mean: -1.5, std: Some(0.25), value: Some(-1.0), ..new.clone() };
        let written = serde_json::to_string(&tried).unwrap();
        assert_eq!(written, r#"{"trial":3,"params":{"x":0.5},"expected":-1.5,"std":0.25,"value":-1.0}"#);
        let written = serde_json::to_string(&new).unwrap();
        assert_eq!(written, r#"{"trial":null,"params":{"x":0.5},"expected":2.0,"std":null,"value":null}"#);
    }
}
