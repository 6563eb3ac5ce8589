//! What a JSON schema says about one value, as far as a form can use it.

use serde_json::{Map, Value};

/// So many references and choices are followed.
const MAX_STEPS: usize = 8;

/// A schema with references within the same document followed, and with the one choice taken that is
/// not `null`. What is said beside a reference counts more than what it leads to.
pub(super) fn resolve(about: &Value, root: &Value) -> Value {
    let mut at = about.clone();
    for _ in 0..MAX_STEPS {
        let Some(inner) = follow_reference(&at, root) else { break };
        at = overlay(&inner, &at);
    }
    at
}

fn follow_reference(at: &Value, root: &Value) -> Option<Value> {
    if let Some(place) = at["$ref"].as_str() {
        return root.pointer(place.strip_prefix('#')?).cloned();
    }
    let several = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| at[key].as_array())?;
    let mut kinds = several.iter().filter(|one| one["type"] != "null");
    match (kinds.next(), kinds.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

fn overlay(inner: &Value, outer: &Value) -> Value {
    let mut members: Map<String, Value> = inner.as_object().cloned().unwrap_or_default();
    for (name, value) in outer.as_object().into_iter().flatten() {
        if !["$ref", "anyOf", "oneOf", "allOf"].contains(&name.as_str()) {
            members.insert(name.clone(), value.clone());
        }
    }
    Value::Object(members)
}

/// The kind of value in one word; the first of several.
pub(super) fn value_kind(about: &Value) -> String {
    let kind = match &about["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned(),
        other => Some(other.clone()),
    };
    kind.as_ref().and_then(Value::as_str).unwrap_or("json").to_owned()
}

/// What there is to choose from, with what people call it.
pub(super) fn choices(about: &Value) -> Option<Vec<(Value, String)>> {
    let label = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if let Some(values) = about["enum"].as_array() {
        let titles = &about["enumNames"];
        let named = values.iter().enumerate().map(|(number, value)| {
            let title = titles[number].as_str().map(str::to_owned);
            (value.clone(), title.unwrap_or_else(|| label(value)))
        });
        return Some(named.collect());
    }
    let several = about["oneOf"].as_array().or(about["anyOf"].as_array())?;
    let one = |choice: &Value| {
        let value = choice.get("const")?.clone();
        let title = choice["title"].as_str().map(str::to_owned);
        Some((value.clone(), title.unwrap_or_else(|| label(&value))))
    };
    several.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_and_single_choices_are_followed_and_endless_ones_end() {
        let root = json!({"$defs": {
            "size": {"type": "integer", "title": "inner", "minimum": 1},
            "loop": {"$ref": "#/$defs/loop"},
        }});
        for (about, expected) in [
            (json!({"type": "string"}), json!({"type": "string"})),
            (
                json!({"$ref": "#/$defs/size", "title": "outer"}),
                json!({"type": "integer", "title": "outer", "minimum": 1}),
            ),
            (
                json!({"anyOf": [{"$ref": "#/$defs/size"}, {"type": "null"}], "default": null}),
                json!({"type": "integer", "title": "inner", "minimum": 1, "default": null}),
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            ),
            (json!({"$ref": "https://a.example/x"}), json!({"$ref": "https://a.example/x"})),
        ] {
            assert_eq!(resolve(&about, &root), expected, "{about}");
        }
        resolve(&json!({"$ref": "#/$defs/loop"}), &root);
    }
}
