//! Renders a tool's parameters on one line, for tables.

use std::collections::HashSet;

use serde_json::Value;
use switchboard_json::property_names;
use switchboard_text::{excerpt_text, excerpt_value};

const MAX_LINE_CHARS: usize = 200;
const MAX_NAME_CHARS: usize = 40;
const MAX_TYPE_CHARS: usize = 80;
const MAX_LITERAL_CHARS: usize = 24;
const MAX_OPTIONS: usize = 5;
// Nested alternatives multiply.
const MAX_ALTERNATIVES: usize = 8;
const MAX_DEPTH: usize = 4;

/// Renders the parameters of a schema, required ones first, otherwise in the schema's order:
/// `path: string, limit?: integer = 20, mode?: "a"|"b"`. Empty if the schema cannot be parsed.
#[must_use]
pub fn signature(schema: &str) -> String {
    let Ok(whole) = serde_json::from_str::<Value>(schema) else { return String::new() };
    let names = property_names(schema);
    let listed = whole.get("required").and_then(Value::as_array);
    let listed: HashSet<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    let required = |name: &String| listed.contains(name.as_str());
    let (first, then): (Vec<_>, Vec<_>) = names.iter().partition(|name| required(name));
    let total = names.len();
    let mut line = String::new();
    let mut length = 0;
    for (position, name) in first.iter().chain(&then).enumerate() {
        let schema = whole.get("properties").and_then(|properties| properties.get(name.as_str()));
        let piece = parameter(name, schema.unwrap_or(&Value::Null), required(name), &whole);
        let before = if position == 0 { "" } else { ", " };
        let rest = total - position;
        // Leave room for the number of omitted parameters.
        let room = if rest == 1 { MAX_LINE_CHARS } else { MAX_LINE_CHARS - 16 };
        length += before.len() + piece.chars().count();
        if length > room {
            line.push_str(&format!("{before}… {rest} more"));
            break;
        }
        line.push_str(before);
        line.push_str(&piece);
    }
    line
}

fn parameter(name: &str, schema: &Value, required: bool, whole: &Value) -> String {
    let mark = if required { "" } else { "?" };
    let name = excerpt_text(name, MAX_NAME_CHARS);
    let default = schema.get("default").map(|value| format!(" = {}", literal(value)));
    let default = default.unwrap_or_default();
    let shape = excerpt_text(&type_text(schema, whole, MAX_DEPTH), MAX_TYPE_CHARS);
    format!("{name}{mark}: {shape}{default}")
}

fn type_text(schema: &Value, whole: &Value, depth: usize) -> String {
    let Some(below) = depth.checked_sub(1) else { return "any".to_owned() };
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return join_options(options.iter().take(MAX_ALTERNATIVES).map(literal).collect());
    }
    if let Some(value) = schema.get("const") {
        return literal(value);
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| whole.pointer(pointer));
        return target.map_or_else(|| "any".to_owned(), |target| type_text(target, whole, below));
    }
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array());
    if let Some(alternatives) = alternatives {
        return join_options(
            alternatives
                .iter()
                .take(MAX_ALTERNATIVES)
                .map(|one| type_text(one, whole, below))
                .collect(),
        );
    }
    match schema.get("type") {
        Some(Value::String(name)) => named_type(name, schema, whole, below),
        Some(Value::Array(names)) => join_options(
            names
                .iter()
                .take(MAX_ALTERNATIVES)
                .filter_map(Value::as_str)
                .map(|name| named_type(name, schema, whole, below))
                .collect(),
        ),
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => match schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            Some([only]) => type_text(only, whole, below),
            _ => "any".to_owned(),
        },
    }
}

fn named_type(name: &str, schema: &Value, whole: &Value, depth: usize) -> String {
    match (name, schema.get("items")) {
        ("array", Some(items)) => {
            let item = type_text(items, whole, depth);
            if item.contains('|') { format!("({item})[]") } else { format!("{item}[]") }
        }
        _ => excerpt_text(name, MAX_LITERAL_CHARS),
    }
}

fn join_options(mut options: Vec<String>) -> String {
    let mut seen = HashSet::new();
    options.retain(|option| seen.insert(option.clone()));
    if options.is_empty() {
        return "any".to_owned();
    }
    if options.len() > MAX_OPTIONS {
        options.truncate(MAX_OPTIONS - 1);
        options.push("…".to_owned());
    }
    options.join("|")
}

fn literal(value: &Value) -> String {
    excerpt_text(&excerpt_value(value), MAX_LITERAL_CHARS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_are_shown_with_type_default_and_whether_they_are_needed() {
        let cases = [
            ("", ""),
            ("{}", ""),
            (r#"{"properties": []}"#, ""),
            (
                r#"{"properties": {"mode": {"enum": ["a", "b"]}, "path": {"type": "string"},
                    "limit": {"type": "integer", "default": 20}}, "required": ["path"]}"#,
                r#"path: string, mode?: "a"|"b", limit?: integer = 20"#,
            ),
            (
                r#"{"properties": {"ids": {"type": "array", "items": {"type": "integer"}},
                    "tags": {"type": "array", "items": {"type": ["string", "null"]}},
                    "list": {"type": "array"}}}"#,
                "ids?: integer[], tags?: (string|null)[], list?: array",
            ),
            (
                r##"{"properties": {"point": {"$ref": "#/$defs/Point"},
                    "size": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null},
                    "self": {"$ref": "#/properties/self"}, "gone": {"$ref": "#/x"}, "free": true},
                    "$defs": {"Point": {"type": "object"}}}"##,
                "point?: object, size?: integer|null = null, self?: any, gone?: any, free?: any",
            ),
            (r#"{"properties": {"n": {"enum": [1,2,3,4,5,6]}}}"#, "n?: 1|2|3|4|…"),
            ("{\"properties\": {\"a\\u001b\": {\"type\": \"string\"}}}", "a\\u{1b}?: string"),
        ];
        for (schema, expected) in cases {
            assert_eq!(signature(schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_long_line_says_how_many_parameters_are_left_out() {
        let members: Vec<String> =
            (0..50).map(|n| format!("\"parameter_{n:02}\": {{\"type\": \"string\"}}")).collect();
        let line = signature(&format!("{{\"properties\": {{{}}}}}", members.join(",")));
        insta::assert_snapshot!(line, @"parameter_00?: string, parameter_01?: string, parameter_02?: string, parameter_03?: string, parameter_04?: string, parameter_05?: string, parameter_06?: string, parameter_07?: string, … 42 more");
    }

    proptest! {
        #[test]
        fn the_line_is_bounded_for_any_names(names in proptest::collection::vec("\\PC{0,60}", 0..30)) {
            let members: serde_json::Map<String, Value> =
                names.into_iter().map(|name| (name, serde_json::json!({"const": "\\".repeat(90)}))).collect();
            let line = signature(&serde_json::json!({"properties": members}).to_string());
            prop_assert!(line.chars().count() <= MAX_LINE_CHARS, "{}", line);
        }
    }
}
