//! `oneOf`, `anyOf` and lists of types: an enum where a value tells its type, else any value.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::lower::{Lowering, Place, about, docs_of};
use crate::model::{Body, Ty};
use crate::names::Names;

/// So many alternatives a type may have.
const MOST_VARIANTS: usize = 32;
/// So many references are followed to see what an alternative is.
const LONGEST_WAY: usize = 16;

/// What a value of a schema is in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Null,
    Flag,
    Number,
    Text,
    List,
    Object,
}

impl Lowering<'_> {
    pub(crate) fn one_of(
        &mut self,
        schema: &Map<String, Value>,
        variants: &[Value],
        place: &Place,
    ) -> Ty {
        if variants.len() > MOST_VARIANTS {
            return Ty::Any;
        }
        let kinds: Vec<Option<Kind>> = variants.iter().map(|one| kind(self.end_of(one))).collect();
        let nullable = kinds.contains(&Some(Kind::Null));
        let rest: Vec<(&Value, Option<Kind>)> =
            variants.iter().zip(kinds).filter(|(_, kind)| *kind != Some(Kind::Null)).collect();
        let ty = match rest.as_slice() {
            [] => Ty::Any,
            [(only, _)] => self.ty(only, &place.deeper()),
            several => self.several(schema, several, place),
        };
        if nullable { ty.or_nothing() } else { ty }
    }

    pub(crate) fn several_types(
        &mut self,
        words: &[Value],
        schema: &Map<String, Value>,
        place: &Place,
    ) -> Ty {
        let with = |word: &Value| {
            let mut one = schema.clone();
            one.insert("type".to_owned(), word.clone());
            Value::Object(one)
        };
        // Each word is written at most once by anybody who means it.
        let variants: Vec<Value> = words.iter().take(8).map(with).collect();
        self.one_of(schema, &variants, place)
    }

    fn several(
        &mut self,
        schema: &Map<String, Value>,
        variants: &[(&Value, Option<Kind>)],
        place: &Place,
    ) -> Ty {
        let docs = docs_of(&about(schema));
        let constants: Vec<(String, Option<String>)> = variants
            .iter()
            .filter_map(|(one, _)| Some((one.get("const")?.as_str()?.to_owned(), docs_of(one))))
            .collect();
        if constants.len() == variants.len() {
            return self.words(constants, docs, place);
        }
        if !self.are_told_apart(variants) {
            return Ty::Any;
        }
        let mut identifiers = Names::default();
        let mut written = Vec::new();
        for (one, kind) in variants {
            let name = identifiers.camel(&name_of(one, *kind), "Other");
            let ty = self.ty(one, &place.inner(&name));
            written.push((name, ty));
        }
        // Two that became the same type, such as any value, are not told apart after all.
        if written.iter().any(|(_, ty)| *ty == Ty::Any) {
            return Ty::Any;
        }
        self.keep(place, docs, Body::Either(written))
    }

    /// Whether a value alone tells which alternative it is of: by its kind, or by a member that has
    /// another text in each.
    fn are_told_apart(&self, variants: &[(&Value, Option<Kind>)]) -> bool {
        let mut kinds = BTreeSet::new();
        let known = variants.iter().all(|(_, kind)| kind.is_some());
        if known && variants.iter().all(|(_, kind)| kinds.insert(*kind)) {
            return true;
        }
        let objects: Vec<&Value> = variants
            .iter()
            .filter(|(_, kind)| *kind == Some(Kind::Object))
            .map(|(one, _)| self.end_of(one))
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
    fn end_of<'b>(&'b self, schema: &'b Value) -> &'b Value {
        let mut end = schema;
        for _ in 0..LONGEST_WAY {
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

fn kind(schema: &Value) -> Option<Kind> {
    let of_value = |value: &Value| match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Flag,
        Value::Number(_) => Kind::Number,
        Value::String(_) => Kind::Text,
        Value::Array(_) => Kind::List,
        Value::Object(_) => Kind::Object,
    };
    if let Some(value) = schema.get("const") {
        return Some(of_value(value));
    }
    match schema.get("type") {
        Some(Value::String(word)) => match word.as_str() {
            "null" => Some(Kind::Null),
            "boolean" => Some(Kind::Flag),
            "number" | "integer" => Some(Kind::Number),
            "string" => Some(Kind::Text),
            "array" => Some(Kind::List),
            "object" => Some(Kind::Object),
            _ => None,
        },
        Some(_) => None,
        None => {
            let values = schema.get("enum").and_then(Value::as_array);
            let mut kinds = values.into_iter().flatten().map(of_value);
            match kinds.next() {
                Some(first) if kinds.all(|kind| kind == first) => Some(first),
                Some(_) => None,
                None if schema.get("properties").is_some() => Some(Kind::Object),
                None => None,
            }
        }
    }
}

/// What an alternative is called: by its reference or title, or else by what it is.
fn name_of(schema: &Value, kind: Option<Kind>) -> String {
    let text = |key| schema.get(key).and_then(Value::as_str);
    let target = text("$ref").and_then(|target| target.rsplit('/').next());
    if let Some(name) = target.or_else(|| text("title")).filter(|name| !name.is_empty()) {
        return name.to_owned();
    }
    match kind {
        Some(Kind::Flag) => "flag",
        Some(Kind::Number) => "number",
        Some(Kind::Text) => "text",
        Some(Kind::List) => "list",
        Some(Kind::Object) => "object",
        Some(Kind::Null) | None => "other",
    }
    .to_owned()
}
