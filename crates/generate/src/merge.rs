//! Lowers `allOf` by merging its schemas into one object.

use serde_json::{Map, Value};

use crate::lower::{SchemaLowering, TypePosition};
use crate::model::Ty;

/// Maximum number of merged parts, including nested ones: parts may refer to themselves.
const MAX_PARTS: usize = 64;

impl SchemaLowering<'_> {
    pub(crate) fn merged_type(
        &mut self,
        schema: &Map<String, Value>,
        parts: &[Value],
        place: &TypePosition,
    ) -> Ty {
        // A single reference inside `allOf` is a common way to add a description to it.
        if let [part] = parts
            && ["properties", "oneOf", "anyOf", "enum"].iter().all(|key| !schema.contains_key(*key))
        {
            return self.ty(part, &place.deeper());
        }
        let mut whole = schema.clone();
        whole.remove("allOf");
        let mut left = MAX_PARTS;
        for part in parts {
            if !self.merge_part(&mut whole, part, &mut left) {
                return Ty::Any;
            }
        }
        self.ty(&Value::Object(whole), &place.deeper())
    }

    /// Merges one part into the whole, and returns whether that was possible.
    fn merge_part(&self, whole: &mut Map<String, Value>, part: &Value, left: &mut usize) -> bool {
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        let part = match part.get("$ref").and_then(Value::as_str) {
            None => Some(part),
            Some(target) => target.strip_prefix('#').and_then(|path| self.root.pointer(path)),
        };
        // A reference to another document is not fetched, and the type becomes any value.
        let Some(part) = part else { return false };
        let Some(part) = part.as_object() else { return *part == Value::Bool(true) };
        if part.contains_key("$ref") {
            return self.merge_part(whole, &Value::Object(part.clone()), left);
        }
        for (key, value) in part {
            match (key.as_str(), value) {
                ("allOf", Value::Array(parts)) => {
                    if !parts.iter().all(|part| self.merge_part(whole, part, left)) {
                        return false;
                    }
                }
                ("properties", Value::Object(more)) => {
                    let known =
                        whole.entry("properties").or_insert_with(|| Value::Object(Map::new()));
                    let Some(known) = known.as_object_mut() else { return false };
                    for (name, schema) in more {
                        known.entry(name.clone()).or_insert_with(|| schema.clone());
                    }
                }
                ("required", Value::Array(more)) => {
                    let known = whole.entry("required").or_insert_with(|| Value::Array(Vec::new()));
                    let Some(known) = known.as_array_mut() else { return false };
                    known.extend(more.iter().cloned());
                }
                // The outer schema wins, as the more specific one.
                _ => {
                    whole.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        true
    }
}
