//! Lowers `oneOf`, `anyOf` and lists of types: an enum if values are distinguishable.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::lower::{SchemaLowering, TypePosition, doc_members, doc_text};
use crate::model::{ItemBody, Ty};
use crate::names::NameScope;

const MAX_VARIANTS: usize = 32;
/// Maximum number of references followed to resolve an alternative; they may form a cycle.
const MAX_REFERENCES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum JsonKind {
    Null,
    Flag,
    Number,
    Text,
    List,
    Object,
}

impl SchemaLowering<'_> {
    pub(crate) fn variant_type(
        &mut self,
        schema: &Map<String, Value>,
        variants: &[Value],
        place: &TypePosition,
    ) -> Ty {
        if variants.len() > MAX_VARIANTS {
            return Ty::Any;
        }
        let kinds: Vec<Option<JsonKind>> =
            variants.iter().map(|one| kind(self.follow_references(one))).collect();
        let nullable = kinds.contains(&Some(JsonKind::Null));
        let rest: Vec<(&Value, Option<JsonKind>)> =
            variants.iter().zip(kinds).filter(|(_, kind)| *kind != Some(JsonKind::Null)).collect();
        let ty = match rest.as_slice() {
            [] => Ty::Any,
            [(only, _)] => self.ty(only, &place.deeper()),
            several => self.union_type(schema, several, place),
        };
        if nullable { ty.optional() } else { ty }
    }

    pub(crate) fn multi_type(
        &mut self,
        words: &[Value],
        schema: &Map<String, Value>,
        place: &TypePosition,
    ) -> Ty {
        let with = |word: &Value| {
            let mut one = schema.clone();
            one.insert("type".to_owned(), word.clone());
            Value::Object(one)
        };
        // There are only seven types, so further words are duplicates or invalid.
        let variants: Vec<Value> = words.iter().take(8).map(with).collect();
        self.variant_type(schema, &variants, place)
    }

    fn union_type(
        &mut self,
        schema: &Map<String, Value>,
        variants: &[(&Value, Option<JsonKind>)],
        place: &TypePosition,
    ) -> Ty {
        let docs = doc_text(&doc_members(schema));
        let constants: Vec<(String, Option<String>)> = variants
            .iter()
            .filter_map(|(one, _)| Some((one.get("const")?.as_str()?.to_owned(), doc_text(one))))
            .collect();
        if constants.len() == variants.len() {
            return self.enum_type(constants, docs, place);
        }
        // An untagged enum takes the first variant that fits, which may be the wrong one.
        if !self.are_distinguishable(variants) {
            return Ty::Any;
        }
        let mut identifiers = NameScope::default();
        let mut written = Vec::new();
        for (one, kind) in variants {
            let name = identifiers.camel(&variant_name(one, *kind), "Other");
            let ty = self.ty(one, &place.inner(&name));
            written.push((name, ty));
        }
        // An alternative that became any value cannot be distinguished from the others.
        if written.iter().any(|(_, ty)| *ty == Ty::Any) {
            return Ty::Any;
        }
        self.define(place, docs, ItemBody::Either(written))
    }

    /// Returns whether a value identifies its alternative: by its JSON type, or by a tag.
    fn are_distinguishable(&self, variants: &[(&Value, Option<JsonKind>)]) -> bool {
        let mut kinds = BTreeSet::new();
        let known = variants.iter().all(|(_, kind)| kind.is_some());
        if known && variants.iter().all(|(_, kind)| kinds.insert(*kind)) {
            return true;
        }
        let objects: Vec<&Value> = variants
            .iter()
            .filter(|(_, kind)| *kind == Some(JsonKind::Object))
            .map(|(one, _)| self.follow_references(one))
            .collect();
        let Some(first) = objects.first().filter(|_| objects.len() == variants.len()) else {
            return false;
        };
        let keys = first.get("properties").and_then(Value::as_object);
        keys.into_iter().flat_map(Map::keys).any(|key| {
            let mut texts = BTreeSet::new();
            objects.iter().all(|one| tag(one, key).is_some_and(|text| texts.insert(text)))
        })
    }

    fn follow_references<'b>(&'b self, schema: &'b Value) -> &'b Value {
        let mut end = schema;
        for _ in 0..MAX_REFERENCES {
            let target = end.get("$ref").and_then(Value::as_str);
            let Some(path) = target.and_then(|target| target.strip_prefix('#')) else { break };
            let Some(next) = self.root.pointer(path) else { break };
            end = next;
        }
        end
    }
}

/// Returns the constant string of a required member.
fn tag<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    let required = schema.get("required").and_then(Value::as_array)?;
    if !required.iter().any(|name| name == key) {
        return None;
    }
    let member = schema.get("properties")?.get(key)?;
    let values = member.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    match (member.get("const"), values) {
        (Some(value), _) | (None, Some([value])) => value.as_str(),
        _ => None,
    }
}

fn kind(schema: &Value) -> Option<JsonKind> {
    let of_value = |value: &Value| match value {
        Value::Null => JsonKind::Null,
        Value::Bool(_) => JsonKind::Flag,
        Value::Number(_) => JsonKind::Number,
        Value::String(_) => JsonKind::Text,
        Value::Array(_) => JsonKind::List,
        Value::Object(_) => JsonKind::Object,
    };
    if let Some(value) = schema.get("const") {
        return Some(of_value(value));
    }
    match schema.get("type") {
        Some(Value::String(word)) => match word.as_str() {
            "null" => Some(JsonKind::Null),
            "boolean" => Some(JsonKind::Flag),
            "number" | "integer" => Some(JsonKind::Number),
            "string" => Some(JsonKind::Text),
            "array" => Some(JsonKind::List),
            "object" => Some(JsonKind::Object),
            _ => None,
        },
        Some(_) => None,
        None => {
            let values = schema.get("enum").and_then(Value::as_array);
            let mut kinds = values.into_iter().flatten().map(of_value);
            match kinds.next() {
                Some(first) if kinds.all(|kind| kind == first) => Some(first),
                Some(_) => None,
                None if schema.get("properties").is_some() => Some(JsonKind::Object),
                None => None,
            }
        }
    }
}

/// Returns the name of an alternative: its reference or title, otherwise its JSON type.
fn variant_name(schema: &Value, kind: Option<JsonKind>) -> String {
    let text = |key| schema.get(key).and_then(Value::as_str);
    let target = text("$ref").and_then(|target| target.rsplit('/').next());
    if let Some(name) = target.or_else(|| text("title")).filter(|name| !name.is_empty()) {
        return name.to_owned();
    }
    match kind {
        Some(JsonKind::Flag) => "flag",
        Some(JsonKind::Number) => "number",
        Some(JsonKind::Text) => "text",
        Some(JsonKind::List) => "list",
        Some(JsonKind::Object) => "object",
        Some(JsonKind::Null) | None => "other",
    }
    .to_owned()
}
