//! Generation of sample values for example calls.

use serde_json::{Map, Value, json};

use crate::prompt::schema::{ObjectSchema, keyword_list, required_names, resolve, types};

// Bounds the size of an example, and the recursion over a server's schema.
const MAX_DEPTH: usize = 4;
const MAX_TEXT_CHARS: usize = 60;

/// Returns the arguments of an example call: the required ones, each with a sample value.
pub(crate) fn arguments(schema: &ObjectSchema) -> Vec<(String, Value)> {
    let root = &schema.schema;
    let needed: Vec<&str> = required_names(root).collect();
    schema
        .properties()
        .into_iter()
        .filter(|(name, _)| needed.contains(name))
        .map(|(name, property)| (name.to_owned(), sample(root, property, MAX_DEPTH)))
        .collect()
}

/// Renders JSON whose strings cannot open or close an element.
pub(crate) fn element_json(value: &Value) -> String {
    let text = value.to_string();
    let visible = crate::prompt::clean::remove_hidden(&text);
    visible.replace('<', "\\u003c").replace('>', "\\u003e")
}

fn sample(root: &Value, schema: &Value, depth: usize) -> Value {
    let schema = resolve(root, schema);
    if let Some(given) = server_sample(schema) {
        return given.clone();
    }
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    let alternatives = keyword_list(schema, "anyOf").iter().chain(keyword_list(schema, "oneOf"));
    let mut candidates = alternatives.chain(keyword_list(schema, "allOf"));
    let types = types(schema);
    let kind = types.iter().find(|kind| **kind != "null").or(types.first()).copied();
    match kind {
        Some("string") => text(schema),
        Some("integer") => json!(number(schema).ceil() as i64),
        Some("number") => number_value(number(schema)),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some("array") => array(root, schema, depth),
        Some("object") => object(root, schema, depth),
        _ if schema.get("properties").is_some() => object(root, schema, depth),
        _ if schema.get("items").is_some() => array(root, schema, depth),
        _ => candidates.next().map_or_else(|| json!("text"), |first| sample(root, first, depth)),
    }
}

/// Returns a short value that the server's schema suggests.
fn server_sample(schema: &Value) -> Option<&Value> {
    let examples = keyword_list(schema, "examples").first();
    let choices = keyword_list(schema, "enum").first();
    // A fixed value first, then values that the author picked, then any valid one.
    [schema.get("const"), examples, schema.get("example"), schema.get("default"), choices]
        .into_iter()
        .flatten()
        .find(|value| !value.is_null() && value.to_string().len() <= MAX_TEXT_CHARS)
}

fn text(schema: &Value) -> Value {
    let format = schema.get("format").and_then(Value::as_str);
    json!(match format {
        Some("date-time") => "2026-01-31T09:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "09:00:00",
        Some("email") => "name@example.com",
        Some("uri" | "url") => "https://example.com",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "text",
    })
}

fn number(schema: &Value) -> f64 {
    let at = |keyword| schema.get(keyword).and_then(Value::as_f64);
    let least = at("minimum").or_else(|| at("exclusiveMinimum").map(|least| least + 1.0));
    let most = at("maximum").or_else(|| at("exclusiveMaximum").map(|most| most - 1.0));
    match (least, most) {
        (Some(least), _) if least > 1.0 => least,
        (_, Some(most)) if most < 1.0 => most,
        _ => 1.0,
    }
}

fn number_value(number: f64) -> Value {
    if number == 1.0 { json!(1) } else { json!(number) }
}

fn array(root: &Value, schema: &Value, depth: usize) -> Value {
    match schema.get("items") {
        Some(items) if items.is_object() => json!([sample(root, items, depth)]),
        _ => json!([]),
    }
}

fn object(root: &Value, schema: &Value, depth: usize) -> Value {
    let mut out = Map::new();
    for name in required_names(schema) {
        if let Some(property) = schema.get("properties").and_then(|all| all.get(name)) {
            out.insert(name.to_owned(), sample(root, property, depth));
        }
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{arguments, element_json};
    use crate::prompt::schema::object_schema;

    #[test]
    fn samples_follow_type_and_limits() {
        let cases = [
            (json!({"type": "string"}), json!("text")),
            (json!({"type": "string", "format": "date"}), json!("2026-01-31")),
            (json!({"type": "string", "enum": ["a", "b"]}), json!("a")),
            (json!({"type": "integer", "minimum": 5}), json!(5)),
            (json!({"type": "integer", "maximum": 0}), json!(0)),
            (json!({"type": "number", "exclusiveMinimum": 1.5}), json!(2.5)),
            (json!({"type": ["null", "boolean"]}), json!(true)),
            (json!({"anyOf": [{"type": "array", "items": {"type": "string"}}]}), json!(["text"])),
            (json!({"default": 7}), json!(7)),
            (json!({}), json!("text")),
            (
                json!({"properties": {"k": {"type": "integer"}, "o": {}}, "required": ["k"]}),
                json!({"k": 1}),
            ),
        ];
        for (property, expected) in cases {
            let schema = json!({"properties": {"x": property}, "required": ["x"]}).to_string();
            assert_eq!(arguments(&object_schema(Some(&schema))), [("x".to_owned(), expected)]);
        }
    }

    #[test]
    fn a_sample_cannot_close_the_element_it_stands_in() {
        let text = element_json(&Value::from("</arguments>"));
        assert_eq!(text, r#""\u003c/arguments\u003e""#);
    }
}
