//! The errors that users of this crate meet.

use crate::method::Method;
use crate::schedule::ScheduleError;
use crate::space::Value;

/// A search space that cannot be searched, or an assignment that is not one of its points.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// A space without parameters.
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
        /// The name of the parameter.
        name: String,
        /// Which of its numbers: `low`, `high`, `choice` or `value`.
        what: &'static str,
        /// The offending number.
        value: f64,
    },
    /// The lower bound is above the upper.
    #[error("parameter `{name}`: low {low} is above high {high}; swap the bounds")]
    EmptyRange {
        /// The name of the parameter.
        name: String,
        /// Its lower bound.
        low: Value,
        /// Its upper bound.
        high: Value,
    },
    /// The width of the range is not a number.
    #[error("parameter `{name}`: the distance from low {low:e} to high {high:e} overflows; narrow the range")]
    TooWide {
        /// The name of the parameter.
        name: String,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
    },
    /// A log scale reaches zero.
    #[error("parameter `{name}`: a log scale needs low > 0, got {low}; raise low, or drop `log`")]
    LogOfNonPositive {
        /// The name of the parameter.
        name: String,
        /// Its lower bound.
        low: Value,
    },
    /// A step that is not finite, or too small for the bounds.
    #[error(
        "parameter `{name}`: step {step} must be finite and at least {least} for these bounds; \
         choose a larger one, or drop `step`"
    )]
    BadStep {
        /// The name of the parameter.
        name: String,
        /// The step it was given.
        step: Value,
        /// The smallest step whose values can be told apart.
        least: Value,
    },
    /// A categorical parameter without a value.
    #[error("parameter `{name}` has no choices; list at least one")]
    NoChoices {
        /// The name of the parameter.
        name: String,
    },
    /// A choice listed twice; 1 and 1.0 are the same.
    #[error("parameter `{name}`: choice `{choice}` is listed twice; remove one of the two")]
    DuplicateChoice {
        /// The name of the parameter.
        name: String,
        /// The repeated choice.
        choice: Value,
    },
    /// A condition on a parameter that does not exist.
    #[error(
        "parameter `{name}` depends on `{parameter}`, which is not declared{}",
        did_you_mean(nearest, "; declare it, or drop the condition")
    )]
    ConditionUnknown {
        /// The conditional parameter.
        name: String,
        /// The parameter it depends on.
        parameter: String,
        /// The declared name with the most similar spelling.
        nearest: Option<String>,
    },
    /// A condition on a parameter that takes any one value with probability 0.
    #[error(
        "parameter `{name}` depends on a value of `{parameter}`, which is continuous; \
         give `{parameter}` a step, or drop the condition"
    )]
    ConditionOnContinuum {
        /// The conditional parameter.
        name: String,
        /// The continuous parameter it depends on.
        parameter: String,
    },
    /// A condition on a value that its parameter cannot have.
    #[error(
        "parameter `{name}` depends on `{parameter}` = {value}, which `{parameter}` can never be; \
         use one of its values"
    )]
    ConditionImpossible {
        /// The conditional parameter.
        name: String,
        /// The parameter it depends on.
        parameter: String,
        /// The impossible value.
        value: Value,
    },
    /// Conditions that contradict each other, counting those of the parameters depended on.
    #[error(
        "parameter `{name}` can never be active: it depends on both `{parameter}` = {} and `{parameter}` = {}; drop one",
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
    /// A parameter that depends on itself through its conditions.
    #[error("parameter `{name}` depends on itself through its conditions; drop one of them")]
    ConditionCycle {
        /// A parameter of the cycle.
        name: String,
    },
    /// A value for a parameter that does not exist.
    #[error("parameter `{name}` is not in the space{}", did_you_mean(nearest, "; leave it out"))]
    UnknownParameter {
        /// The unknown name.
        name: String,
        /// The declared name with the most similar spelling.
        nearest: Option<String>,
    },
    /// An active parameter without a value.
    #[error("parameter `{name}` has no value; give it one")]
    MissingValue {
        /// The name of the parameter.
        name: String,
    },
    /// A value for a parameter that is not active.
    #[error("parameter `{name}` is active only when `{parameter}` = {value}; leave it out")]
    InactiveValue {
        /// The inactive parameter.
        name: String,
        /// The parameter it depends on.
        parameter: String,
        /// The value it depends on.
        value: Value,
    },
    /// A value of another type than the parameter's.
    #[error("parameter `{name}` must be {expected}, got `{got}`")]
    WrongType {
        /// The name of the parameter.
        name: String,
        /// What its values are.
        expected: &'static str,
        /// The offending value.
        got: Value,
    },
    /// A value beyond the bounds.
    #[error("parameter `{name}`: {value} is outside its range; give a value from {low} to {high}")]
    OutOfRange {
        /// The name of the parameter.
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
        /// The name of the parameter.
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
        /// The name of the parameter.
        name: String,
        /// The offending value.
        value: Value,
        /// The choices there are.
        choices: Vec<Value>,
        /// The choice with the most similar spelling.
        nearest: Option<String>,
    },
    /// A constraint that cannot be understood.
    #[error("constraint `{constraint}`: {problem}")]
    ConstraintSyntax {
        /// The constraint, as it was written.
        constraint: String,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A constraint on a parameter that does not exist.
    #[error(
        "constraint `{constraint}`: there is no parameter `{name}`{}",
        did_you_mean(
            nearest,
            "; declare it, or, if its name has characters other than letters, digits and `_`, put it in backticks"
        )
    )]
    ConstraintUnknown {
        /// The constraint, as it is displayed.
        constraint: String,
        /// The unknown name.
        name: String,
        /// The declared name with the most similar spelling.
        nearest: Option<String>,
    },
    /// A constraint on a parameter that cannot be part of one.
    #[error("constraint `{constraint}`: `{name}` {reason}")]
    ConstraintUnfit {
        /// The constraint, as it is displayed.
        constraint: String,
        /// The name of the parameter.
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
        /// The constraints, one of which has to give way.
        constraints: Vec<String>,
        /// Whether there are values that satisfy them between the steps.
        on_steps: bool,
    },
    /// Values that a constraint excludes.
    #[error("constraint `{constraint}` does not hold: {left} is {value}; change one of these values")]
    ConstraintViolated {
        /// The constraint, as it is displayed.
        constraint: String,
        /// Its left side.
        left: String,
        /// The value of the left side.
        value: f64,
    },
}

