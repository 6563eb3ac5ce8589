//! `oneOf`, `anyOf` and lists of types: an enum where a value tells its type, else any value.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::lower::{SchemaLowering, TypePosition, doc_members, doc_text};
use crate::model::{ItemBody, Ty};
use crate::names::NameScope;

/// So many alternatives a type may have.
const MAX_VARIANTS: usize = 32;
/// So many references are followed to see what an alternative is.
const MAX_REFERENCES: usize = 16;

/// What a value of a schema is in JSON.
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
        // Each word is written at most once by anybody who means it.
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
        // Two that became the same type, such as any value, are not told apart after all.
        if written.iter().any(|(_, ty)| *ty == Ty::Any) {
            return Ty::Any;
        }
        self.define(place, docs, ItemBody::Either(written))
    }

    /// Whether a value alone tells which alternative it is of: by its kind, or by a member that has
    /// another text in each.
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

    /// What a schema leads to by references alone.
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

/// The only text that a required member of an object may have.
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

/// What an alternative is called: by its reference or title, or else by what it is.
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
