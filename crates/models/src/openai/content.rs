//! Parses the content of a delta, which is a string or a list of parts.

use serde_json::Value;

#[derive(Debug, Default, PartialEq)]
pub(super) struct DeltaContent {
    pub(super) text: String,
    pub(super) thinking: String,
}

/// Parses content, without parts that are neither text nor thinking.
pub(super) fn content(value: Option<&Value>) -> DeltaContent {
    let mut out = DeltaContent::default();
    match value {
        Some(Value::String(text)) => out.text.clone_from(text),
        Some(Value::Array(parts)) => {
            for part in parts {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
                if kind == "thinking" {
                    out.thinking.push_str(&flatten(part.get("thinking")));
                } else {
                    out.text.push_str(&flatten(part.get("text")));
                }
            }
        }
        _ => {}
    }
    out
}

/// Returns a string, or the concatenated strings of a list of parts.
fn flatten(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn content_is_a_string_or_a_list_of_parts() {
        let parts = json!([
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "yes"},
            {"type": "reference", "ids": [1]},
        ]);
        for (value, text, thinking) in [
            (json!("yes"), "yes", ""),
            (parts, "yes", "hm"),
            (json!(null), "", ""),
            (json!(7), "", ""),
        ] {
            let expected = DeltaContent { text: text.to_owned(), thinking: thinking.to_owned() };
            assert_eq!(content(Some(&value)), expected, "{value}");
        }
    }
}
