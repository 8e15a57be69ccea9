//! How large and how deep what comes with a trial may be.
//!
//! Limits hold for what is stored from now on; what was stored before can be read whatever its size.

use serde_json::Value;

/// Levels of objects and arrays in metrics, the outermost included.
pub const METRICS_DEPTH: usize = 32;

/// Bytes of metrics, written as JSON.
pub const METRICS_BYTES: usize = 1 << 20;

/// Bytes of a note. A reason of a failure and an end of standard error that are longer are cut.
pub const TEXT_BYTES: usize = 1 << 16;

/// Bytes of a record, and so of a whole definition.
pub const RECORD_BYTES: usize = 1 << 24;

/// Whether `value` has more than `levels` levels of objects and arrays.
pub(crate) fn is_deeper(value: &Value, levels: usize) -> bool {
    let is_inner_deeper = |value: &Value| is_deeper(value, levels - 1);
    match value {
        Value::Object(object) => levels == 0 || object.values().any(is_inner_deeper),
        Value::Array(array) => levels == 0 || array.iter().any(is_inner_deeper),
        _ => false,
    }
}

/// The text, or its first [`TEXT_BYTES`] bytes and dots.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES {
        let end = (0..=TEXT_BYTES).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn levels_are_counted_in_objects_and_arrays() {
        for (value, depth) in
            [(json!(1), 0), (json!([]), 1), (json!({ "a": [1] }), 2), (json!([1, { "a": {} }, 2]), 3)]
        {
            assert!(!is_deeper(&value, depth), "{value}");
            assert!(depth == 0 || is_deeper(&value, depth - 1), "{value}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("short".to_owned()), "short");
        let cut = cut(format!("x{}", "é".repeat(TEXT_BYTES)));
        assert!(cut.len() <= TEXT_BYTES + 3 && cut.ends_with("é..."));
    }
}
