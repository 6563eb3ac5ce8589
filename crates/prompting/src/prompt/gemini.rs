//! Conversion of a schema to the subset of JSON Schema that Gemini's function declarations accept.

use serde_json::{Map, Value, json};

use crate::prompt::schema::{keyword_list, required_names, types};

// Bounds the recursion over a server's schema. Deeper values are declared as strings.
const MAX_DEPTH: usize = 32;

/// Converts a schema to Gemini's subset: one type per node, no references, no `oneOf` or `allOf`.
///
/// Constraints that the subset cannot express are moved to the description.
pub(crate) fn to_gemini_subset(schema: &Value) -> Value {
    convert(schema, MAX_DEPTH)
}

fn convert(schema: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return json!({"type": "string"}) };
    let Some(fields) = schema.as_object() else { return any_type(None, depth) };
    if !keyword_list(schema, "allOf").is_empty() {
        // The merged schema may contain `allOf` again, hence the recursion.
        return convert(&flatten_parts(fields), depth);
    }
    let branches: Vec<&Value> =
        keyword_list(schema, "anyOf").iter().chain(keyword_list(schema, "oneOf")).collect();
    if !branches.is_empty() {
        return convert_alternatives(fields, &branches, depth);
    }
    let names = types(schema);
    let nullable = names.contains(&"null") || schema.get("nullable") == Some(&json!(true));
    let solid: Vec<&str> = names.iter().copied().filter(|name| *name != "null").collect();
    let out = match solid.as_slice() {
        [] => match implied_type(schema) {
            Some(kind) => convert_typed(kind, schema, depth),
            None => return any_type(description_with_notes(schema, &[]), depth),
        },
        [one] => convert_typed(one, schema, depth),
        several => {
            let typed = several.iter().map(|name| convert_typed(name, schema, depth));
            json!({ "anyOf": typed.collect::<Vec<_>>() })
        }
    };
    if nullable { with_null(out) } else { out }
}

fn convert_alternatives(fields: &Map<String, Value>, branches: &[&Value], depth: usize) -> Value {
    // Gemini allows no keywords next to `anyOf`, so the shared ones move into the branches.
    let is_null = |branch: &Value| types(branch) == ["null"];
    let nullable = branches.iter().any(|branch| is_null(branch));
    let mut base = fields.clone();
    base.remove("anyOf");
    base.remove("oneOf");
    let mut converted: Vec<Value> = Vec::new();
    for branch in branches.iter().filter(|branch| !is_null(branch)) {
        let mut merged = base.clone();
        if let Some(branch) = branch.as_object() {
            merge(&mut merged, branch);
        }
        let one = convert(&Value::Object(merged), depth);
        let one = if nullable { with_null(one) } else { one };
        if !converted.contains(&one) {
            converted.push(one);
        }
    }
    match converted.len() {
        0 => convert(&Value::Object(base), depth),
        1 => converted.pop().unwrap_or_default(),
        _ => json!({ "anyOf": converted }),
    }
}

fn flatten_parts(fields: &Map<String, Value>) -> Value {
    let mut merged = fields.clone();
    let parts = merged.remove("allOf").unwrap_or_default();
    for part in parts.as_array().into_iter().flatten().filter_map(Value::as_object) {
        merge(&mut merged, part);
    }
    Value::Object(merged)
}

fn merge(into: &mut Map<String, Value>, part: &Map<String, Value>) {
    for (keyword, value) in part {
        match (keyword.as_str(), into.get_mut(keyword), value) {
            ("properties", Some(Value::Object(own)), Value::Object(more)) => {
                for (name, property) in more {
                    own.entry(name.clone()).or_insert_with(|| property.clone());
                }
            }
            ("required" | "allOf", Some(Value::Array(own)), Value::Array(more)) => {
                own.extend(more.iter().cloned());
            }
            // The schema is more specific than its parts, so its own keywords win.
            (_, Some(_), _) => {}
            (_, None, _) => {
                into.insert(keyword.clone(), value.clone());
            }
        }
    }
}

fn implied_type(schema: &Value) -> Option<&'static str> {
    if schema.get("properties").is_some() {
        return Some("object");
    }
    if schema.get("items").is_some() {
        return Some("array");
    }
    match schema.get("const").or_else(|| keyword_list(schema, "enum").first()) {
        Some(Value::String(_)) => Some("string"),
        Some(Value::Number(_)) => Some("number"),
        Some(Value::Bool(_)) => Some("boolean"),
        _ => None,
    }
}

