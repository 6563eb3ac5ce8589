//! Converts between JSON and protobuf's `Struct`.

use std::collections::BTreeMap;

use prost_types::value::Kind;
use prost_types::{ListValue, Struct};
use serde_json::{Map, Number, Value};

/// 2^53, up to which a double represents every integer exactly.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Converts a JSON object. Integers beyond 2^53 lose precision.
pub(crate) fn to_struct(members: &Map<String, Value>) -> Struct {
    let fields = members.iter().map(|(name, value)| (name.clone(), to_value(value)));
    Struct { fields: fields.collect() }
}

/// Parses a JSON object; `None` if the text is not one.
pub(crate) fn parse_struct(text: &str) -> Option<Struct> {
    serde_json::from_str(text).ok().as_ref().map(to_struct)
}

fn to_value(value: &Value) -> prost_types::Value {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(is) => Kind::BoolValue(*is),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(items) => {
            Kind::ListValue(ListValue { values: items.iter().map(to_value).collect() })
        }
        Value::Object(members) => Kind::StructValue(to_struct(members)),
    };
    prost_types::Value { kind: Some(kind) }
}

pub(crate) fn from_struct(object: Struct) -> Map<String, Value> {
    from_fields(object.fields)
}

pub(crate) fn from_fields(
    fields: impl IntoIterator<Item = (String, prost_types::Value)>,
) -> Map<String, Value> {
    // Sorted by name, because a protobuf map has no order.
    let sorted: BTreeMap<String, prost_types::Value> = fields.into_iter().collect();
    sorted.into_iter().map(|(name, value)| (name, from_value(value))).collect()
}

fn from_value(value: prost_types::Value) -> Value {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(is)) => Value::Bool(is),
        Some(Kind::NumberValue(number)) => from_number(number),
        Some(Kind::StringValue(text)) => Value::String(text),
        Some(Kind::ListValue(list)) => list.values.into_iter().map(from_value).collect(),
        Some(Kind::StructValue(object)) => Value::Object(from_struct(object)),
    }
}

/// Converts integral doubles to JSON integers, which schemas require.
fn from_number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() <= MAX_EXACT_INTEGER {
        #[expect(clippy::cast_possible_truncation, reason = "the number is whole and within 2^53")]
        let whole = number as i64;
        return Value::from(whole);
    }
    // JSON has no NaN or infinity.
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// Returns the members of a JSON object as strings; other values as JSON text.
pub(crate) fn string_members(object: Option<&str>) -> std::collections::HashMap<String, String> {
    let members: Map<String, Value> =
        object.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    members.into_iter().map(|(name, value)| (name, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_json_has_comes_back_as_it_was() {
        let given = json!({
            "a": [1, -2, 2.5, "x", null, true, {"b": []}],
            "large": 9_007_199_254_740_991_i64,
            "": {},
        });
        let Value::Object(members) = &given else { panic!("{given}") };
        assert_eq!(Value::Object(from_struct(to_struct(members))), given);
    }

    #[test]
    fn numbers_that_json_does_not_know_become_nothing() {
        let number = |number| prost_types::Value { kind: Some(Kind::NumberValue(number)) };
        let given = [f64::NAN, f64::INFINITY, 1e300, 3.0].map(|value| from_value(number(value)));
        assert_eq!(given, [Value::Null, Value::Null, json!(1e300), json!(3)]);
        assert_eq!(from_value(prost_types::Value { kind: None }), Value::Null);
    }

    #[test]
    fn annotations_are_texts() {
        let texts = string_members(Some(r#"{"audience":["user"],"priority":0.5,"note":"x"}"#));
        let expected = [("audience", "[\"user\"]"), ("priority", "0.5"), ("note", "x")];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(texts, expected.into_iter().collect());
        assert_eq!(string_members(Some("[]")).len() + string_members(None).len(), 0);
    }
}
