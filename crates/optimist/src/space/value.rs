//! Values of parameters, and the assignments of values to names that a trial is run with.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// A value of one parameter. Serialised as the bare value: `0.5`, `3`, `true`, `"relu"`.
///
/// Numbers are equal by value, so `Int(1) == Float(1.0)`: files and other languages do not keep
/// the two apart.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A name among choices.
    Text(String),
}

impl Value {
    /// The number, if it is one. Integers beyond 2^53 are rounded.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::Int(i) => Some(i as f64),
            Value::Float(v) => Some(v),
            Value::Bool(_) | Value::Text(_) => None,
        }
    }

    /// The whole number, if it is one: `Float(3.0)` is, `Float(3.5)` is not.
    pub fn as_i64(&self) -> Option<i64> {
        const BEYOND_I64: f64 = 9_223_372_036_854_775_808.0; // 2^63
        match *self {
            Value::Int(i) => Some(i),
            Value::Float(v) if v.fract() == 0.0 && (-BEYOND_I64..BEYOND_I64).contains(&v) => Some(v as i64),
            Value::Float(_) | Value::Bool(_) | Value::Text(_) => None,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Int(a), b) | (b, Value::Int(a)) => b.as_i64() == Some(*a),
            _ => false,
        }
    }
}

/// Floats keep their point or exponent (`1.0`, `1e-7`), so that they read back as floats.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Float(v) => write!(f, "{v:?}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Value {
        Value::Int(i)
    }
}

impl From<f64> for Value {
    fn from(v: f64) -> Value {
        Value::Float(v)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

/// Reads a bare value by its type. Integers beyond `i64` are read as floats.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        struct Bare;
        impl Visitor<'_> for Bare {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number, true or false")
            }

            fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
                Ok(Value::Bool(b))
            }

            fn visit_i64<E>(self, i: i64) -> Result<Value, E> {
                Ok(Value::Int(i))
            }

            fn visit_u64<E>(self, i: u64) -> Result<Value, E> {
                Ok(i64::try_from(i).map_or(Value::Float(i as f64), Value::Int))
            }

            fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
                Ok(Value::Float(v))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::from(text))
            }
        }
        deserializer.deserialize_any(Bare)
    }
}

/// Values by name: what one trial is run with. Holds the active parameters only.
///
/// Decoded assignments are in the order of declaration. Equality ignores the order.
///
/// ```
/// use optimist::space::{Assignment, Value};
///
/// let assignment = Assignment::from_iter([("lr", Value::Float(0.01)), ("layers", Value::Int(3))]);
/// assert_eq!(assignment.get("layers"), Some(&Value::Int(3)));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Assignment(Vec<(String, Value)>);

impl Assignment {
    /// The value of a parameter; `None` where it is absent, because inactive or unknown.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|&(known, _)| known == name).map(|(_, value)| value)
    }

    /// The number of a parameter that is known to have one.
    ///
    /// # Panics
    /// If it has none; [`Assignment::get`] is for parameters that may be inactive.
    #[track_caller]
    pub fn float(&self, name: &str) -> f64 {
        self.known(name, "number", Value::as_f64)
    }

    /// The whole number of a parameter that is known to have one.
    ///
    /// # Panics
    /// If it has none; [`Assignment::get`] is for parameters that may be inactive.
    #[track_caller]
    pub fn int(&self, name: &str) -> i64 {
        self.known(name, "whole number", Value::as_i64)
    }

    /// The text of a parameter that is known to have one.
    ///
    /// # Panics
    /// If it has none; [`Assignment::get`] is for parameters that may be inactive.
    #[track_caller]
    pub fn text(&self, name: &str) -> &str {
        self.known(name, "text", |value| match value {
            Value::Text(text) => Some(text.as_str()),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => None,
        })
    }

    /// The truth value of a parameter that is known to have one.
    #[track_caller]
    pub fn flag(&self, name: &str) -> bool {
        self.known(name, "truth value", |value| match value {
            Value::Bool(flag) => Some(*flag),
            Value::Int(_) | Value::Float(_) | Value::Text(_) => None,
        })
    }

    #[track_caller]
    fn known<'a, T>(&'a self, name: &str, what: &str, read: impl Fn(&'a Value) -> Option<T>) -> T {
        let Some(value) = self.get(name) else {
            panic!(
                "parameter `{name}` has no value in {{{self}}}; it is inactive, or not a parameter of the space"
            )
        };
        read(value).unwrap_or_else(|| panic!("parameter `{name}` is {value}, which is not a {what}"))
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many parameters have a value.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no parameter has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives `name` a value, in place of the one it has.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some(pair) => pair.1 = value,
            None => self.0.push((name, value)),
        }
    }
}

