//! Errors of this crate.

use crate::method::Method;
use crate::schedule::ScheduleError;
use crate::space::Value;

/// A search space that cannot be searched, or an assignment that is not one of its points.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// There is nothing to vary.
    #[error("the space has no parameters; declare at least one")]
    NoParameters,
    /// A parameter has no name.
    #[error("parameter number {position} has an empty name; give it one")]
    EmptyName {
        /// Its place in the declaration, from 1.
        position: usize,
    },
    /// Two parameters share a name.
    #[error("parameter `{name}` is declared twice; rename one of the two")]
    DuplicateName {
        /// The shared name.
        name: String,
    },
    /// A number is NaN or infinite.
    #[error("parameter `{name}`: {what} {value} is not finite; give a finite number")]
    NotFinite {
        /// The parameter.
        name: String,
        /// Which of its numbers: `low`, `high`, `choice` or `value`.
        what: &'static str,
        /// The offending number.
        value: f64,
    },
    /// The lower bound is above the upper.
    #[error("parameter `{name}`: low {low} is above high {high}; swap the bounds")]
    EmptyRange {
        /// The parameter.
        name: String,
        /// Its lower bound.
        low: Value,
        /// Its upper bound.
        high: Value,
    },
    /// The width of the range is not a number.
    #[error("parameter `{name}`: the distance from low {low:e} to high {high:e} overflows; narrow the range")]
    TooWide {
        /// The parameter.
        name: String,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
    },
    /// A log scale reaches zero.
    #[error("parameter `{name}`: a log scale needs low > 0, got {low}; raise low, or drop `log`")]
    LogOfNonPositive {
        /// The parameter.
        name: String,
        /// Its lower bound.
        low: Value,
    },
    /// A step that leads nowhere.
    #[error(
        "parameter `{name}`: step {step} must be finite and at least {least} for these bounds; \
         choose a larger one, or drop `step`"
    )]
    BadStep {
        /// The parameter.
        name: String,
        /// Its step.
        step: Value,
        /// The smallest step whose values can be told apart.
        least: Value,
    },
    /// A categorical parameter without a value.
    #[error("parameter `{name}` has no choices; list at least one")]
    NoChoices {
        /// The parameter.
        name: String,
    },
    /// A choice listed twice; 1 and 1.0 are the same.
    #[error("parameter `{name}`: choice `{choice}` is listed twice; remove one of the two")]
    DuplicateChoice {
        /// The parameter.
        name: String,
        /// The repeated choice.
        choice: Value,
    },
    /// A condition on a parameter that does not exist.
    #[error(
        "parameter `{name}` waits for `{parameter}`, which is not declared{}",
        did_you_mean(nearest, "; declare it, or drop the condition")
    )]
    ConditionUnknown {
        /// The conditional parameter.
        name: String,
        /// The parameter it waits for.
        parameter: String,
        /// The declared name that is spelled most like it.
        nearest: Option<String>,
    },
    /// A condition on a parameter that hardly ever has a given value.
    #[error(
        "parameter `{name}` waits for a value of `{parameter}`, which is continuous; \
         give `{parameter}` a step, or drop the condition"
    )]
    ConditionOnContinuum {
        /// The conditional parameter.
        name: String,
        /// The continuous parameter it waits for.
        parameter: String,
    },
    /// A condition on a value that its parameter cannot have.
    #[error(
        "parameter `{name}` waits for `{parameter}` = {value}, which `{parameter}` can never be; \
         use one of its values"
    )]
    ConditionImpossible {
        /// The conditional parameter.
        name: String,
        /// The parameter it waits for.
        parameter: String,
        /// The impossible value.
        value: Value,
    },
    /// Conditions, those of the parameters waited for included, that exclude each other.
    #[error(
        "parameter `{name}` can never be active: it waits for `{parameter}` = {} and = {}; drop one",
        values[0], values[1]
    )]
    ConditionContradiction {
        /// The conditional parameter.
        name: String,
        /// The parameter that would need two values.
        parameter: String,
        /// The two values.
        values: [Value; 2],
    },
    /// A parameter that waits, through its conditions, for itself.
    #[error("parameter `{name}` waits for itself through its conditions; drop one of them")]
    ConditionCycle {
        /// A parameter of the cycle.
        name: String,
    },
    /// A value for a parameter that does not exist.
    #[error("parameter `{name}` is not in the space{}", did_you_mean(nearest, "; leave it out"))]
    UnknownParameter {
        /// The unknown name.
        name: String,
        /// The declared name that is spelled most like it.
        nearest: Option<String>,
    },
    /// An active parameter without a value.
    #[error("parameter `{name}` has no value; give it one")]
    MissingValue {
        /// The parameter.
        name: String,
    },
    /// A value for a parameter that is not active.
    #[error("parameter `{name}` is active only when `{parameter}` = {value}; leave it out")]
    InactiveValue {
        /// The inactive parameter.
        name: String,
        /// The parameter it waits for.
        parameter: String,
        /// The value it waits for.
        value: Value,
    },
    /// A value of another type than the parameter's.
    #[error("parameter `{name}` must be {expected}, got `{got}`")]
    WrongType {
        /// The parameter.
        name: String,
        /// What its values are.
        expected: &'static str,
        /// The offending value.
        got: Value,
    },
    /// A value beyond the bounds.
    #[error("parameter `{name}`: {value} is outside its range; give a value from {low} to {high}")]
    OutOfRange {
        /// The parameter.
        name: String,
        /// The offending value.
        value: Value,
        /// The lower bound.
        low: Value,
        /// The upper bound.
        high: Value,
    },
    /// A value between two steps.
    #[error("parameter `{name}`: {value} is between its steps; give {low} plus a multiple of {step}")]
    OffStep {
        /// The parameter.
        name: String,
        /// The offending value.
        value: Value,
        /// The lower bound, where the steps begin.
        low: Value,
        /// The distance between neighbouring values.
        step: Value,
    },
    /// A value that is none of the choices.
    #[error(
        "parameter `{name}`: `{value}` is not one of its choices{}",
        did_you_mean(nearest, &format!("; choose from {}", listed(choices)))
    )]
    UnknownChoice {
        /// The parameter.
        name: String,
        /// The offending value.
        value: Value,
        /// The choices there are.
        choices: Vec<Value>,
        /// The choice that is spelled most like it.
        nearest: Option<String>,
    },
    /// A constraint that cannot be understood.
    #[error("constraint `{constraint}`: {problem}")]
    ConstraintSyntax {
        /// As it was written.
        constraint: String,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A constraint on a parameter that does not exist.
    #[error(
        "constraint `{constraint}`: there is no parameter `{name}`{}",
        did_you_mean(
            nearest,
            "; declare it, or, if its name has other signs than letters, digits and `_`, put it in backticks"
        )
    )]
    ConstraintUnknown {
        /// The constraint.
        constraint: String,
        /// The unknown name.
        name: String,
        /// The declared name that is spelled most like it.
        nearest: Option<String>,
    },
    /// A constraint on a parameter that cannot be part of one.
    #[error("constraint `{constraint}`: `{name}` {reason}")]
    ConstraintUnfit {
        /// The constraint.
        constraint: String,
        /// The parameter.
        name: String,
        /// Why it cannot, and what to do.
        reason: &'static str,
    },
    /// Constraints, with the bounds of the parameters, that exclude each other.
    #[error(
        "no values satisfy {}{}; loosen one of them, or the bounds of its parameters",
        backticked(constraints), if *on_steps { " on the steps of these parameters" } else { "" }
    )]
    ConstraintsContradict {
        /// Constraints of which one has to give way.
        constraints: Vec<String>,
        /// Whether there would be values between the steps.
        on_steps: bool,
    },
    /// Values that a constraint excludes.
    #[error("constraint `{constraint}` does not hold: {left} is {value}; change one of these values")]
    ConstraintViolated {
        /// The constraint.
        constraint: String,
        /// Its left side.
        left: String,
        /// What that adds up to.
        value: f64,
    },
}