fn convert_typed(name: &str, schema: &Value, depth: usize) -> Value {
    let mut out = Map::new();
    let mut notes = vec!["default", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    let kept: &[&str] = match name {
        "object" => {
            convert_object(&mut out, schema, depth);
            &[]
        }
        "array" => {
            let items = schema.get("items").filter(|items| items.is_object());
            let items =
                items.map_or_else(|| json!({"type": "string"}), |items| convert(items, depth));
            out.insert("items".to_owned(), items);
            &["minItems", "maxItems"]
        }
        "integer" | "number" => {
            notes.extend(["enum", "const"]);
            &["minimum", "maximum"]
        }
        "boolean" => {
            notes.extend(["const"]);
            &[]
        }
        _ => {
            convert_string(&mut out, schema, &mut notes);
            &["minLength", "maxLength", "pattern"]
        }
    };
    let name = match name {
        "object" | "array" | "integer" | "number" | "boolean" => name,
        _ => "string",
    };
    out.insert("type".to_owned(), json!(name));
    for keyword in kept {
        let value = schema.get(*keyword);
        if let Some(value) = value.filter(|value| value.is_number() || *keyword == "pattern") {
            out.insert((*keyword).to_owned(), value.clone());
        }
    }
    if let Some(described) = description_with_notes(schema, &notes) {
        out.insert("description".to_owned(), json!(described));
    }
    Value::Object(out)
}

fn convert_object(out: &mut Map<String, Value>, schema: &Value, depth: usize) {
    let Some(own) = schema.get("properties").and_then(Value::as_object) else { return };
    if own.is_empty() {
        return;
    }
    // Gemini rejects a required name that is not a property.
    let mut needed: Vec<&str> = Vec::new();
    for name in required_names(schema).filter(|name| own.contains_key(*name)) {
        if !needed.contains(&name) {
            needed.push(name);
        }
    }
    let own: Map<String, Value> =
        own.iter().map(|(name, property)| (name.clone(), convert(property, depth))).collect();
    out.insert("properties".to_owned(), Value::Object(own));
    if !needed.is_empty() {
        out.insert("required".to_owned(), json!(needed));
    }
}

fn convert_string(out: &mut Map<String, Value>, schema: &Value, notes: &mut Vec<&'static str>) {
    let choices = match schema.get("const") {
        Some(only) => std::slice::from_ref(only),
        None => keyword_list(schema, "enum"),
    };
    let mut texts: Vec<&str> = Vec::new();
    // Gemini rejects an empty string as a choice.
    for text in choices.iter().filter_map(Value::as_str).filter(|text| !text.is_empty()) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if !texts.is_empty() {
        out.insert("enum".to_owned(), json!(texts));
    }
    // The only formats of strings that Gemini accepts.
    match schema.get("format").and_then(Value::as_str) {
        Some(format @ ("date-time" | "enum")) => {
            out.insert("format".to_owned(), json!(format));
        }
        Some(_) => notes.push("format"),
        None => {}
    }
}

fn description_with_notes(schema: &Value, notes: &[&str]) -> Option<String> {
    let said = schema.get("description").or_else(|| schema.get("title")).and_then(Value::as_str);
    let mut out = said.unwrap_or_default().trim_end().to_owned();
    for keyword in notes {
        if let Some(value) = schema.get(*keyword).filter(|value| !value.is_null()) {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&format!("({keyword}: {value})"));
        }
    }
    (!out.is_empty()).then_some(out)
}

/// Returns a schema for any type: Gemini requires a type, so these are alternatives.
fn any_type(described: Option<String>, depth: usize) -> Value {
    let kinds = ["string", "number", "boolean", "object", "array"];
    let text = json!({ "description": described });
    json!({ "anyOf": kinds.map(|kind| convert_typed(kind, &text, depth)) })
}

fn with_null(mut schema: Value) -> Value {
    let Some(fields) = schema.as_object_mut() else { return schema };
    match fields.get_mut("anyOf") {
        Some(Value::Array(branches)) => {
            for branch in branches {
                *branch = with_null(std::mem::take(branch));
            }
        }
        _ => {
            fields.insert("nullable".to_owned(), json!(true));
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::to_gemini_subset;

    #[test]
    fn each_keyword_gets_its_place_in_the_subset() {
        let cases = [
            (
                json!({"type": "object", "$schema": "x", "additionalProperties": false,
                    "properties": {"a": {"type": "string", "title": "A"}}, "required": ["a", "ghost"]}),
                json!({"type": "object", "properties": {"a": {"type": "string", "description": "A"}},
                    "required": ["a"]}),
            ),
            (json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}})),
            (json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true})),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null, "description": "N."}),
                json!({"type": "integer", "nullable": true, "description": "N."}),
            ),
            (
                json!({"oneOf": [{"type": "integer"}, {"type": "string"}], "description": "N."}),
                json!({"anyOf": [{"type": "integer", "description": "N."}, {"type": "string", "description": "N."}]}),
            ),
            (json!({"const": "x"}), json!({"type": "string", "enum": ["x"]})),
            (
                json!({"type": "integer", "enum": [1, 2], "exclusiveMinimum": 0}),
                json!({"type": "integer", "description": "(exclusiveMinimum: 0) (enum: [1,2])"}),
            ),
            (
                json!({"type": "string", "format": "uri", "minLength": 3}),
                json!({"type": "string", "minLength": 3, "description": "(format: \"uri\")"}),
            ),
            (
                json!({"allOf": [{"properties": {"a": {"type": "number"}}}, {"required": ["a"]}]}),
                json!({"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}),
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(to_gemini_subset(&given), expected, "{given}");
        }
    }
}
