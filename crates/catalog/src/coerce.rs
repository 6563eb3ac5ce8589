//! Converts text typed for a parameter into the value that its schema requires.

use serde_json::{Number, Value};

// Nested alternatives can multiply, and a server writes the schema.
const MAX_DEPTH: usize = 8;

/// Converts text such as the right side of `days=3` into a value.
///
/// With a schema, the first listed type that the text parses as wins. Text that matches no type
/// stays a string, so that validation can report it. Without a schema, text that parses as a JSON
/// number, boolean, null, object or array becomes that value.
#[must_use]
pub fn value_from_text(text: &str, schema_of_parameter: Option<&Value>) -> Value {
    match schema_of_parameter.filter(|schema| !is_unconstrained(schema)) {
        Some(schema) => coerce_to_schema(text, schema, MAX_DEPTH)
            .unwrap_or_else(|| fallback_value(text, schema)),
        None => guess_value(text),
    }
}

/// Returns the value for text that matches no type of the schema.
fn fallback_value(text: &str, schema: &Value) -> Value {
    // `1.5` for an integer stays a number, so that the reported problem is not "got a string".
    let wants_number = schema.get("type").is_some_and(|name| name == "integer");
    let found = number(text).filter(|_| wants_number).map(Value::Number);
    found.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn coerce_to_schema(text: &str, schema: &Value, depth: usize) -> Option<Value> {
    let below = depth.checked_sub(1)?;
    if let Some(Value::Array(options)) = schema.get("enum") {
        return matching_option(text, options);
    }
    if let Some(value) = schema.get("const") {
        return matching_option(text, std::slice::from_ref(value));
    }
    match schema.get("type") {
        Some(Value::String(name)) => return coerce_to_type(text, name),
        Some(Value::Array(names)) => {
            return names
                .iter()
                .filter_map(Value::as_str)
                .find_map(|name| coerce_to_type(text, name));
        }
        _ => {}
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].iter().filter_map(|keyword| schema.get(keyword));
    let mut alternatives = alternatives.filter_map(Value::as_array).flatten();
    alternatives.find_map(|alternative| coerce_to_schema(text, alternative, below)).or_else(|| {
        let implied = [("properties", "object"), ("items", "array")];
        let found = implied.iter().find(|(keyword, _)| schema.get(keyword).is_some());
        found.and_then(|(_, name)| coerce_to_type(text, name))
    })
}

fn is_unconstrained(schema: &Value) -> bool {
    let telling = ["enum", "const", "type", "anyOf", "oneOf", "allOf", "properties", "items"];
    !telling.iter().any(|keyword| schema.get(keyword).is_some())
}

/// Returns the option that equals the text, as a string or as JSON.
fn matching_option(text: &str, options: &[Value]) -> Option<Value> {
    let as_string = options.iter().find(|option| option.as_str() == Some(text));
    let parse = || serde_json::from_str(text).ok().filter(|parsed| options.contains(parsed));
    as_string.cloned().or_else(parse)
}

fn coerce_to_type(text: &str, name: &str) -> Option<Value> {
    match name {
        "string" => Some(Value::String(text.to_owned())),
        "integer" => number(text).filter(is_whole).map(Value::Number),
        "number" => number(text).map(Value::Number),
        "boolean" => text.trim().parse().ok().map(Value::Bool),
        "null" => (text.trim() == "null").then_some(Value::Null),
        "object" => serde_json::from_str(text).ok().filter(Value::is_object),
        "array" => serde_json::from_str(text).ok().filter(Value::is_array),
        _ => None,
    }
}

/// Parses a JSON number.
fn number(text: &str) -> Option<Number> {
    let number: Number = serde_json::from_str(text).ok()?;
    // An integer beyond 64 bits would lose digits as a float, and it is probably an identifier.
    let digits = text.trim().trim_start_matches('-');
    let rounded = number.is_f64() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (!rounded || digits == "0").then_some(number)
}

fn is_whole(number: &Number) -> bool {
    number.as_f64().is_none_or(|value| value.fract() == 0.0)
}

fn guess_value(text: &str) -> Value {
    let names = ["number", "boolean", "null", "object", "array"];
    let value = names.iter().find_map(|name| coerce_to_type(text, name));
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_decides_what_a_text_means() {
        let cases = [
            ("3", json!({"type": "integer"}), json!(3)),
            ("3.0", json!({"type": "integer"}), json!(3.0)),
            ("3.5", json!({"type": "integer"}), json!(3.5)),
            ("three", json!({"type": "integer"}), json!("three")),
            ("18446744073709551616", json!({"type": "integer"}), json!("18446744073709551616")),
            ("0.5", json!({"type": "number"}), json!(0.5)),
            ("true", json!({"type": "boolean"}), json!(true)),
            ("yes", json!({"type": "boolean"}), json!("yes")),
            ("null", json!({"type": "null"}), json!(null)),
            ("3", json!({"type": "string"}), json!("3")),
            ("true", json!({"type": "string"}), json!("true")),
            ("", json!({"type": "string"}), json!("")),
            ("[1, 2]", json!({"type": "array"}), json!([1, 2])),
            ("{\"a\": 1}", json!({"type": "object"}), json!({"a": 1})),
            ("[1]", json!({"type": "object"}), json!("[1]")),
            ("5", json!({"type": ["integer", "string"]}), json!(5)),
            ("five", json!({"type": ["integer", "string"]}), json!("five")),
            ("5", json!({"type": ["string", "integer"]}), json!("5")),
            ("7", json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!(7)),
            ("null", json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!(null)),
            ("x", json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}), json!("x")),
            ("1", json!({"enum": ["1", 1]}), json!("1")),
            ("1", json!({"enum": [1, 2]}), json!(1)),
            ("{}", json!({"properties": {}}), json!({})),
            ("3", json!({"description": "anything"}), json!(3)),
        ];
        for (text, schema, expected) in cases {
            assert_eq!(value_from_text(text, Some(&schema)), expected, "{text} {schema}");
        }
    }

    #[test]
    fn without_a_schema_json_that_is_no_string_is_read_as_json() {
        let cases = [
            ("3", json!(3)),
            ("-0", json!(-0.0)),
            ("1e3", json!(1000.0)),
            ("false", json!(false)),
            ("null", json!(null)),
            ("[1]", json!([1])),
            ("{\"a\":null}", json!({"a": null})),
            ("\"quoted\"", json!("\"quoted\"")),
            ("007", json!("007")),
            ("12345678901234567890123", json!("12345678901234567890123")),
            ("README.md", json!("README.md")),
            ("{broken", json!("{broken")),
            ("", json!("")),
        ];
        for (text, expected) in cases {
            assert_eq!(value_from_text(text, None), expected, "{text}");
        }
    }
}
