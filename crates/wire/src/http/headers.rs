//! The headers of a modern request that mirror parts of its body.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// Maximum integer that every JSON parser represents exactly; larger ones are not mirrored.
const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// Encodes a header value: plain ASCII where that is safe, otherwise base64.
pub(crate) fn encode_header(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
        && value.trim() == value
        && !value.starts_with("=?base64?");
    if plain { value.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(value)) }
}

/// Returns the `Mcp-Param-*` headers that a tool's schema requests, from the arguments of a call.
/// A tool with invalid annotations must not be offered.
pub fn param_headers(schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    collect(schema, Some(arguments), &mut found)?;
    // Header names ignore case, so names that differ only in case are the same header.
    let mut names: Vec<String> = found.iter().map(|(name, _)| name.to_lowercase()).collect();
    names.sort();
    if let Some(pair) = names.windows(2).find(|pair| pair.first() == pair.last()) {
        let name = pair.first().map_or("", String::as_str);
        return Err(format!("two parameters use the header `{name}`"));
    }
    Ok(found
        .into_iter()
        .filter_map(|(name, value)| Some((format!("Mcp-Param-{name}"), encode_header(&value?))))
        .collect())
}

type HeaderList = Vec<(String, Option<String>)>;

fn collect(
    schema: &Value,
    arguments: Option<&Value>,
    found: &mut HeaderList,
) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return if mentions_header(schema) { Err(misplaced_error()) } else { Ok(()) };
    };
    if let Some(others) = schema.as_object()
        && others.iter().any(|(key, value)| key != "properties" && mentions_header(value))
    {
        return Err(misplaced_error());
    }
    for (name, property) in properties {
        let value = arguments.and_then(|arguments| arguments.get(name));
        match property.get("x-mcp-header") {
            None => collect(property, value, found)?,
            Some(Value::String(header)) if is_token(header) => {
                let kind = property.get("type").and_then(Value::as_str);
                if !matches!(kind, Some("string" | "integer" | "boolean")) {
                    let why = "has a header but is not a string, integer or boolean";
                    return Err(format!("`{name}` {why}"));
                }
                found.push((header.clone(), value.and_then(header_value)));
            }
            Some(_) => return Err(format!("`{name}` has an invalid header name")),
        }
    }
    Ok(())
}

fn misplaced_error() -> String {
    "`x-mcp-header` is allowed only on nested `properties`".to_owned()
}

fn mentions_header(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().any(|(key, value)| key == "x-mcp-header" || mentions_header(value))
        }
        Value::Array(items) => items.iter().any(mentions_header),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn header_value(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => {
            let whole = number.as_i64().filter(|whole| whole.abs() <= MAX_SAFE_INTEGER)?;
            Some(whole.to_string())
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{encode_header, param_headers};

    #[test]
    fn unsafe_values_travel_in_base64() {
        for (value, expected) in [
            ("plain", "plain"),
            ("with space", "with space"),
            (" edge", "=?base64?IGVkZ2U=?="),
            ("é", "=?base64?w6k=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(encode_header(value), expected);
        }
    }

    #[test]
    fn marked_parameters_are_mirrored() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limit": {"type": "integer", "x-mcp-header": "Limit"},
            "deep": {"type": "object", "properties": {
                "flag": {"type": "boolean", "x-mcp-header": "Flag"}}},
            "gone": {"type": "string", "x-mcp-header": "Gone"},
            "plain": {"type": "string"},
        }});
        let arguments =
            json!({"region": "eu", "limit": 3, "deep": {"flag": true}, "gone": null, "plain": "x"});
        let mut headers = param_headers(&schema, &arguments).unwrap();
        headers.sort();
        let expected =
            [("Mcp-Param-Flag", "true"), ("Mcp-Param-Limit", "3"), ("Mcp-Param-Region", "eu")];
        assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn marks_that_break_the_rules_are_refused() {
        for schema in [
            json!({"properties": {"a": {"type": "object", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A B"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": 7}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"},
                                  "b": {"type": "string", "x-mcp-header": "a"}}}),
            json!({"properties": {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}}),
            json!({"oneOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]}),
        ] {
            assert!(param_headers(&schema, &json!({})).is_err(), "{schema}");
        }
    }
}
