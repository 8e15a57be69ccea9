//! A point as text to copy and paste: JSON, TOML, Python.

use optimist::space::{Assignment, Value};

/// The point in each format, with the format's name.
pub fn all(params: &Assignment) -> [(&'static str, String); 3] {
    [("JSON", json(params)), ("TOML", toml(params)), ("Python", python(params))]
}

fn json(params: &Assignment) -> String {
    serde_json::to_string_pretty(params).unwrap_or_default()
}

fn toml(params: &Assignment) -> String {
    params.iter().map(|(name, value)| format!("{} = {}\n", toml_key(name), toml_value(value))).collect()
}

/// A dictionary, which can be passed as `**params`.
fn python(params: &Assignment) -> String {
    let rows: String = params
        .iter()
        .map(|(name, value)| format!("    {}: {},\n", quoted(name), python_value(value)))
        .collect();
    format!("params = {{\n{rows}}}\n")
}

fn toml_key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_bare { name.to_owned() } else { quoted(name) }
}

fn toml_value(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        other => other.to_string(),
    }
}

fn python_value(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

/// A quoted string that JSON, TOML and Python all read.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_reads_the_same_point() {
        let mut params = Assignment::default();
        params.insert("rate", 1e-7);
        params.insert("deep\"er", 3_i64);
        params.insert("flag", true);
        params.insert("gas", "dry \\ air\n");
        let [(_, json), (_, toml), (_, python)] = all(&params);
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        let table: toml::Table = toml.parse().unwrap();
        for (key, value) in read.as_object().unwrap() {
            assert_eq!(serde_json::to_value(&table[key]).unwrap(), *value, "{key}");
        }
        assert!(python.contains("    \"flag\": True,\n    \"gas\": \"dry \\\\ air\\n\",\n"), "{python}");
    }
}