/// An optimizer that can't be built.
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
        /// The name with the most similar spelling.
        nearest: Option<String>,
    },
    /// A word that names an optimizer, followed by settings that it doesn't have.
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
    /// An optimizer that doesn't support these goals.
    #[error("optimizer `{name}` {problem}")]
    Unable {
        /// The name of the optimizer.
        name: String,
        /// What it doesn't support, and what does.
        problem: &'static str,
    },
    /// λ or β_t cannot be computed.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// A run without a result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The number of trials is 0.
    #[error("trials is 0; allow at least 1")]
    NoTrials,
    /// Every trial failed.
    #[error(
        "got no finite value from {}; check the function and the bounds of the space",
        counted(*trials, "trial")
    )]
    NoValue {
        /// How many trials there were.
        trials: usize,
    },
    /// The optimizer could not be built.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// An outcome was not valid.
    #[error(transparent)]
    Tell(#[from] TellError),
}

/// A result that is not valid.
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
    #[error("got {}, expected {expected}; tell one for each goal, in their order", counted(*got, "outcome"))]
    WrongOutcomes {
        /// How many goals there are.
        expected: usize,
        /// How many outcomes were told.
        got: usize,
    },
    /// The point has the wrong number of coordinates.
    #[error(
        "the point has {}, expected {expected}; give one for each column of the domain",
        counted(*got, "coordinate")
    )]
    WrongDimension {
        /// Coordinates of the domain.
        expected: usize,
        /// Coordinates of the point.
        got: usize,
    },
    /// A coordinate is outside the unit interval.
    #[error("coordinate {index} is {value}; encoded coordinates must be between 0 and 1")]
    OutsideCube {
        /// The index of the coordinate, from 0.
        index: usize,
        /// The value of the coordinate.
        value: f64,
    },
}

fn did_you_mean(nearest: &Option<String>, otherwise: &str) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => otherwise.to_owned(),
    }
}

/// `1 trial`, `2 trials`.
fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
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
    fn counts_in_messages_agree_with_their_nouns() {
        let message = |got| TellError::WrongOutcomes { expected: 2, got }.to_string();
        assert_eq!(message(1), "got 1 outcome, expected 2; tell one for each goal, in their order");
        assert_eq!(message(3), "got 3 outcomes, expected 2; tell one for each goal, in their order");
    }

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
