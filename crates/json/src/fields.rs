//! JSON objects as their fields in order, every value still as it was written.

use std::fmt;
use std::fmt::Write;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Deeper values are printed as they were written.
const MAX_DEPTH: usize = 64;

/// The fields of an object, in the order in which they were written.
#[derive(Debug, Default)]
pub struct RawFields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> RawFields<'a> {
    /// None if the text is not an object.
    pub fn parse(value: &'a RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// The field of that name; of several the last one, as nearly every reader does.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    /// Returns the member as a string, if it is one.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text)
    }

    /// The object without one field, laid out over several lines.
    pub fn pretty_without(&self, left_out: &str) -> String {
        let mut out = String::new();
        let kept = self.0.iter().filter(|(key, _)| key != left_out);
        write_object(&mut out, kept.map(|(key, value)| (key.as_str(), *value)), 0);
        out
    }
}

/// The text of a JSON string, or none if the value is something else.
pub fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Any value laid out over several lines.
pub fn pretty(value: &RawValue) -> String {
    let mut out = String::new();
    write_value(&mut out, value, 0);
    out
}

fn write_value(out: &mut String, value: &RawValue, depth: usize) {
    if depth < MAX_DEPTH {
        if let Some(fields) = RawFields::parse(value) {
            write_object(out, fields.0.iter().map(|(key, value)| (key.as_str(), *value)), depth);
            return;
        }
        if let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(value.get()) {
            write_array(out, &values, depth);
            return;
        }
        if let Some(text) = text(value) {
            out.push_str(&to_json_string(&text));
            return;
        }
    }
    out.push_str(value.get());
}

fn write_object<'a>(
    out: &mut String,
    fields: impl Iterator<Item = (&'a str, &'a RawValue)>,
    depth: usize,
) {
    out.push('{');
    let mut empty = true;
    for (key, value) in fields {
        out.push_str(if empty { "\n" } else { ",\n" });
        empty = false;
        // Writing to a string cannot fail.
        let _ok = write!(out, "{}{}: ", "  ".repeat(depth + 1), to_json_string(key));
        write_value(out, value, depth + 1);
    }
    write_end(out, empty, depth, '}');
}

fn write_array(out: &mut String, values: &[&RawValue], depth: usize) {
    out.push('[');
    for (index, value) in values.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        write_value(out, value, depth + 1);
    }
    write_end(out, values.is_empty(), depth, ']');
}

fn write_end(out: &mut String, empty: bool, depth: usize, bracket: char) {
    if !empty {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
    out.push(bracket);
}

fn to_json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawFieldsVisitor;
        impl<'de> Visitor<'de> for RawFieldsVisitor {
            type Value = RawFields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RawFields<'de>, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(RawFields(fields))
            }
        }
        deserializer.deserialize_map(RawFieldsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn values_keep_their_order_and_their_digits() {
        let value = raw(
            r#"{"b":1.0e+2,"a":[{"x":null},[],{}],"c":"\u00e9\n","b2":12345678901234567890123}"#,
        );
        let expected = "{\n  \"b\": 1.0e+2,\n  \"a\": [\n    {\n      \"x\": null\n    },\n    [],\n    {}\n  ],\n  \"c\": \"é\\n\",\n  \"b2\": 12345678901234567890123\n}";
        assert_eq!(pretty(&value), expected);
    }

    #[test]
    fn of_two_fields_with_one_name_the_last_counts() {
        let value = raw(r#"{"a":1,"a":2}"#);
        let fields = RawFields::parse(&value).unwrap();
        assert_eq!(fields.get("a").map(RawValue::get), Some("2"));
    }

    #[test]
    fn a_very_deep_value_is_printed_as_it_is() {
        let text = format!("{}{}", "[".repeat(120), "]".repeat(120));
        assert!(pretty(&raw(&text)).contains(&"[".repeat(56)));
    }
}
