//! Values of parameters as people type them: `name=value` words.

use anyhow::bail;
use optimist::space::{Assignment, Kind, Space, Value};

/// What the words say, not checked: a value that its parameter cannot have stays a word.
pub fn read_pairs(pairs: &[String], space: &Space) -> anyhow::Result<Assignment> {
    let mut given = Assignment::default();
    for pair in pairs {
        let Some((name, word)) = pair.split_once('=') else {
            bail!("expected name=value for each parameter, or one JSON object, got `{pair}`");
        };
        if given.get(name).is_some() {
            bail!("parameter `{name}` is given twice; drop one of the two");
        }
        let kind = space.get(name).map(|parameter| &parameter.kind);
        given.insert(name, kind.and_then(|kind| value(kind, word)).unwrap_or_else(|| word.into()));
    }
    Ok(given)
}

/// What `word` means for a parameter of this kind; `None` if it means nothing.
fn value(kind: &Kind, word: &str) -> Option<Value> {
    match kind {
        Kind::Float { .. } => word.parse().ok().map(Value::Float),
        Kind::Int { .. } => word.parse().ok().map(Value::Int).or_else(|| word.parse().ok().map(Value::Float)),
        Kind::Bool => word.parse().ok().map(Value::Bool),
        Kind::Categorical { choices } => choices.iter().find(|choice| choice.to_string() == word).cloned(),
    }
}
