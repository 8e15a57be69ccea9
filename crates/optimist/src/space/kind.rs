//! The values a parameter may take, and their levels: the index of each among them.

use super::Value;
use crate::error::SpaceError;
use crate::spelling;

/// The values a parameter may take.
///
/// With a `step` they are `low`, `low + step`, … up to the last that is not above `high`. `low ==
/// high` is a constant. A log scale spreads the *ratios* of values evenly and needs `low > 0`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Kind {
    /// Real numbers from `low` to `high`, both included.
    Float {
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
        /// Whether values are spread on a log scale.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        log: bool,
        /// The distance between neighbouring values; `None` for a continuum.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<f64>,
    },
    /// Whole numbers from `low` to `high`, both included.
    Int {
        /// The smallest value.
        low: i64,
        /// The largest value.
        high: i64,
        /// Whether values are spread on a log scale.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        log: bool,
        /// The distance between neighbouring values; 1 if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
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
            Kind::Float { low, high, step: Some(step), .. } => {
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
            Kind::Float { low, step, .. } => {
                let last = self.last_level()?;
                let value = value.as_f64()?;
                let step = step.unwrap_or(f64::MIN_POSITIVE); // a constant: level 0 or none
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

    /// The smallest value of a number, and how far it is from there to the largest.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let last = self.last_level().map(|level| level as f64);
        match *self {
            Kind::Float { low, high, step, .. } => {
                Some((low, last.map_or(high - low, |last| last * step.unwrap_or(0.0))))
            }
            Kind::Int { low, step, .. } => Some((low as f64, last? * step.unwrap_or(1) as f64)),
            Kind::Bool | Kind::Categorical { .. } => None,
        }
    }

    /// Whether a parameter of this kind has any value at all.
    pub(super) fn validate(&self, name: &str) -> Result<(), SpaceError> {
        let validate_finite = |what, value: f64| match value.is_finite() {
            true => Ok(()),
            false => Err(SpaceError::NotFinite { name: name.to_owned(), what, value }),
        };
        let bad_step = |step, least| Err(SpaceError::BadStep { name: name.to_owned(), step, least });
        match *self {
            Kind::Float { low, high, log, step } => {
                validate_finite("low", low)?;
                validate_finite("high", high)?;
                validate_bounds(name, low, high, log)?;
                if !(high - low).is_finite() {
                    return Err(SpaceError::TooWide { name: name.to_owned(), low, high });
                }
                let finest = f64::MIN_POSITIVE.max(FINEST_STEP * low.abs().max(high.abs()));
                match step {
                    Some(step) if !step.is_finite() || step < finest => bad_step(step.into(), finest.into()),
                    _ => Ok(()),
                }
            }
            Kind::Int { low, high, log, step } => {
                validate_bounds(name, low, high, log)?;
                match step {
                    Some(step) if step < 1 => bad_step(step.into(), Value::Int(1)),
                    _ => Ok(()),
                }
            }
            Kind::Bool => Ok(()),
            Kind::Categorical { ref choices } => {
                if choices.is_empty() {
                    return Err(SpaceError::NoChoices { name: name.to_owned() });
                }
                for (idx, choice) in choices.iter().enumerate() {
                    validate_finite("choice", choice.as_f64().unwrap_or(0.0))?;
                    if choices[..idx].contains(choice) {
                        let (name, choice) = (name.to_owned(), choice.clone());
                        return Err(SpaceError::DuplicateChoice { name, choice });
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether `value` is one of the values.
    pub(super) fn check(&self, name: &str, value: &Value) -> Result<(), SpaceError> {
        let name = name.to_owned();
        if self.level_of(value).is_some() {
            return Ok(());
        }
        let value = value.clone();
        match *self {
            Kind::Float { low, high, step, .. } => match (value.as_f64(), step) {
                (None, _) => Err(SpaceError::WrongType { name, expected: "a number", got: value }),
                (Some(v), _) if v.is_nan() => Err(SpaceError::NotFinite { name, what: "value", value: v }),
                (Some(v), _) if !(low..=high).contains(&v) => {
                    Err(SpaceError::OutOfRange { name, value, low: low.into(), high: high.into() })
                }
                (_, Some(step)) => {
                    Err(SpaceError::OffStep { name, value, low: low.into(), step: step.into() })
                }
                (_, None) => Ok(()),
            },
            Kind::Int { low, high, step, .. } => match value.as_i64() {
                None => Err(SpaceError::WrongType { name, expected: "a whole number", got: value }),
                Some(v) if !(low..=high).contains(&v) => {
                    Err(SpaceError::OutOfRange { name, value, low: low.into(), high: high.into() })
                }
                Some(_) => {
                    let step = step.unwrap_or(1).into();
                    Err(SpaceError::OffStep { name, value, low: low.into(), step })
                }
            },
            Kind::Bool => Err(SpaceError::WrongType { name, expected: "true or false", got: value }),
            Kind::Categorical { ref choices } => {
                let texts: Vec<String> = choices.iter().map(Value::to_string).collect();
                let nearest = spelling::nearest(&value.to_string(), texts.iter().map(String::as_str));
                let nearest = nearest.map(str::to_owned);
                Err(SpaceError::UnknownChoice { name, value, choices: choices.clone(), nearest })
            }
        }
    }
}

/// `low + k * step` as in decimal arithmetic: 3 steps of 0.1 are 0.3, not 0.30000000000000004.
fn stepped(low: f64, k: f64, step: f64) -> f64 {
    fn decimals(x: f64) -> usize {
        x.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
    }
    let places = decimals(low).max(decimals(step));
    let value = low + k * step;
    let rounded = format!("{value:.places$}").parse().unwrap_or(value);
    rounded + 0.0 // turns -0.0 into 0.0
}

/// Bounds in order, and above zero where their log is taken.
fn validate_bounds<T>(name: &str, low: T, high: T, log: bool) -> Result<(), SpaceError>
where
    T: Copy + PartialOrd + Default + Into<Value>,
{
    let zero = T::default();
    if low > high {
        Err(SpaceError::EmptyRange { name: name.to_owned(), low: low.into(), high: high.into() })
    } else if log && low <= zero {
        Err(SpaceError::LogOfNonPositive { name: name.to_owned(), low: low.into() })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(low: f64, high: f64, step: f64) -> Kind {
        Kind::Float { low, high, log: false, step: Some(step) }
    }

    fn int(low: i64, high: i64, step: Option<i64>) -> Kind {
        Kind::Int { low, high, log: false, step }
    }

    fn values(kind: &Kind) -> Vec<f64> {
        (0..=kind.last_level().unwrap()).map(|level| kind.value_at(level).as_f64().unwrap()).collect()
    }

    #[test]
    fn steps_are_taken_in_decimals() {
        assert_eq!(values(&float(0.0, 0.5, 0.1)), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(values(&float(-0.1, 0.2, 0.1)), [-0.1, 0.0, 0.1, 0.2]);
        assert_eq!(values(&float(1e-7, 4e-7, 1e-7)), [1e-7, 2e-7, 3e-7, 4e-7]);
        assert_eq!(values(&float(0.0, 1.0, 1.0 / 3.0)).len(), 4);
    }

    #[test]
    fn steps_end_at_the_last_value_that_is_not_above_high() {
        assert_eq!(values(&float(0.0, 1.0, 0.3)), [0.0, 0.3, 0.6, 0.9]);
        assert_eq!(values(&float(0.1, 0.7, 0.2)), [0.1, 0.3, 0.5, 0.7]); // 0.6 / 0.2 < 3 in binary
        assert_eq!(values(&float(2.0, 3.0, 5.0)), [2.0]);
        assert_eq!(values(&int(1, 9, Some(3))), [1.0, 4.0, 7.0]);
    }

    #[test]
    fn a_step_computed_in_binary_still_finds_its_level() {
        let kind = float(0.1, 0.7, 0.2);
        assert_eq!(kind.level_of(&Value::Float(0.1 + 0.2)), Some(1)); // 0.30000000000000004
        assert_eq!(kind.level_of(&Value::Float(0.7 + 1e-16)), Some(3));
        assert_eq!(kind.level_of(&Value::Float(0.31)), None);
        assert_eq!(kind.level_of(&Value::Float(0.9)), None);
    }

    #[test]
    fn the_widest_integers_do_not_overflow() {
        let kind = int(i64::MIN, i64::MAX, None);
        assert_eq!(kind.level_of(&Value::Int(i64::MAX)), kind.last_level());
        assert_eq!(kind.value_at(usize::MAX), Value::Int(i64::MAX));
        assert_eq!(kind.value_at(0), Value::Int(i64::MIN));
        let kind = int(i64::MIN, i64::MAX, Some(i64::MAX));
        assert_eq!((kind.last_level(), kind.value_at(2)), (Some(2), Value::Int(i64::MAX - 1)));
    }

    #[test]
    fn numbers_may_be_written_as_either_type() {
        assert_eq!(int(0, 9, None).level_of(&Value::Float(3.0)), Some(3));
        assert_eq!(float(0.0, 9.0, 1.0).level_of(&Value::Int(3)), Some(3));
        assert_eq!(int(0, 9, None).level_of(&Value::Float(3.5)), None);
    }

    #[test]
    fn steps_too_fine_for_their_bounds_are_refused() {
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-5] {
            let refused = float(1e9, 1e9 + 1.0, step).validate("x");
            assert!(matches!(refused, Err(SpaceError::BadStep { .. })), "{step}: {refused:?}");
        }
        assert_eq!(float(1e9, 1e9 + 1.0, 0.01).validate("x"), Ok(()));
        assert!(matches!(int(0, 9, Some(0)).validate("x"), Err(SpaceError::BadStep { .. })));
    }
}
