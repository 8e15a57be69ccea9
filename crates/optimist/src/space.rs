//! What the user may vary: names, bounds, choices, and which parameter matters when.
//!
//! Given: the parameters as the user declares them, in any order.
//! Gives: a checked `Space`, and whether an assignment of values is one of its points.
//! Does not know: the unit cube. `encode` places values there; here a value of a discrete
//! parameter is at most a *level*, its index among the parameter's values.

mod value;

pub use value::{Assignment, Value};

use std::collections::VecDeque;

use crate::error::{SpaceError, nearest};

/// The parameters of a study, checked: every one of them has a value and can be active.
///
/// ```
/// use optimist::space::{Assignment, Kind, Parameter, Space, Value};
///
/// let solvers = vec![Value::from("sgd"), Value::from("adam")];
/// let space = Space::new(vec![
///     Parameter::new("solver", Kind::Categorical { choices: solvers }),
///     Parameter::new("lr", Kind::Float { low: 1e-5, high: 1.0, log: true, step: None }),
///     Parameter::new("momentum", Kind::Float { low: 0.0, high: 1.0, log: false, step: Some(0.1) })
///         .when("solver", "sgd"),
/// ])?;
/// space.check(&Assignment::from_iter([("solver", Value::from("adam")), ("lr", Value::from(0.01))]))?;
/// # Ok::<(), optimist::SpaceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    parameters: Vec<Parameter>,
    /// Per parameter: everything that must hold for it to be active, its parents' conditions
    /// included, so that nothing else need be looked at.
    requirements: Vec<Vec<Requirement>>,
}

/// One thing that may be varied.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Unique in its space, not empty.
    pub name: String,
    /// The values it may take.
    pub kind: Kind,
    /// It is active only when all of these hold; always, if there are none.
    pub when: Vec<Condition>,
}

/// The values a parameter may take.
///
/// With a `step` they are `low`, `low + step`, … up to the last that is not above `high`. `low ==
/// high` is a constant. A log scale spreads the *ratios* of values evenly and needs `low > 0`.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Real numbers from `low` to `high`, both included.
    Float {
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
        /// Whether values are spread on a log scale.
        log: bool,
        /// The distance between neighbouring values; `None` for a continuum.
        step: Option<f64>,
    },
    /// Whole numbers from `low` to `high`, both included.
    Int {
        /// The smallest value.
        low: i64,
        /// The largest value.
        high: i64,
        /// Whether values are spread on a log scale.
        log: bool,
        /// The distance between neighbouring values; 1 if not given.
        step: Option<i64>,
    },
    /// `false` or `true`.
    Bool,
    /// One of several values without an order.
    Categorical {
        /// The values: at least one, all different.
        choices: Vec<Value>,
    },
}

/// Holds when `parameter` is active and equals `value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The name of another parameter, declared before or after.
    pub parameter: String,
    /// One of the values of that parameter, which must not be a continuous float.
    pub value: Value,
}

/// Parameter `parameter` must be at level `level`: a condition in terms of indices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Requirement {
    pub(crate) parameter: usize,
    pub(crate) level: usize,
}

