//! The search space: names, bounds, choices, conditions and constraints.
//!
//! Given: the parameters as the user declares them, in any order.
//! Gives: a checked `Space`, and whether an assignment of values is one of its points.
//! Does not know: the unit cube. `encode` places values there; here a value of a discrete
//! parameter is at most a *level*, its index among the parameter's values.

mod constraint;
mod kind;
mod requirements;
mod table;
mod value;

pub use constraint::{Constraint, Relation};
pub use kind::Kind;
pub use value::{Assignment, Value};

use self::requirements::Requirement;
use crate::encode;
use crate::error::SpaceError;
use crate::spelling;

/// The parameters of a study, checked: every one of them has a value and can be active, and constraints between them
/// leave something to search.
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
    /// For each parameter: everything that must hold for it to be active, its parents' conditions
    /// included, so that nothing else need be looked at.
    requirements: Vec<Vec<Requirement>>,
    constraints: Vec<Constraint>,
}

/// A parameter: one thing that may be varied.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Parameter {
    /// Unique in its space, not empty.
    pub name: String,
    /// The values it may take.
    #[serde(flatten)]
    pub kind: Kind,
    /// It is active only when all of these hold; always, if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
}

/// Holds when `parameter` is active and equals `value`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Condition {
    /// The name of another parameter, declared before or after.
    pub parameter: String,
    /// One of the values of that parameter, which must not be a continuous float.
    pub value: Value,
}

/// By how much a constraint may be missed, as a share of the ranges of its parameters.
const CONSTRAINT_TOLERANCE: f64 = 1e-9;

