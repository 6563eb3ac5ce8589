//! Measures a schema before compilation, so that a small text cannot expand into unbounded work.

use std::collections::HashMap;
use std::ptr;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::arguments::BadSchema;

// In the text of a schema, and along its references.
pub(crate) const MAX_DEPTH: usize = 64;
// With every reference followed. A short schema can refer to itself exponentially often.
const MAX_SUBSCHEMAS: usize = 10_000;
// Assumed for a published meta-schema, which is not walked and has 16 self-references.
const META_SCHEMA_EXTENT: SchemaExtent =
    SchemaExtent { subschemas: 60, depth: 8, returns: 16, patterns: 0 };

/// The size of a schema with its references followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SchemaExtent {
    /// Number of subschemas, each counted as often as it is reached.
    pub(crate) subschemas: usize,
    pub(crate) depth: usize,
    /// References back to an open schema; 0 if the schema is not recursive.
    pub(crate) returns: usize,
    /// Regular expressions in the text; set only for a whole schema.
    pub(crate) patterns: usize,
}

/// Measures a schema, and rejects one that exceeds the limits.
pub(crate) fn measure(schema: &Value) -> Result<SchemaExtent, BadSchema> {
    if is_deeper_than(schema, MAX_DEPTH) {
        return Err(BadSchema::TooDeep { limit: MAX_DEPTH });
    }
    let mut walk = SchemaWalk::default();
    walk.survey(schema);
    let mut extent = walk.schema(schema, SchemaScope { document: schema, resource: schema }, 0)?;
    extent.patterns = walk.patterns;
    if extent.subschemas > MAX_SUBSCHEMAS {
        return Err(BadSchema::TooManySubschemas { limit: MAX_SUBSCHEMAS });
    }
    Ok(extent)
}

pub(crate) fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return value.is_object() || value.is_array();
    };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper_than(item, below)),
        Value::Object(members) => members.values().any(|member| is_deeper_than(member, below)),
        _ => false,
    }
}

#[derive(Clone, Copy)]
enum VisitState {
    Open,
    Done(SchemaExtent),
}

/// The document and the embedded resource that a schema belongs to.
#[derive(Clone, Copy)]
struct SchemaScope<'a> {
    document: &'a Value,
    resource: &'a Value,
}

#[derive(Default)]
struct SchemaWalk<'a> {
    visits: HashMap<*const Value, VisitState>,
    /// Embedded schemas by `$id`, and by `#` followed by their anchor.
    identifiers: HashMap<String, Vec<&'a Value>>,
    patterns: usize,
}

impl<'a> SchemaWalk<'a> {
    fn schema(
        &mut self,
        schema: &'a Value,
        scope: SchemaScope<'a>,
        depth: usize,
    ) -> Result<SchemaExtent, BadSchema> {
        let leaf = SchemaExtent { subschemas: 1, depth: 1, ..SchemaExtent::default() };
        let Value::Object(members) = schema else { return Ok(leaf) };
        match self.visits.get(&ptr::from_ref(schema)) {
            // The schema is an ancestor of itself: count the reference, but do not follow it.
            Some(VisitState::Open) => return Ok(SchemaExtent { returns: 1, ..leaf }),
            Some(VisitState::Done(extent)) => return Ok(*extent),
            None => {}
        }
        // A chain of references can be long even where the text is flat.
        if depth > MAX_DEPTH {
            return Err(BadSchema::TooDeep { limit: MAX_DEPTH });
        }
        self.visits.insert(schema, VisitState::Open);
        let own = members.get("$id").and_then(Value::as_str);
        let is_resource = own.is_some_and(|id| !id.starts_with('#'));
        let scope = if is_resource { SchemaScope { resource: schema, ..scope } } else { scope };
        let mut total = SchemaExtent { depth: 0, ..leaf };
        let mut below = Vec::new();
        for (keyword, value) in members {
            if let ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) =
                (keyword.as_str(), value)
            {
                if is_meta_schema(reference) {
                    add_extent(&mut total, META_SCHEMA_EXTENT);
                } else {
                    below.extend(self.targets(reference, scope)?);
                }
            }
            if matches!(keyword.as_str(), "$defs" | "definitions") {
                self.definitions(value, scope, depth)?;
            } else {
                for_each_subschema(keyword, value, |subschema| below.push(subschema));
            }
        }
        for subschema in below {
            add_extent(&mut total, self.schema(subschema, scope, depth + 1)?);
        }
        total.depth += 1;
        if total.depth > MAX_DEPTH {
            return Err(BadSchema::TooDeep { limit: MAX_DEPTH });
        }
        self.visits.insert(schema, VisitState::Done(total));
        Ok(total)
    }

    /// Walks definitions only to find errors: they are counted where they are referenced.
    fn definitions(
        &mut self,
        definitions: &'a Value,
        scope: SchemaScope<'a>,
        depth: usize,
    ) -> Result<(), BadSchema> {
        let definitions = definitions.as_object().into_iter().flat_map(serde_json::Map::values);
        for definition in definitions {
            self.schema(definition, scope, depth + 1)?;
        }
        Ok(())
    }

    /// Returns all possible targets of a reference.
    fn targets(
        &self,
        reference: &str,
        SchemaScope { document, resource }: SchemaScope<'a>,
    ) -> Result<Vec<&'a Value>, BadSchema> {
        // The actual target depends on the draft and on the path of evaluation. Counting all of
        // them overestimates the size, which is safe.
        let (place, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let bases = if !place.is_empty() {
            self.identifiers
                .get(place)
                .cloned()
                .ok_or_else(|| BadSchema::RemoteReference { reference: reference.to_owned() })?
        } else if ptr::eq(document, resource) {
            vec![document]
        } else {
            vec![document, resource]
        };
        let targets = if fragment.is_empty() {
            bases
        } else if fragment.starts_with('/') {
            let pointer = percent_decode_str(fragment).decode_utf8_lossy();
            bases.into_iter().filter_map(|base| base.pointer(&pointer)).collect()
        } else {
            self.identifiers.get(&format!("#{fragment}")).cloned().unwrap_or_default()
        };
        if targets.is_empty() {
            return Err(BadSchema::UnknownReference { reference: reference.to_owned() });
        }
        Ok(targets)
    }

    /// Collects the identifiers that references may use, and counts patterns.
    fn survey(&mut self, value: &'a Value) {
        match value {
            Value::Object(members) => {
                for (keyword, mark) in [("$id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")] {
                    if let Some(Value::String(text)) = members.get(keyword) {
                        let identifier = format!("{mark}{}", text.trim_end_matches('#'));
                        self.identifiers.entry(identifier).or_default().push(value);
                    }
                }
                let keyed = members.get("patternProperties").and_then(Value::as_object);
                self.patterns += keyed.map_or(0, serde_json::Map::len);
                self.patterns += usize::from(members.get("pattern").is_some_and(Value::is_string));
                members.values().for_each(|member| self.survey(member));
            }
            Value::Array(items) => items.iter().for_each(|item| self.survey(item)),
            _ => {}
        }
    }
}

