//! Lowers schemas to types: objects become structs, ambiguous schemas become JSON values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::model::{FieldPresence, GeneratedItem, ItemBody, StructField, Ty};
use crate::names::{NameScope, camel};

/// Maximum number of subschemas visited; the rest of a schema becomes any value.
const MAX_VISITED_SCHEMAS: usize = 20_000;
const MAX_DEPTH: usize = 48;
const MAX_FIELDS: usize = 500;

pub(crate) struct SchemaLowering<'a> {
    /// The whole schema, which references point into.
    pub(crate) root: &'a Value,
    prefix: String,
    names: &'a mut NameScope,
    pub(crate) items: Vec<GeneratedItem>,
    references: BTreeMap<String, ReferenceState>,
    left: usize,
}

#[derive(Clone)]
enum ReferenceState {
    /// Being lowered; with its name, if it has one already.
    Open(Option<String>),
    Done(Ty),
}

/// The position in which a type is needed.
#[derive(Clone)]
pub(crate) struct TypePosition {
    /// The name for a type defined at this position.
    pub(crate) name: String,
    /// The reference that led to this position, if any.
    reference: Option<String>,
    depth: usize,
    /// Whether a list lies between this position and the enclosing type.
    behind: Indirection,
}

/// Whether a recursive type needs a box at this position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Indirection {
    Nothing,
    List,
}

impl TypePosition {
    pub(crate) fn inner(&self, name: &str) -> Self {
        let name = format!("{}{}", self.name, camel(name));
        Self { name, reference: None, depth: self.depth + 1, behind: Indirection::Nothing }
    }

    fn element(&self) -> Self {
        Self { behind: Indirection::List, ..self.inner("item") }
    }

    /// Returns the same position one level deeper, for a schema that replaces this one.
    pub(crate) fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..self.clone() }
    }
}

impl<'a> SchemaLowering<'a> {
    pub(crate) fn new(root: &'a Value, prefix: &str, names: &'a mut NameScope) -> Self {
        let prefix = prefix.to_owned();
        let references = BTreeMap::new();
        Self { root, prefix, names, items: Vec::new(), references, left: MAX_VISITED_SCHEMAS }
    }

    pub(crate) fn root_type(&mut self, name: &str) -> Ty {
        let reference = Some("#".to_owned());
        let name = name.to_owned();
        let place = TypePosition { name, reference, depth: 0, behind: Indirection::Nothing };
        self.references.insert("#".to_owned(), ReferenceState::Open(None));
        self.ty(self.root, &place)
    }