impl Space {
    /// A space of these parameters.
    ///
    /// # Errors
    /// If a parameter can have no value (bounds, step, choices), a name is empty or used twice, or
    /// a condition names what does not exist, cannot be, or depends on itself.
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
        let requirements = requirements::all(&parameters)?;
        Ok(Space { parameters, requirements, constraints: Vec::new() })
    }

    /// This space with these constraints added to those that it already has.
    ///
    /// ```
    /// use optimist::space::{Kind, Parameter, Space};
    ///
    /// let share = || Kind::Float { low: 0.0, high: 1.0, log: false, step: None };
    /// let metals = ["copper", "zinc", "tin"].map(|metal| Parameter::new(metal, share())).to_vec();
    /// let alloys = Space::new(metals)?
    ///     .with_constraints(["copper + zinc + tin = 1".parse()?, "tin <= 0.2*copper".parse()?])?;
    /// assert_eq!(alloys.constraints().len(), 2);
    /// # Ok::<(), optimist::SpaceError>(())
    /// ```
    ///
    /// # Errors
    /// If a constraint names what is not a parameter, or one that cannot be added up (no number, on a log scale, not
    /// always active), or if no values satisfy all constraints.
    pub fn with_constraints(
        mut self,
        constraints: impl IntoIterator<Item = Constraint>,
    ) -> Result<Space, SpaceError> {
        for constraint in constraints {
            self.validate(&constraint)?;
            self.constraints.push(constraint);
        }
        encode::check_constraints(&self)?; // where values lie, and so whether there are any, is known there
        Ok(self)
    }

    /// All parameters, in the order of declaration.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The constraints between parameters.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The parameter of that name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether `assignment` is a point of this space: every active parameter has a valid value,
    /// nothing else has one, and the constraints hold.
    ///
    /// Whole floats are accepted for integers and integers for floats. A float with a step may be
    /// off its nearest value by a billionth of the step, as rounding leaves it, and a constraint may
    /// be missed by a billionth of the ranges of its parameters.
    ///
    /// # Errors
    /// The first thing found wrong: unknown names, then invalid values, then missing or inactive ones,
    /// then constraints.
    pub fn check(&self, assignment: &Assignment) -> Result<(), SpaceError> {
        for (name, value) in assignment.iter() {
            let parameter = self.get(name).ok_or_else(|| SpaceError::UnknownParameter {
                name: name.to_owned(),
                nearest: nearest_name(name, &self.parameters),
            })?;
            parameter.kind.check(name, value)?;
        }
        for (Parameter { name, .. }, requirements) in self.parameters.iter().zip(&self.requirements) {
            let unmet = requirements.iter().find(|requirement| !self.is_met(requirement, assignment));
            match (unmet, assignment.get(name)) {
                (None, None) => return Err(SpaceError::MissingValue { name: name.clone() }),
                (Some(unmet), Some(_)) => {
                    let Parameter { name: parameter, kind, .. } = &self.parameters[unmet.parameter];
                    return Err(SpaceError::InactiveValue {
                        name: name.clone(),
                        parameter: parameter.clone(),
                        value: kind.value_at(unmet.level),
                    });
                }
                (None, Some(_)) | (Some(_), None) => {}
            }
        }
        self.constraints.iter().try_for_each(|constraint| self.check_constraint(constraint, assignment))
    }

    /// What must hold for each parameter to be active, its parents' conditions included.
    pub(crate) fn requirements(&self) -> &[Vec<Requirement>] {
        &self.requirements
    }

    /// Whether a constraint can be one of this space's.
    fn validate(&self, constraint: &Constraint) -> Result<(), SpaceError> {
        let text = || constraint.to_string();
        let mut size = constraint.bound().abs();
        for (name, factor) in constraint.terms() {
            let Some(parameter) = self.get(name) else {
                let nearest = nearest_name(name, &self.parameters);
                return Err(SpaceError::ConstraintUnknown {
                    constraint: text(),
                    name: name.clone(),
                    nearest,
                });
            };
            let (low, width) = parameter.kind.range().unwrap_or_default();
            size += factor.abs() * (low.abs() + width);
            let reason = match parameter.kind {
                Kind::Float { log: true, .. } | Kind::Int { log: true, .. } => {
                    "is on a log scale, where a sum is not linear; drop its `log`, or the constraint"
                }
                Kind::Bool => "is not a number; make it an int from 0 to 1",
                Kind::Categorical { .. } => "is not a number; leave it out",
                _ if !parameter.when.is_empty() => "is not always active; drop its `when`, or leave it out",
                Kind::Float { .. } | Kind::Int { .. } if size.is_finite() => continue,
                Kind::Float { .. } | Kind::Int { .. } => "makes the sum overflow; divide by a large number",
            };
            return Err(SpaceError::ConstraintUnfit { constraint: text(), name: name.clone(), reason });
        }
        Ok(())
    }

    fn check_constraint(&self, constraint: &Constraint, assignment: &Assignment) -> Result<(), SpaceError> {
        let (mut left, mut range, mut size): (f64, f64, f64) = (0.0, 0.0, 0.0);
        for (name, factor) in constraint.terms() {
            let value = assignment.get(name).and_then(Value::as_f64).unwrap_or_default();
            let (low, width) =
                self.get(name).and_then(|parameter| parameter.kind.range()).unwrap_or_default();
            left += factor * value;
            range = range.hypot(factor * width);
            size += factor.abs() * low.abs().max((low + width).abs());
        }
        let tolerance = CONSTRAINT_TOLERANCE * range + 1e-12 * size; // and rounding
        let excess = left - constraint.bound();
        let holds = match constraint.relation() {
            Relation::AtMost => excess <= tolerance,
            Relation::AtLeast => excess >= -tolerance,
            Relation::Equal => excess.abs() <= tolerance,
        };
        if holds {
            return Ok(());
        }
        Err(SpaceError::ConstraintViolated {
            constraint: constraint.to_string(),
            left: constraint.left(),
            value: left,
        })
    }

    fn is_met(&self, requirement: &Requirement, assignment: &Assignment) -> bool {
        let Parameter { name, kind, .. } = &self.parameters[requirement.parameter];
        assignment.get(name).and_then(|value| kind.level_of(value)) == Some(requirement.level)
    }
}

impl Parameter {
    /// A parameter that is always active.
    pub fn new(name: impl Into<String>, kind: Kind) -> Parameter {
        Parameter { name: name.into(), kind, when: Vec::new() }
    }

    /// A real number.
    pub fn float(name: impl Into<String>, low: f64, high: f64) -> Parameter {
        Parameter::new(name, Kind::Float { low, high, log: false, step: None })
    }

    /// A real number whose order of magnitude matters: searched evenly in its logarithm.
    pub fn log_float(name: impl Into<String>, low: f64, high: f64) -> Parameter {
        Parameter::new(name, Kind::Float { low, high, log: true, step: None })
    }

    /// A whole number, both bounds included.
    pub fn int(name: impl Into<String>, low: i64, high: i64) -> Parameter {
        Parameter::new(name, Kind::Int { low, high, log: false, step: None })
    }

    /// A whole number whose order of magnitude matters.
    pub fn log_int(name: impl Into<String>, low: i64, high: i64) -> Parameter {
        Parameter::new(name, Kind::Int { low, high, log: true, step: None })
    }