impl Space {
    /// A space of these parameters.
    ///
    /// # Errors
    /// If a parameter can have no value (bounds, step, choices), a name is empty or used twice, or
    /// a condition names what does not exist, cannot be, or waits for itself.
    pub fn new(parameters: Vec<Parameter>) -> Result<Space, SpaceError> {
        if parameters.is_empty() {
            return Err(SpaceError::NoParameters);
        }
        for (idx, Parameter { name, kind, .. }) in parameters.iter().enumerate() {
            if name.is_empty() {
                return Err(SpaceError::EmptyName { position: idx + 1 });
            }
            if parameters[..idx].iter().any(|earlier| earlier.name == *name) {
                return Err(SpaceError::DuplicateName { name: name.clone() });
            }
            kind.validate(name)?;
        }
        let direct = parameters
            .iter()
            .map(|parameter| direct_requirements(parameter, &parameters))
            .collect::<Result<Vec<_>, _>>()?;
        let requirements = (0..parameters.len())
            .map(|idx| all_requirements(idx, &direct, &parameters))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Space {
            parameters,
            requirements,
        })
    }

    /// All parameters, in the order of declaration.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The parameter of that name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether `assignment` is a point of this space: every active parameter has a valid value, and
    /// nothing else has one.
    ///
    /// Whole floats are accepted for integers and integers for floats. A float with a step may be
    /// off its nearest value by a billionth of the step, as rounding leaves it.
    ///
    /// # Errors
    /// The first thing found wrong: unknown names, then invalid values, then missing or inactive ones.
    pub fn check(&self, assignment: &Assignment) -> Result<(), SpaceError> {
        for (name, value) in assignment.iter() {
            let parameter = self.get(name).ok_or_else(|| SpaceError::UnknownParameter {
                name: name.to_owned(),
                nearest: nearest(name, self.parameters.iter().map(|known| known.name.as_str())),
            })?;
            parameter.kind.check(name, value)?;
        }
        for (Parameter { name, .. }, requirements) in self.parameters.iter().zip(&self.requirements) {
            let unmet = requirements
                .iter()
                .find(|requirement| !self.is_met(requirement, assignment));
            match (unmet, assignment.get(name)) {
                (None, None) => return Err(SpaceError::MissingValue { name: name.clone() }),
                (Some(unmet), Some(_)) => {
                    let Parameter {
                        name: parameter,
                        kind,
                        ..
                    } = &self.parameters[unmet.parameter];
                    return Err(SpaceError::InactiveValue {
                        name: name.clone(),
                        parameter: parameter.clone(),
                        value: kind.value_at(unmet.level),
                    });
                }
                (None, Some(_)) | (Some(_), None) => {}
            }
        }
        Ok(())
    }

    /// What must hold for each parameter to be active, its parents' conditions included.
    pub(crate) fn requirements(&self) -> &[Vec<Requirement>] {
        &self.requirements
    }

    fn is_met(&self, requirement: &Requirement, assignment: &Assignment) -> bool {
        let Parameter { name, kind, .. } = &self.parameters[requirement.parameter];
        assignment.get(name).and_then(|value| kind.level_of(value)) == Some(requirement.level)
    }
}

impl Parameter {
    /// A parameter that is always active.
    pub fn new(name: impl Into<String>, kind: Kind) -> Parameter {
        Parameter {
            name: name.into(),
            kind,
            when: Vec::new(),
        }
    }

    /// The same, active only when `parameter` equals `value` too.
    #[must_use]
    pub fn when(mut self, parameter: impl Into<String>, value: impl Into<Value>) -> Parameter {
        self.when.push(Condition {
            parameter: parameter.into(),
            value: value.into(),
        });
        self
    }
}

/// Steps finer than this part of the larger bound drown in the rounding of the values themselves.
const FINEST_STEP: f64 = 1.0 / (1_u64 << 40) as f64;

/// How far from its nearest value a stepped float may be, in steps.
const STEP_TOLERANCE: f64 = 1e-9;

impl Kind {
    /// The index of the last value; `None` for a continuum.
    pub(crate) fn last_level(&self) -> Option<usize> {
        match *self {
            Kind::Float { low, high, .. } if low == high => Some(0),
            Kind::Float { step: None, .. } => None,
            Kind::Float {
                low,
                high,
                step: Some(step),
                ..
            } => {
                let k = ((high - low) / step).round();
                let within = stepped(low, k, step) <= high + STEP_TOLERANCE * step;
                Some(if within { k } else { k - 1.0 } as usize)
            }
            Kind::Int { low, high, step, .. } => {
                Some((high.abs_diff(low) / step.map_or(1, i64::unsigned_abs)) as usize)
            }
            Kind::Bool => Some(1),
            Kind::Categorical { ref choices } => Some(choices.len() - 1),
        }
    }