    pub(crate) fn ty(&mut self, schema: &Value, place: &TypePosition) -> Ty {
        let Some(schema) = schema.as_object().filter(|_| self.may_visit(place)) else {
            return Ty::Any;
        };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return self.reference_type(target, place);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.merged_type(schema, parts, place);
        }
        if schema.contains_key("enum") || schema.contains_key("const") {
            return self.literal_type(schema, place);
        }
        // Next to properties, alternatives only constrain combinations; no type can express that.
        if !schema.contains_key("properties")
            && let Some(variants) = variants(schema)
        {
            return self.variant_type(schema, &variants, place);
        }
        match schema.get("type") {
            Some(Value::String(word)) => self.primitive_type(word, schema, place),
            Some(Value::Array(words)) => self.multi_type(words, schema, place),
            None if schema.contains_key("properties") => self.object_type(schema, place),
            None if schema.contains_key("items") => self.list_type(schema, place),
            _ => Ty::Any,
        }
    }

    fn may_visit(&mut self, place: &TypePosition) -> bool {
        let may = self.left > 0 && place.depth < MAX_DEPTH;
        self.left = self.left.saturating_sub(1);
        may
    }

    pub(crate) fn define(
        &mut self,
        place: &TypePosition,
        docs: Option<String>,
        body: ItemBody,
    ) -> Ty {
        let name = self.reserve_name(place);
        self.items.push(GeneratedItem { name: name.clone(), docs, body });
        Ty::Named(name)
    }

    /// Names a type before it is complete, so that recursive references can use the name.
    fn reserve_name(&mut self, place: &TypePosition) -> String {
        let name = self.names.camel(&place.name, "Type");
        if let Some(reference) = &place.reference {
            self.references.insert(reference.clone(), ReferenceState::Open(Some(name.clone())));
        }
        name
    }

    fn primitive_type(
        &mut self,
        word: &str,
        schema: &Map<String, Value>,
        place: &TypePosition,
    ) -> Ty {
        match word {
            "string" => Ty::Text,
            "boolean" => Ty::Flag,
            "number" => Ty::Number,
            "integer" if is_natural(schema) => Ty::Natural,
            "integer" => Ty::Integer,
            "array" => self.list_type(schema, place),
            "object" => self.object_type(schema, place),
            _ => Ty::Any,
        }
    }

    fn list_type(&mut self, schema: &Map<String, Value>, place: &TypePosition) -> Ty {
        // With `prefixItems`, the elements have different types.
        let items = schema.get("items").filter(|_| !schema.contains_key("prefixItems"));
        let of = items.map_or(Ty::Any, |items| self.ty(items, &place.element()));
        Ty::List(Box::new(of))
    }

    fn object_type(&mut self, schema: &Map<String, Value>, place: &TypePosition) -> Ty {
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.filter(|properties| !properties.is_empty());
        match properties {
            Some(properties) if properties.len() <= MAX_FIELDS => {
                self.struct_type(schema, properties, place)
            }
            Some(_) => Ty::Map(Box::new(Ty::Any)),
            None => {
                let of = schema.get("additionalProperties").filter(|of| of.is_object());
                let of = of.map_or(Ty::Any, |of| self.ty(of, &place.element()));
                Ty::Map(Box::new(of))
            }
        }
    }

    fn struct_type(
        &mut self,
        schema: &Map<String, Value>,
        properties: &Map<String, Value>,
        place: &TypePosition,
    ) -> Ty {
        let name = self.reserve_name(place);
        let required = schema.get("required").and_then(Value::as_array);
        let required: BTreeSet<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        let mut identifiers = NameScope::default();
        let mut fields: Vec<StructField> = Vec::new();
        let inside = TypePosition { name: name.clone(), ..place.inner("") };
        for (key, member) in properties {
            let ty = self.ty(member, &inside.inner(key));
            let (ty, presence) = match required.contains(key.as_str()) {
                true => (ty, FieldPresence::Required),
                false => (Ty::Maybe(Box::new(unwrap_option(ty))), FieldPresence::Optional),
            };
            fields.push(StructField {
                identifier: identifiers.snake(key, "field"),
                key: key.clone(),
                docs: doc_text(member),
                ty,
                presence,
            });
        }
        let more = schema.get("additionalProperties");
        if let Some(more) = more.filter(|more| more.is_object() || **more == Value::Bool(true)) {
            let of = self.ty(more, &inside.inner("other"));
            fields.push(StructField {
                identifier: identifiers.snake("other", "other"),
                key: String::new(),
                docs: Some("All other members.".to_owned()),
                ty: Ty::Map(Box::new(of)),
                presence: FieldPresence::Rest,
            });
        }
        let docs = doc_text(&doc_members(schema));
        self.items.push(GeneratedItem { name: name.clone(), docs, body: ItemBody::Fields(fields) });
        Ty::Named(name)
    }

    /// Returns the type of a reference's target, boxed if it is recursive outside a list.
    fn reference_type(&mut self, target: &str, place: &TypePosition) -> Ty {
        match self.references.get(target).cloned() {
            Some(ReferenceState::Done(ty)) => ty,
            Some(ReferenceState::Open(Some(name))) if place.behind == Indirection::List => {
                Ty::Named(name)
            }
            Some(ReferenceState::Open(Some(name))) => Ty::Boxed(Box::new(Ty::Named(name))),
            // A reference that leads only to itself describes nothing.
            Some(ReferenceState::Open(None)) => Ty::Any,
            None => {
                let root = self.root;
                let Some(schema) = target.strip_prefix('#').and_then(|path| root.pointer(path))
                else {
                    return Ty::Any;
                };
                self.references.insert(target.to_owned(), ReferenceState::Open(None));
                let last = target.rsplit('/').next().unwrap_or_default();
                let name = format!("{}{}", self.prefix, camel(last));
                let reference = Some(target.to_owned());
                let depth = place.depth + 1;
                let ty =
                    self.ty(schema, &TypePosition { name, reference, depth, behind: place.behind });
                self.references.insert(target.to_owned(), ReferenceState::Done(ty.clone()));
                ty
            }
        }
    }
}

/// Returns the description of a schema, for a comment.
pub(crate) fn doc_text(schema: &Value) -> Option<String> {
    let text = |key| schema.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let said = text("description").or_else(|| text("title")).map(str::to_owned);
    let default = schema.get("default").filter(|value| !value.is_object() && !value.is_array());
    let default = default.filter(|value| !value.is_null()).map(Value::to_string);
    // Longer defaults are usually documents, which do not help in a comment.
    let default = default.filter(|text| text.len() <= 60).map(|text| format!("Default: {text}."));
    match (said, default) {
        (Some(said), Some(default)) => Some(format!("{said}\n\n{default}")),
        (said, default) => said.or(default),
    }
}

pub(crate) fn doc_members(schema: &Map<String, Value>) -> Value {
    let told = schema.iter().filter(|(key, _)| ["description", "title"].contains(&key.as_str()));
    told.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn variants(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    let of = |key| schema.get(key).and_then(Value::as_array).cloned();
    match (of("oneOf"), of("anyOf")) {
        (Some(variants), None) | (None, Some(variants)) => Some(variants),
        // A type cannot express both, so no alternatives are returned, which become any value.
        (Some(_), Some(_)) => Some(Vec::new()),
        (None, None) => None,
    }
}

/// Removes an `Option`, because an optional member needs only one.
fn unwrap_option(ty: Ty) -> Ty {
    match ty {
        Ty::Maybe(of) => *of,
        other => other,
    }
}

fn is_natural(schema: &Map<String, Value>) -> bool {
    let least = schema.get("minimum").or_else(|| schema.get("exclusiveMinimum"));
    least.and_then(Value::as_f64).is_some_and(|least| least >= 0.0)
}