    /// One of several values that have no order.
    pub fn choice<V: Into<Value>>(
        name: impl Into<String>,
        choices: impl IntoIterator<Item = V>,
    ) -> Parameter {
        let choices = choices.into_iter().map(Into::into).collect();
        Parameter::new(name, Kind::Categorical { choices })
    }

    /// A truth value.
    pub fn flag(name: impl Into<String>) -> Parameter {
        Parameter::new(name, Kind::Bool)
    }

    /// The parameter with one more condition: it is active only when `parameter` equals `value`.
    #[must_use]
    pub fn when(mut self, parameter: impl Into<String>, value: impl Into<Value>) -> Parameter {
        self.when.push(Condition { parameter: parameter.into(), value: value.into() });
        self
    }
}

fn nearest_name(typed: &str, parameters: &[Parameter]) -> Option<String> {
    let names = parameters.iter().map(|parameter| parameter.name.as_str());
    spelling::nearest(typed, names).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(low: f64, high: f64, log: bool) -> Kind {
        Kind::Float { low, high, log, step: None }
    }

    fn int(low: i64, high: i64, log: bool) -> Kind {
        Kind::Int { low, high, log, step: None }
    }

    fn choices<const N: usize>(choices: [Value; N]) -> Kind {
        Kind::Categorical { choices: choices.to_vec() }
    }

    /// `nesterov` depends on `warmup`, which depends on `solver`; declared in the opposite order.
    fn nested() -> Space {
        Space::new(vec![
            Parameter::new("nesterov", Kind::Bool).when("warmup", 2_i64),
            Parameter::new("warmup", int(0, 3, false)).when("solver", "sgd"),
            Parameter::new("solver", choices(["sgd".into(), "adam".into()])),
        ])
        .unwrap()
    }

    fn message_of(result: Result<impl std::fmt::Debug, SpaceError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn parameters_without_a_value_are_refused() {
        let message = |kind| message_of(Space::new(vec![Parameter::new("p", kind)]));
        assert_eq!(
            message(float(2.0, 1.0, false)),
            "parameter `p`: low 2.0 is above high 1.0; swap the bounds"
        );
        assert_eq!(message(int(2, 1, false)), "parameter `p`: low 2 is above high 1; swap the bounds");
        assert!(message(float(0.0, 1.0, true)).contains("a log scale needs low > 0, got 0.0"));
        assert!(message(int(-1, 1, true)).contains("a log scale needs low > 0, got -1"));
        assert!(message(float(f64::NAN, 1.0, false)).contains("low NaN is not finite"));
        assert!(message(float(0.0, f64::INFINITY, false)).contains("high inf is not finite"));
        assert!(message(float(f64::MIN, f64::MAX, false)).contains("overflows"));
        assert!(message(choices([])).contains("has no choices"));
        assert!(message(choices([Value::Int(1), Value::Float(1.0)])).contains("`1.0` is listed twice"));
        assert!(message(choices([Value::Float(f64::NAN)])).contains("choice NaN is not finite"));
    }

    #[test]
    fn names_must_be_there_and_differ() {
        let space =
            |names: &[&str]| Space::new(names.iter().map(|&name| Parameter::new(name, Kind::Bool)).collect());
        assert_eq!(space(&[]), Err(SpaceError::NoParameters));
        assert_eq!(space(&["a", ""]), Err(SpaceError::EmptyName { position: 2 }));
        assert_eq!(space(&["a", "a"]), Err(SpaceError::DuplicateName { name: "a".into() }));
    }

    #[test]
    fn constants_are_allowed() {
        let constants =
            [float(1.5, 1.5, true), float(0.0, 0.0, false), int(3, 3, false), choices(["a".into()])];
        for kind in constants {
            assert!(Space::new(vec![Parameter::new("p", kind)]).is_ok());
        }
    }

    #[test]
    fn conditions_that_cannot_hold_are_refused() {
        let message = |child: Parameter| {
            message_of(Space::new(vec![
                child,
                Parameter::new("solver", choices(["sgd".into(), "adam".into()])),
                Parameter::new("rate", float(0.0, 1.0, false)),
                Parameter::new("depth", int(1, 3, false)).when("solver", "sgd"),
            ]))
        };
        let child = || Parameter::new("child", Kind::Bool);
        assert!(message(child().when("solvr", "sgd")).contains("not declared; did you mean `solver`?"));
        assert!(
            message(child().when("solver", "lbfgs"))
                .contains("`solver` = lbfgs, which `solver` can never be")
        );
        assert!(message(child().when("depth", 4_i64)).contains("`depth` can never be"));
        assert!(message(child().when("rate", 0.5)).contains("`rate`, which is continuous"));
        assert!(message(child().when("child", true)).contains("depends on itself"));
        let contradiction = message(child().when("solver", "adam").when("depth", 2_i64));
        assert!(contradiction.contains("can never be active"), "{contradiction}");
    }

    #[test]
    fn cycles_of_conditions_are_refused() {
        let flag = |name: &str, other: &str| Parameter::new(name, Kind::Bool).when(other, true);
        let cycle = Space::new(vec![flag("x", "a"), flag("a", "b"), flag("b", "c"), flag("c", "a")]);
        assert_eq!(cycle, Err(SpaceError::ConditionCycle { name: "a".into() }));
    }

    #[test]
    fn a_condition_on_an_integer_may_be_written_as_a_float() {
        let depth = Parameter::new("depth", int(1, 3, false));
        let child = Parameter::new("child", Kind::Bool).when("depth", 2.0);
        let space = Space::new(vec![depth, child]).unwrap();
        let child_too = Assignment::from_iter([("depth", Value::Int(2)), ("child", Value::Bool(true))]);
        assert_eq!(space.check(&child_too), Ok(()));
    }

    #[test]
    fn exactly_the_active_parameters_must_have_values() {
        let check = |pairs: &[(&str, Value)]| nested().check(&pairs.iter().cloned().collect());
        let [sgd, adam] = ["sgd", "adam"].map(|solver| ("solver", Value::from(solver)));
        let [warmup, nesterov] = [("warmup", Value::Int(2)), ("nesterov", Value::Bool(true))];
        let cold = ("warmup", Value::Int(0));
        assert_eq!(check(&[nesterov.clone(), warmup.clone(), sgd.clone()]), Ok(()));
        assert_eq!(check(&[cold.clone(), sgd.clone()]), Ok(()));
        assert_eq!(check(std::slice::from_ref(&adam)), Ok(()));

        assert_eq!(check(&[]), Err(SpaceError::MissingValue { name: "solver".into() }));
        assert_eq!(
            check(std::slice::from_ref(&sgd)),
            Err(SpaceError::MissingValue { name: "warmup".into() })
        );
        assert_eq!(
            check(&[warmup.clone(), sgd.clone()]),
            Err(SpaceError::MissingValue { name: "nesterov".into() })
        );
        assert_eq!(
            message_of(check(&[nesterov.clone(), cold, sgd])),
            "parameter `nesterov` is active only when `warmup` = 2; leave it out"
        );
        assert_eq!(
            message_of(check(&[warmup.clone(), adam.clone()])),
            "parameter `warmup` is active only when `solver` = sgd; leave it out"
        );
        assert!(check(&[nesterov, warmup, adam]).is_err());
    }

    #[test]
    fn wrong_values_are_refused_by_name() {
        let stepped = Kind::Int { low: 0, high: 10, log: false, step: Some(5) };
        let space = Space::new(vec![
            Parameter::new("solver", choices(["sgd".into(), "adam".into()])),
            Parameter::new("rate", float(0.0, 1.0, false)),
            Parameter::new("batch", stepped),
            Parameter::new("bias", Kind::Bool),
        ])
        .unwrap();
        let message =
            |name: &str, value: Value| message_of(space.check(&[(name, value)].into_iter().collect()));
        assert_eq!(
            message("bais", true.into()),
            "parameter `bais` is not in the space; did you mean `bias`?"
        );
        assert!(message("solver", "adm".into()).contains("did you mean `adam`?"));
        assert!(message("solver", 7.into()).contains("choose from `sgd`, `adam`"));
        assert_eq!(message("rate", "fast".into()), "parameter `rate` must be a number, got `fast`");
        assert!(
            message("rate", 1.5.into()).contains("1.5 is outside its range; give a value from 0.0 to 1.0")
        );
        assert!(message("rate", f64::NAN.into()).contains("value NaN is not finite"));
        assert!(message("batch", 2.5.into()).contains("must be a whole number"));
        assert!(message("batch", 15.into()).contains("from 0 to 10"));
        assert!(message("batch", 3.into()).contains("give 0 plus a multiple of 5"));
        assert!(message("bias", 1.into()).contains("must be true or false"));
    }
}
