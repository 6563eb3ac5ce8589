//! Normalization of a tool's argument schema to one object schema.

use serde_json::{Map, Value, json};
use switchboard_json::property_names;

// References may form a cycle, and parts may nest without end: a server writes the schema.
const MAX_HOPS: usize = 16;
const MAX_MERGES: usize = 4;
/// Name of the argument that wraps a schema that is not an object.
pub(crate) const WRAPPER_ARGUMENT: &str = "value";

/// The arguments of a tool as an object schema, without alternatives at the top level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ObjectSchema {
    pub(crate) schema: Value,
    /// Whether the server's schema is not an object and is therefore in [`WRAPPER_ARGUMENT`].
    pub(crate) wrapped: bool,
    /// Property names in the server's order, which `Value` does not keep.
    pub(crate) order: Vec<String>,
}

impl ObjectSchema {
    /// Returns the arguments in the server's order.
    pub(crate) fn properties(&self) -> Vec<(&str, &Value)> {
        let Some(all) = self.schema.get("properties").and_then(Value::as_object) else {
            return Vec::new();
        };
        let place = |name: &str| self.order.iter().position(|known| known == name);
        let mut listed: Vec<(&str, &Value)> =
            all.iter().map(|(name, schema)| (name.as_str(), schema)).collect();
        listed.sort_by_cached_key(|(name, _)| place(name).unwrap_or(usize::MAX));
        listed
    }
}

/// Parses and normalizes the JSON text of a schema. A missing or invalid schema means no arguments.
pub(crate) fn object_schema(text: Option<&str>) -> ObjectSchema {
    let root: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let order = text.map(property_names).unwrap_or_default();
    let top = resolve(&root, &root);
    if !may_be_object(&root, top) {
        return ObjectSchema { schema: wrap(&root, top), wrapped: true, order };
    }
    let mut merged = Map::new();
    let mut required = Vec::new();
    if let Some(top) = top.as_object() {
        merged = top.clone();
        // Vendors reject these at the top level. The properties of the parts are collected below.
        for keyword in ["allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else"] {
            merged.remove(keyword);
        }
    }
    carry_definitions(&root, &mut merged);
    let mut properties = Map::new();
    collect_properties(&root, top, &mut properties, &mut required, MAX_MERGES);
    for name in &required {
        // Some servers require names that they do not declare.
        properties.entry(name.clone()).or_insert_with(|| json!({}));
    }
    merged.insert("type".to_owned(), json!("object"));
    merged.insert("properties".to_owned(), Value::Object(properties));
    if required.is_empty() {
        merged.remove("required");
    } else {
        merged.insert("required".to_owned(), json!(required));
    }
    ObjectSchema { schema: Value::Object(merged), wrapped: false, order }
}

/// Follows references within the document. An unresolvable reference is returned unchanged.
pub(crate) fn resolve<'v>(root: &'v Value, schema: &'v Value) -> &'v Value {
    let mut at = schema;
    for _ in 0..MAX_HOPS {
        let Some(reference) = at.get("$ref").and_then(Value::as_str) else { break };
        let Some(next) = reference.strip_prefix('#').and_then(|path| root.pointer(path)) else {
            break;
        };
        if !next.is_object() {
            break;
        }
        at = next;
    }
    at
}

pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn keyword_list<'v>(schema: &'v Value, keyword: &str) -> &'v [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn required_names(schema: &Value) -> impl Iterator<Item = &str> {
    keyword_list(schema, "required").iter().filter_map(Value::as_str)
}

fn may_be_object(root: &Value, schema: &Value) -> bool {
    if schema.get("properties").is_some() || !schema.is_object() {
        return true;
    }
    let types = types(schema);
    if !types.is_empty() {
        return types.contains(&"object");
    }
    let any: Vec<&Value> =
        keyword_list(schema, "anyOf").iter().chain(keyword_list(schema, "oneOf")).collect();
    if any.is_empty() {
        return schema.get("items").is_none() && schema.get("enum").is_none();
    }
    any.iter().any(|branch| {
        let branch = resolve(root, branch);
        branch.get("properties").is_some() || self::types(branch).contains(&"object")
    })
}

