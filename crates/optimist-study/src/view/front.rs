//! Answers of studies with several outcomes: what is believed of each outcome at a point, and the front of several goals.

use optimist::space::Assignment;
use optimist::{Candidate, pareto};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::outcomes::{NamedOutcome, Outcomes};
use crate::state::State;
use crate::trial::Trial;

/// What there is to choose from where several goals are traded off.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Front {
    /// What the feasible trials cover beyond the reference, by what was observed; `None` if there are too many goals and trials to
    /// compute it, or none is feasible.
    pub hypervolume: Option<f64>,
    /// For each goal, what is worth nothing: as the study says, or inferred from the trials.
    pub reference: ByOutcome<f64>,
    /// Points that are likely to be feasible and that no other is expected to beat in every goal, in the order of the first goal,
    /// best first. If none is likely to be feasible, the one most likely to.
    pub points: Vec<FrontPoint>,
}

/// A point of a front.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrontPoint {
    /// The first trial that tried it; `None` if nobody has.
    pub trial: Option<usize>,
    /// Where: the active parameters.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub params: Assignment,
    /// How likely all constraints are kept; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<f64>,
    /// Whether it is the knee of the front: the point that gives up little of anything.
    pub knee: bool,
    /// What is expected of each outcome there, and what was observed.
    pub outcomes: ByOutcome<OutcomeView>,
}

/// What is believed of an outcome at a point, in the user's direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeView {
    /// What is expected there.
    pub expected: f64,
    /// How unsure that is, one standard deviation; `None` if the optimizer has no model.
    pub std: Option<f64>,
    /// What the trial measured.
    pub value: Option<f64>,
}

/// Something of each outcome: an object in JSON, its keys in the order of declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct ByOutcome<T>(pub Vec<(String, T)>);

impl<T> Default for ByOutcome<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByOutcome<T> {
    /// The entry of one outcome.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, of)| of)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Entries for the outcomes that `of` gives something for.
    pub(crate) fn of<'o>(
        outcomes: impl IntoIterator<Item = &'o NamedOutcome>,
        of: impl Fn(&NamedOutcome) -> Option<T>,
    ) -> Self {
        Self(outcomes.into_iter().filter_map(|outcome| Some((outcome.name.clone(), of(outcome)?))).collect())
    }
}

impl<T: Serialize> Serialize for ByOutcome<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, of)| map.serialize_entry(name, of))?;
        map.end()
    }
}

/// An object with something of each outcome.
#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for ByOutcome<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}ByOutcome", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        std::collections::BTreeMap::<String, T>::json_schema(generator)
    }
}

impl Front {
    /// What the optimizer has to choose from, in the user's terms.
    pub(crate) fn new(state: &State, candidates: Vec<(Candidate, Option<usize>)>) -> Self {
        let outcomes = state.outcomes();
        let goals: Vec<usize> =
            (0..outcomes.all().len()).filter(|&outcome| outcomes.all()[outcome].is_goal()).collect();
        let mut candidates = candidates;
        let first = |candidate: &Candidate| goals.first().map_or(0.0, |&goal| candidate.expected[goal].mean);
        candidates.sort_by(|(a, _), (b, _)| first(b).total_cmp(&first(a)));
        let traded = |(candidate, _): &(Candidate, Option<usize>)| -> Vec<f64> {
            goals.iter().map(|&goal| candidate.expected[goal].mean).collect()
        };
        let knee = pareto::knee(&candidates.iter().map(traded).collect::<Vec<_>>());
        let point = |(i, (candidate, trial)): (usize, (Candidate, Option<usize>))| FrontPoint {
            trial,
            params: params(state, &candidate, trial),
            feasible: outcomes.has_constraints().then_some(candidate.feasibility),
            knee: knee == Some(i),
            outcomes: believed(state, &candidate, trial),
        };
        let points = candidates.into_iter().enumerate().map(point).collect();
        let observed = state.observed_front();
        let reference = observed.iter().flat_map(|front| outcomes.goals().zip(&front.reference));
        let reference = ByOutcome(reference.map(|(goal, at)| (goal.name.clone(), *at)).collect());
        Self { hypervolume: observed.and_then(|front| front.hypervolume), reference, points }
    }

    /// The point that gives up little of anything.
    pub fn knee(&self) -> Option<&FrontPoint> {
        self.points.iter().find(|point| point.knee)
    }
}

/// Where a point is, as its trial has it if there is one.
pub(super) fn params(state: &State, candidate: &Candidate, trial: Option<usize>) -> Assignment {
    match trial {
        Some(trial) => state.trials()[trial].params.clone(),
        None => state.encoding().decode(&candidate.x),
    }
}

/// What is believed of every outcome at a point, and what its trial measured.
pub(super) fn believed(state: &State, candidate: &Candidate, trial: Option<usize>) -> ByOutcome<OutcomeView> {
    let outcomes = state.outcomes().all().iter().enumerate().zip(&candidate.expected);
    let view = |((number, outcome), expected): ((usize, &NamedOutcome), &optimist::Expected)| {
        let view = OutcomeView {
            expected: state.in_user_direction(number, expected.mean),
            std: expected.std,
            value: trial.and_then(|trial| state.trials()[trial].value_of(&outcome.name)),
        };
        (outcome.name.clone(), view)
    };
    ByOutcome(outcomes.map(view).collect())
}

/// What was measured of each outcome in a trial.
pub(super) fn measured(outcomes: &Outcomes, trial: &Trial) -> ByOutcome<f64> {
    ByOutcome::of(outcomes.all(), |outcome| trial.value_of(&outcome.name))
}
