//! What has to hold for a parameter to be active.
//!
//! Given: parameters with their conditions. Gives: for each parameter all of its requirements, those of the parameters that it
//! depends on included. Conditions that can't be met are errors.

use std::collections::VecDeque;

use super::{Condition, Parameter, nearest_name};
use crate::error::SpaceError;

/// Parameter `parameter` must be at level `level`: a condition in terms of indices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Requirement {
    pub(crate) parameter: usize,
    pub(crate) level: usize,
}

/// The requirements of each parameter.
pub(super) fn all(parameters: &[Parameter]) -> Result<Vec<Vec<Requirement>>, SpaceError> {
    let direct = parameters
        .iter()
        .map(|parameter| direct_requirements(parameter, parameters))
        .collect::<Result<Vec<_>, _>>()?;
    (0..parameters.len()).map(|idx| all_requirements(idx, &direct, parameters)).collect()
}

/// A parameter's own conditions, in terms of indices.
fn direct_requirements(
    Parameter { name, when, .. }: &Parameter,
    parameters: &[Parameter],
) -> Result<Vec<Requirement>, SpaceError> {
    let requirement = |Condition { parameter, value }: &Condition| {
        let (name, wanted) = (name.clone(), parameter.clone());
        let Some(idx) = parameters.iter().position(|other| other.name == *parameter) else {
            let nearest = nearest_name(parameter, parameters);
            return Err(SpaceError::ConditionUnknown { name, parameter: wanted, nearest });
        };
        let kind = &parameters[idx].kind;
        if kind.last_level().is_none() {
            return Err(SpaceError::ConditionOnContinuum { name, parameter: wanted });
        }
        let level = kind.level_of(value).ok_or_else(|| SpaceError::ConditionImpossible {
            name,
            parameter: wanted,
            value: value.clone(),
        })?;
        Ok(Requirement { parameter: idx, level })
    };
    when.iter().map(requirement).collect()
}

/// The requirements of parameter `idx`, including those of the parameters it depends on, of those that these depend on, and so on.
fn all_requirements(
    idx: usize,
    direct: &[Vec<Requirement>],
    parameters: &[Parameter],
) -> Result<Vec<Requirement>, SpaceError> {
    let name = || parameters[idx].name.clone();
    let mut all: Vec<Requirement> = Vec::new();
    let mut to_visit = VecDeque::from(direct[idx].clone());
    while let Some(requirement) = to_visit.pop_front() {
        if requirement.parameter == idx {
            return Err(SpaceError::ConditionCycle { name: name() });
        }
        match all.iter().find(|known| known.parameter == requirement.parameter) {
            Some(known) if known.level == requirement.level => {}
            Some(known) => {
                let Parameter { name: parameter, kind, .. } = &parameters[known.parameter];
                let values = [known.level, requirement.level].map(|level| kind.value_at(level));
                return Err(SpaceError::ConditionContradiction {
                    name: name(),
                    parameter: parameter.clone(),
                    values,
                });
            }
            None => {
                all.push(requirement);
                to_visit.extend(&direct[requirement.parameter]);
            }
        }
    }
    Ok(all)
}