/// Returns whether a reference names a published meta-schema, which the validator contains.
fn is_meta_schema(reference: &str) -> bool {
    ["http://json-schema.org/", "https://json-schema.org/"]
        .iter()
        .any(|published| reference.starts_with(published))
}

fn add_extent(total: &mut SchemaExtent, part: SchemaExtent) {
    total.subschemas = total.subschemas.saturating_add(part.subschemas);
    total.depth = total.depth.max(part.depth);
    total.returns = total.returns.saturating_add(part.returns);
}

/// Calls `take` with each subschema of a keyword.
fn for_each_subschema<'a>(keyword: &str, value: &'a Value, mut take: impl FnMut(&'a Value)) {
    match (keyword, value) {
        (
            "properties" | "patternProperties" | "dependentSchemas" | "dependencies",
            Value::Object(schemas),
        ) => schemas.values().filter(|schema| schema.is_object()).for_each(take),
        ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(schemas)) => {
            schemas.iter().for_each(take);
        }
        (
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "contains"
            | "contentSchema"
            | "else"
            | "if"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            Value::Object(_),
        ) => take(value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plain_schema_is_measured_without_ways_back() {
        let schema = json!({"properties": {"a": {"items": {"pattern": "x"}}, "b": true},
            "patternProperties": {"^y": true},
            "default": {"$ref": "http://example.com/x"}});
        assert_eq!(
            measure(&schema).unwrap(),
            SchemaExtent { subschemas: 3, depth: 3, returns: 0, patterns: 2 }
        );
    }

    #[test]
    fn a_schema_that_contains_itself_has_ways_back() {
        let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        assert_eq!(
            measure(&tree).unwrap(),
            SchemaExtent { subschemas: 5, depth: 3, returns: 2, patterns: 0 }
        );
    }

    #[test]
    fn definitions_count_where_they_are_referred_to() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {
            "a": {"properties": {"x": {"$ref": "#/$defs/b"}, "y": {"$ref": "#/$defs/b"}}},
            "b": {"type": "string"}, "c": {"items": {"$ref": "#/$defs/c"}}}});
        let expected = SchemaExtent { subschemas: 6, depth: 4, returns: 0, patterns: 0 };
        assert_eq!(measure(&schema).unwrap(), expected);
    }

    #[test]
    fn references_within_the_document_are_followed() {
        let references = ["#/$defs/a%20b", "#named", "inner", "inner#/properties/x", "#"];
        for reference in references {
            let schema = json!({"$ref": reference, "$defs": {
                "a b": {"type": "string"},
                "c": {"$anchor": "named"},
                "d": {"$id": "inner", "properties": {"x": {"$ref": "#"}}},
            }});
            assert!(measure(&schema).is_ok(), "{reference}");
        }
    }
}