/// Displayed as `rate=0.01, depth=3`.
impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}={value}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl PartialEq for Assignment {
    fn eq(&self, other: &Assignment) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

/// If a name has two values, the later one counts, as in any map.
impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Assignment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Assignment {
        let mut assignment = Assignment::default();
        for (name, value) in pairs {
            assignment.insert(name, value);
        }
        assignment
    }
}

impl Serialize for Assignment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Assignment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Assignment, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Assignment;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from parameter names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Assignment, A::Error> {
                let mut assignment = Assignment::default();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    assignment.insert(name, value);
                }
                Ok(assignment)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, MapDeserializer};

    use super::*;

    /// What a format would write for `value`: a `Formatter` is a serde format of bare values.
    struct Bare(Value);
    impl fmt::Display for Bare {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.serialize(f)
        }
    }

    #[test]
    fn whole_floats_equal_integers_exactly() {
        assert_eq!(Value::Int(1), Value::Float(1.0));
        assert_eq!(Value::Float(-0.0), Value::Int(0));
        assert_ne!(Value::Int(1), Value::Float(1.5));
        assert_ne!(Value::Int((1 << 53) + 1), Value::Float(9_007_199_254_740_992.0));
        assert_ne!(Value::Int(i64::MAX), Value::Float(i64::MAX as f64)); // 2^63 - 1 against 2^63
        assert_ne!(Value::Int(1), Value::Bool(true));
        assert_ne!(Value::Int(1), Value::from("1"));
    }

    #[test]
    fn values_are_read_as_what_they_look_like() {
        type Deserializer<T> = <T as IntoDeserializer<'static, Error>>::Deserializer;
        fn read<T: IntoDeserializer<'static, Error>>(bare: T) -> Value {
            let deserializer: Deserializer<T> = bare.into_deserializer();
            Value::deserialize(deserializer).unwrap()
        }
        assert!(matches!(read(3_i64), Value::Int(3)));
        assert!(matches!(read(3.0_f64), Value::Float(3.0)));
        assert!(matches!(read(true), Value::Bool(true)));
        assert!(matches!(read("3"), Value::Text(text) if text == "3"));
    }

    #[test]
    fn values_are_written_bare() {
        let written = [Value::Int(3), Value::Float(0.5), Value::Bool(true), "relu".into()];
        assert_eq!(written.map(|value| Bare(value).to_string()), ["3", "0.5", "true", "relu"]);
    }

    #[test]
    fn floats_are_shown_as_floats() {
        let shown = [1.0, 0.25, 1e-7, 1e300].map(|v| Value::Float(v).to_string());
        assert_eq!(shown, ["1.0", "0.25", "1e-7", "1e300"]);
    }

    #[test]
    fn assignments_are_read_from_maps_in_order() {
        let map: MapDeserializer<'_, _, Error> = MapDeserializer::new([("b", 2_i64), ("a", 1)].into_iter());
        let assignment = Assignment::deserialize(map).unwrap();
        assert_eq!(assignment.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(assignment, Assignment::from_iter([("a", 1_i64), ("b", 2)]));
    }

    #[test]
    fn known_values_are_read_by_their_types_and_shown_in_order() {
        let mut params = Assignment::from_iter([("depth", Value::Int(3)), ("form", "round".into())]);
        params.insert("warm", true);
        assert_eq!((params.float("depth"), params.int("depth")), (3.0, 3));
        assert_eq!((params.text("form"), params.flag("warm")), ("round", true));
        assert_eq!(params.to_string(), "depth=3, form=round, warm=true");
    }

    #[test]
    #[should_panic(expected = "parameter `form` is round, which is not a number")]
    fn a_value_of_another_type_is_named() {
        Assignment::from_iter([("form", "round")]).float("form");
    }

    #[test]
    #[should_panic(expected = "parameter `size` has no value in {form=round}")]
    fn a_missing_value_is_named() {
        Assignment::from_iter([("form", "round")]).int("size");
    }

    #[test]
    fn the_later_of_two_values_for_a_name_counts() {
        let assignment = Assignment::from_iter([("a", 1_i64), ("a", 2)]);
        assert_eq!((assignment.len(), assignment.get("a")), (1, Some(&Value::Int(2))));
    }
}