    /// The value at a level, which must be one of a discrete parameter's.
    pub(crate) fn value_at(&self, level: usize) -> Value {
        match *self {
            Kind::Float { low, high, step, .. } => {
                Value::Float(stepped(low, level as f64, step.unwrap_or(0.0)).min(high))
            }
            Kind::Int { low, step, .. } => {
                let value = i128::from(low) + level as i128 * i128::from(step.unwrap_or(1));
                Value::Int(i64::try_from(value).expect("levels end at `high`, which is an i64"))
            }
            Kind::Bool => Value::Bool(level == 1),
            Kind::Categorical { ref choices } => choices[level].clone(),
        }
    }

    /// The level of a value; `None` in a continuum, and for anything that is not one of the values.
    pub(crate) fn level_of(&self, value: &Value) -> Option<usize> {
        match *self {
            Kind::Float { low, high, step, .. } => {
                let last = self.last_level()?;
                let value = value.as_f64().filter(|v| (low..=high).contains(v))?;
                let step = step.unwrap_or(1.0); // a constant without a step has level 0 only
                let level = (((value - low) / step).round() as usize).min(last);
                let gap = value - self.value_at(level).as_f64()?;
                (gap.abs() <= STEP_TOLERANCE * step).then_some(level)
            }
            Kind::Int { low, high, step, .. } => {
                let value = value.as_i64().filter(|v| (low..=high).contains(v))?;
                let (offset, step) = (value.abs_diff(low), step.map_or(1, i64::unsigned_abs));
                offset.is_multiple_of(step).then_some((offset / step) as usize)
            }
            Kind::Bool => match value {
                Value::Bool(b) => Some(usize::from(*b)),
                _ => None,
            },
            Kind::Categorical { ref choices } => choices.iter().position(|choice| choice == value),
        }
    }

