//! Reads JSON strictly without keeping any of it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// What a text of JSON is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonType {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// What the text is, if it can be read: its numbers are in range, its strings are whole
/// characters, and it is not too deep.
pub(super) fn check_json(text: &str) -> Result<JsonType, serde_json::Error> {
    serde_json::from_str(text)
}

impl JsonType {
    /// What a person calls it.
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

impl<'de> Deserialize<'de> for JsonType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonTypeVisitor)
    }
}

struct JsonTypeVisitor;

impl<'de> Visitor<'de> for JsonTypeVisitor {
    type Value = JsonType;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<JsonType, E> {
        Ok(JsonType::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<JsonType, E> {
        Ok(JsonType::Boolean)
    }

    fn visit_u64<E>(self, _: u64) -> Result<JsonType, E> {
        Ok(JsonType::Number)
    }

    fn visit_i64<E>(self, _: i64) -> Result<JsonType, E> {
        Ok(JsonType::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<JsonType, E> {
        Ok(JsonType::Number)
    }

    fn visit_str<E>(self, _: &str) -> Result<JsonType, E> {
        Ok(JsonType::String)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonType, A::Error> {
        while items.next_element::<JsonType>()?.is_some() {}
        Ok(JsonType::Array)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<JsonType, A::Error> {
        while members.next_entry::<JsonType, JsonType>()?.is_some() {}
        Ok(JsonType::Object)
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