/// An optimizer that cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// No optimizer has this name.
    #[error(
        "there is no optimizer `{name}`{}",
        did_you_mean(nearest, &format!("; choose from {}", Method::NAMES.join(", ")))
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// A word that names an optimizer but not settings that it has.
    #[error("optimizer `{word}`: {problem}")]
    BadWord {
        /// What was typed.
        word: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A setting that cannot be used.
    #[error("setting `{key}`: {problem}")]
    BadSetting {
        /// Its key in the study file.
        key: &'static str,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// An optimizer that cannot pursue these goals.
    #[error("optimizer `{name}` {problem}")]
    Unable {
        /// The optimizer.
        name: String,
        /// What it cannot do, and what can.
        problem: &'static str,
    },
    /// λ or β_t cannot be computed.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// A run that found nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No trial was allowed.
    #[error("there is nothing to choose from without a trial; allow at least 1")]
    NoTrials,
    /// Every trial failed.
    #[error("none of {trials} trials gave a finite value; check the function and the bounds of the space")]
    NoValue {
        /// How many there were.
        trials: usize,
    },
    /// The optimizer could not be made.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// An outcome could not be learnt from.
    #[error(transparent)]
    Tell(#[from] TellError),
}

/// An outcome that cannot be learnt from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TellError {
    /// The value is NaN or infinite.
    #[error("value {y} is not finite; tell a finite value, or tell the trial as failed")]
    NotFinite {
        /// The offending value.
        y: f64,
    },
    /// The noise is NaN, infinite or negative.
    #[error("noise_std {noise_std} must be finite and not negative; leave it out to have it inferred")]
    BadNoise {
        /// The offending standard deviation.
        noise_std: f64,
    },
    /// More or fewer outcomes than there are goals.
    #[error("{got} outcomes were told, and {expected} are wanted; tell one for each goal, in their order")]
    WrongOutcomes {
        /// Goals.
        expected: usize,
        /// Outcomes told.
        got: usize,
    },
    /// The point has the wrong number of coordinates.
    #[error("the point has {got} coordinates, the domain has {expected}")]
    WrongDimension {
        /// Coordinates of the domain.
        expected: usize,
        /// Coordinates of the point.
        got: usize,
    },
    /// A coordinate is outside the unit interval.
    #[error("coordinate {index} is {value}; encoded coordinates lie between 0 and 1")]
    OutsideCube {
        /// Which coordinate.
        index: usize,
        /// Its value.
        value: f64,
    },
}

fn did_you_mean(nearest: &Option<String>, otherwise: &str) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => otherwise.to_owned(),
    }
}

fn listed(choices: &[Value]) -> String {
    choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ")
}

/// `a`, `b` and `c`.
fn backticked(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_was_wrong_and_what_to_do() {
        let unknown = |nearest: Option<&str>| SpaceError::UnknownChoice {
            name: "solver".into(),
            value: "adm".into(),
            choices: vec!["sgd".into(), "adam".into()],
            nearest: nearest.map(str::to_owned),
        };
        assert_eq!(
            unknown(Some("adam")).to_string(),
            "parameter `solver`: `adm` is not one of its choices; did you mean `adam`?"
        );
        assert_eq!(
            unknown(None).to_string(),
            "parameter `solver`: `adm` is not one of its choices; choose from `sgd`, `adam`"
        );
    }
}
