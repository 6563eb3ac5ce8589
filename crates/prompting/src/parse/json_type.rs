//! Strict validation of JSON without building a tree.

use switchboard_json::{Scalar, TreeReader, read_tree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonType {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// Validates a JSON text and returns its type.
pub(super) fn check_json(text: &str) -> Result<JsonType, serde_json::Error> {
    // `serde_json` also rejects numbers out of range, unpaired surrogates and deep nesting, which
    // a scan of the syntax alone would let through to the server.
    let mut from = serde_json::Deserializer::from_str(text);
    let found = read_tree(&mut TypeReader, &mut from)?;
    from.end()?;
    Ok(found)
}

impl JsonType {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

struct TypeReader;

impl TreeReader for TypeReader {
    type Node = JsonType;
    type Members = ();

    fn scalar(&mut self, scalar: Scalar<'_>) -> JsonType {
        match scalar {
            Scalar::Null => JsonType::Null,
            Scalar::Bool(_) => JsonType::Boolean,
            Scalar::Number(_) => JsonType::Number,
            Scalar::Text(_) => JsonType::String,
        }
    }

    fn list(&mut self, _: Vec<JsonType>) -> JsonType {
        JsonType::Array
    }

    fn object(&mut self, (): ()) -> JsonType {
        JsonType::Object
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{JsonType, check_json};

    #[test]
    fn a_text_is_read_exactly_when_a_value_can_be_made_of_it() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let cases = [
            ("null", Some(JsonType::Null)),
            (" true ", Some(JsonType::Boolean)),
            ("-1", Some(JsonType::Number)),
            ("1.5e3", Some(JsonType::Number)),
            ("18446744073709551616", Some(JsonType::Number)),
            ("1e999", None),
            (r#""a\u00e9\n""#, Some(JsonType::String)),
            (r#""\ud800""#, None),
            (r#""\x""#, None),
            ("[1, [], {}]", Some(JsonType::Array)),
            ("[1,]", None),
            (r#"{"a": {"b\t": [null]}, "a": 1}"#, Some(JsonType::Object)),
            ("{a: 1}", None),
            ("{} {}", None),
            ("", None),
            (&deep(127), Some(JsonType::Array)),
            (&deep(128), None),
        ];
        for (text, expected) in cases {
            assert_eq!(check_json(text).ok(), expected, "{text}");
            assert_eq!(serde_json::from_str::<Value>(text).is_ok(), expected.is_some(), "{text}");
        }
    }
}