    /// Whether a parameter of this kind has any value at all.
    fn validate(&self, name: &str) -> Result<(), SpaceError> {
        let name = || name.to_owned();
        let finite = |what, value: f64| match value.is_finite() {
            true => Ok(()),
            false => Err(SpaceError::NotFinite {
                name: name(),
                what,
                value,
            }),
        };
        match *self {
            Kind::Float { low, high, log, step } => {
                finite("low", low)?;
                finite("high", high)?;
                check_bounds(&name, low.into(), high.into(), low > high, log && low <= 0.0)?;
                if !(high - low).is_finite() {
                    return Err(SpaceError::TooWide {
                        name: name(),
                        low,
                        high,
                    });
                }
                let finest = f64::MIN_POSITIVE.max(FINEST_STEP * low.abs().max(high.abs()));
                match step {
                    Some(step) if !step.is_finite() || step < finest => Err(SpaceError::BadStep {
                        name: name(),
                        step: step.into(),
                        least: finest.into(),
                    }),
                    _ => Ok(()),
                }
            }
            Kind::Int { low, high, log, step } => {
                check_bounds(&name, low.into(), high.into(), low > high, log && low <= 0)?;
                match step {
                    Some(step) if step < 1 => Err(SpaceError::BadStep {
                        name: name(),
                        step: step.into(),
                        least: 1.into(),
                    }),
                    _ => Ok(()),
                }
            }
            Kind::Bool => Ok(()),
            Kind::Categorical { ref choices } => {
                if choices.is_empty() {
                    return Err(SpaceError::NoChoices { name: name() });
                }
                for (idx, choice) in choices.iter().enumerate() {
                    finite("choice", choice.as_f64().unwrap_or(0.0))?;
                    if choices[..idx].contains(choice) {
                        return Err(SpaceError::DuplicateChoice {
                            name: name(),
                            choice: choice.clone(),
                        });
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether `value` is one of the values.
    fn check(&self, name: &str, value: &Value) -> Result<(), SpaceError> {
        let name = || name.to_owned();
        let wrong_type = |expected| SpaceError::WrongType {
            name: name(),
            expected,
            got: value.clone(),
        };
        let out_of_range = |low, high| SpaceError::OutOfRange {
            name: name(),
            value: value.clone(),
            low,
            high,
        };
        let off_step = |low: Value, step: Value| SpaceError::OffStep {
            name: name(),
            value: value.clone(),
            low,
            step,
        };
        match *self {
            Kind::Float { low, high, step, .. } => {
                let v = value.as_f64().ok_or_else(|| wrong_type("a number"))?;
                match step {
                    _ if v.is_nan() => Err(SpaceError::NotFinite {
                        name: name(),
                        what: "value",
                        value: v,
                    }),
                    _ if !(low..=high).contains(&v) => Err(out_of_range(low.into(), high.into())),
                    Some(step) if self.level_of(value).is_none() => Err(off_step(low.into(), step.into())),
                    _ => Ok(()),
                }
            }
            Kind::Int { low, high, step, .. } => {
                let v = value.as_i64().ok_or_else(|| wrong_type("a whole number"))?;
                match step {
                    _ if !(low..=high).contains(&v) => Err(out_of_range(low.into(), high.into())),
                    Some(step) if self.level_of(value).is_none() => Err(off_step(low.into(), step.into())),
                    _ => Ok(()),
                }
            }
            Kind::Bool => match value {
                Value::Bool(_) => Ok(()),
                _ => Err(wrong_type("true or false")),
            },
            Kind::Categorical { ref choices } if !choices.contains(value) => {
                let texts: Vec<String> = choices.iter().map(Value::to_string).collect();
                Err(SpaceError::UnknownChoice {
                    name: name(),
                    nearest: nearest(&value.to_string(), texts.iter().map(String::as_str)),
                    value: value.clone(),
                    choices: choices.clone(),
                })
            }
            Kind::Categorical { .. } => Ok(()),
        }
    }
}

/// `low + k * step` as in decimal arithmetic: 3 steps of 0.1 are 0.3, not 0.30000000000000004.
fn stepped(low: f64, k: f64, step: f64) -> f64 {
    fn decimals(x: f64) -> usize {
        x.to_string()
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len())
    }
    let places = decimals(low).max(decimals(step));
    let value = low + k * step;
    let rounded = format!("{value:.places$}").parse().unwrap_or(value);
    rounded + 0.0 // turns -0.0 into 0.0
}

fn check_bounds(
    name: impl Fn() -> String,
    low: Value,
    high: Value,
    is_empty: bool,
    is_log_of_non_positive: bool,
) -> Result<(), SpaceError> {
    if is_empty {
        Err(SpaceError::EmptyRange {
            name: name(),
            low,
            high,
        })
    } else if is_log_of_non_positive {
        Err(SpaceError::LogOfNonPositive { name: name(), low })
    } else {
        Ok(())
    }
}

/// A parameter's own conditions, in terms of indices.
fn direct_requirements(
    Parameter { name, when, .. }: &Parameter,
    parameters: &[Parameter],
) -> Result<Vec<Requirement>, SpaceError> {
    let requirement = |Condition { parameter, value }: &Condition| {
        let (name, wanted) = (name.clone(), parameter.clone());
        let Some(idx) = parameters.iter().position(|other| other.name == *parameter) else {
            let nearest = nearest(parameter, parameters.iter().map(|other| other.name.as_str()));
            return Err(SpaceError::ConditionUnknown {
                name,
                parameter: wanted,
                nearest,
            });
        };
        let kind = &parameters[idx].kind;
        if kind.last_level().is_none() {
            return Err(SpaceError::ConditionOnContinuum {
                name,
                parameter: wanted,
            });
        }
        let level = kind
            .level_of(value)
            .ok_or_else(|| SpaceError::ConditionImpossible {
                name,
                parameter: wanted,
                value: value.clone(),
            })?;
        Ok(Requirement {
            parameter: idx,
            level,
        })
    };
    when.iter().map(requirement).collect()
}

/// The requirements of parameter `idx`, of those it waits for, of those they wait for, and so on.
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
                let Parameter {
                    name: parameter,
                    kind,
                    ..
                } = &parameters[known.parameter];
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