fn wrap(root: &Value, top: &Value) -> Value {
    let mut inner = top.clone();
    let mut outer = Map::new();
    carry_definitions(root, &mut outer);
    if let Some(inner) = inner.as_object_mut() {
        inner.remove("$defs");
        inner.remove("definitions");
        inner.remove("$schema");
    }
    outer.insert("type".to_owned(), json!("object"));
    outer.insert("properties".to_owned(), json!({ WRAPPER_ARGUMENT: inner }));
    outer.insert("required".to_owned(), json!([WRAPPER_ARGUMENT]));
    Value::Object(outer)
}

fn carry_definitions(root: &Value, into: &mut Map<String, Value>) {
    for keyword in ["$defs", "definitions"] {
        if let Some(definitions) = root.get(keyword) {
            into.insert(keyword.to_owned(), definitions.clone());
        }
    }
}

/// Collects the properties of a schema and of its `allOf`, `anyOf` and `oneOf` parts.
fn collect_properties(
    root: &Value,
    schema: &Value,
    properties: &mut Map<String, Value>,
    needed: &mut Vec<String>,
    merges: usize,
) {
    if let Some(own) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in own {
            let property = if property.is_object() { property.clone() } else { json!({}) };
            properties.entry(name.clone()).or_insert(property);
        }
    }
    for name in required_names(schema) {
        push_new(needed, name);
    }
    let Some(merges) = merges.checked_sub(1) else { return };
    for part in keyword_list(schema, "allOf") {
        collect_properties(root, resolve(root, part), properties, needed, merges);
    }
    for keyword in ["anyOf", "oneOf"] {
        // A name is required only if every branch requires it.
        let mut in_all: Option<Vec<String>> = None;
        for branch in keyword_list(schema, keyword) {
            let mut here = Vec::new();
            collect_properties(root, resolve(root, branch), properties, &mut here, merges);
            in_all = Some(match in_all {
                None => here,
                Some(before) => before.into_iter().filter(|name| here.contains(name)).collect(),
            });
        }
        for name in in_all.unwrap_or_default() {
            push_new(needed, &name);
        }
    }
}

pub(crate) fn push_new(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::object_schema;

    #[test]
    fn every_shape_of_schema_becomes_an_object() {
        let empty = json!({"type": "object", "properties": {}});
        let wrapped = |inner: serde_json::Value| json!({"type": "object", "properties": {"value": inner}, "required": ["value"]});
        let cases = [
            (None, empty.clone(), false),
            (Some("true"), empty.clone(), false),
            (Some("not json"), empty.clone(), false),
            (Some("{}"), empty.clone(), false),
            (Some(r#"{"type":["object","null"]}"#), empty, false),
            (Some(r#"{"type":"string"}"#), wrapped(json!({"type": "string"})), true),
            (
                Some(r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#),
                wrapped(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
                true,
            ),
            (
                Some(r#"{"required":["ghost"],"properties":{"a":7}}"#),
                json!({"type": "object", "properties": {"a": {}, "ghost": {}}, "required": ["ghost"]}),
                false,
            ),
        ];
        for (text, expected, is_wrapped) in cases {
            let read = object_schema(text);
            assert_eq!((read.schema, read.wrapped), (expected, is_wrapped), "{text:?}");
        }
    }

    #[test]
    fn alternatives_at_the_top_become_one_set_of_properties() {
        let read = object_schema(Some(
            r#"{"oneOf":[
                {"properties":{"id":{"type":"string"},"x":{}},"required":["id","x"]},
                {"properties":{"id":{"type":"string"},"y":{}},"required":["id","y"]}]}"#,
        ));
        let expected = json!({"type": "object",
            "properties": {"id": {"type": "string"}, "x": {}, "y": {}}, "required": ["id"]});
        assert_eq!(read.schema, expected);
    }

    #[test]
    fn properties_keep_the_order_the_server_wrote() {
        let read = object_schema(Some(r#"{"properties":{"z":{},"a":{},"m":{}}}"#));
        let names: Vec<&str> = read.properties().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["z", "a", "m"]);
    }

    #[test]
    fn references_in_a_circle_end() {
        let text =
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##;
        assert!(!object_schema(Some(text)).wrapped);
    }
}
