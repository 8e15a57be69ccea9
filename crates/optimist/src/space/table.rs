//! How a space is stored and sent: `{"parameters": [{"name": "lr", "type": "float", "low": 1e-5, "high": 1.0}]}`, with
//! `"constraints": ["a + b <= 1"]` where there are any. What is read is checked like any other space.

use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use super::{Constraint, Parameter, Space};

#[derive(serde::Serialize, serde::Deserialize)]
struct SpaceTable<P> {
    parameters: P,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<String>,
}

impl Serialize for Space {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let constraints = self.constraints().iter().map(Constraint::to_string).collect();
        SpaceTable { parameters: self.parameters(), constraints }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Space {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Space, D::Error> {
        let SpaceTable { parameters, constraints } = SpaceTable::<Vec<Parameter>>::deserialize(deserializer)?;
        let constraints: Result<Vec<Constraint>, _> = constraints.iter().map(|text| text.parse()).collect();
        let space = Space::new(parameters).and_then(|space| space.with_constraints(constraints?));
        space.map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Kind;

    #[test]
    fn a_space_is_read_as_it_was_written() {
        let choices = vec!["sgd".into(), 3.into(), 0.1.into(), true.into()];
        let space = Space::new(vec![
            Parameter::new("solver", Kind::Categorical { choices }),
            Parameter::new("lr", Kind::Float { low: 0.1 + 0.2, high: 1.0, log: true, step: None })
                .when("solver", "sgd"),
            Parameter::new("n", Kind::Int { low: 1, high: i64::MAX, log: false, step: Some(2) }),
            Parameter::new("flag", Kind::Bool),
            Parameter::new("a b", Kind::Float { low: 0.0, high: 1.0, log: false, step: None }),
        ])
        .and_then(|space| space.with_constraints(["0.3*`a b` <= 0.1".parse()?, "`a b` >= 0.25".parse()?]))
        .unwrap();
        let text = serde_json::to_string(&space).unwrap();
        assert_eq!(serde_json::from_str::<Space>(&text).unwrap(), space, "{text}");
        assert!(text.contains(r#"{"name":"flag","type":"bool"}"#), "{text}");
    }

    #[test]
    fn a_space_that_cannot_be_searched_is_not_read() {
        let text = r#"{"parameters": [{"name": "lr", "type": "float", "low": 2.0, "high": 1.0}]}"#;
        let error = serde_json::from_str::<Space>(text).unwrap_err().to_string();
        assert!(error.contains("swap the bounds"), "{error}");
    }
}
