//! Inlining of references in a schema, for consumers that do not resolve them.

use serde_json::{Map, Value, json};

// Nested references can double the schema at every level, so the size is bounded, not the depth.
const MAX_NODES: usize = 4_000;

/// Returns the schema without references. A recursive schema is cut where it repeats.
pub(crate) fn inline(root: &Value) -> Value {
    let mut walk = ReferenceInliner { root, open: Vec::new(), left: MAX_NODES };
    let mut out = walk.schema(root);
    if let Some(out) = out.as_object_mut() {
        out.remove("$defs");
        out.remove("definitions");
    }
    out
}

/// Returns whether the schema contains a reference.
pub(crate) fn has_references(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.get("$ref").is_some_and(Value::is_string) || fields.values().any(has_references)
        }
        Value::Array(items) => items.iter().any(has_references),
        _ => false,
    }
}

struct ReferenceInliner<'r> {
    root: &'r Value,
    open: Vec<&'r str>,
    left: usize,
}

impl<'r> ReferenceInliner<'r> {
    fn schema(&mut self, schema: &'r Value) -> Value {
        let Some(left) = self.left.checked_sub(1) else { return json!({}) };
        self.left = left;
        match schema {
            Value::Object(fields) => match fields.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.reference(reference, fields),
                None => Value::Object(self.fields(fields)),
            },
            Value::Array(items) => items.iter().map(|item| self.schema(item)).collect(),
            other => other.clone(),
        }
    }

    fn fields(&mut self, fields: &'r Map<String, Value>) -> Map<String, Value> {
        fields
            .iter()
            .filter(|(keyword, _)| !matches!(keyword.as_str(), "$ref" | "$defs" | "definitions"))
            .map(|(keyword, value)| (keyword.clone(), self.schema(value)))
            .collect()
    }

    fn reference(&mut self, reference: &'r str, fields: &'r Map<String, Value>) -> Value {
        let mut out = self.fields(fields);
        let target = reference.strip_prefix('#').and_then(|path| self.root.pointer(path));
        let Some(target) = target.filter(|target| target.is_object()) else {
            return Value::Object(out);
        };
        // A recursive schema has no finite form. The type alone is better than nothing.
        if self.open.contains(&reference) {
            if let Some(kind) = target.get("type") {
                out.entry("type").or_insert_with(|| kind.clone());
            }
            return Value::Object(out);
        }
        self.open.push(reference);
        if let Value::Object(target) = self.schema(target) {
            // Keywords next to a reference are specific to this place and take precedence.
            for (keyword, value) in target {
                out.entry(keyword).or_insert(value);
            }
        }
        self.open.pop();
        Value::Object(out)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::inline;

    #[test]
    fn references_are_replaced_and_circles_are_cut() {
        let schema = json!({
            "properties": {
                "a": {"$ref": "#/$defs/node", "description": "Here."},
                "b": {"$ref": "#/properties/c"},
                "c": {"type": "string"},
                "d": {"$ref": "https://example.com/other"}
            },
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}
        });
        let expected = json!({
            "properties": {
                "a": {"description": "Here.", "type": "object", "properties": {"next": {"type": "object"}}},
                "b": {"type": "string"},
                "c": {"type": "string"},
                "d": {}
            }
        });
        assert_eq!(inline(&schema), expected);
    }

    #[test]
    fn references_that_multiply_stay_bounded() {
        let mut definitions = serde_json::Map::new();
        for level in 0..20 {
            let next = format!("#/$defs/l{}", level + 1);
            definitions.insert(
                format!("l{level}"),
                json!({"properties": {"x": {"$ref": next}, "y": {"$ref": next}, "z": {"$ref": next}}}),
            );
        }
        let schema = json!({"$ref": "#/$defs/l0", "$defs": definitions});
        assert!(inline(&schema).to_string().len() < 200_000);
    }
}
