//! From a schema to types: objects become structs, what is not clear stays a JSON value.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::model::{Body, Field, Item, Presence, Ty};
use crate::names::{Names, camel};

/// So many places of a schema are looked at; a schema that goes on is any value from there.
const MOST_PLACES: usize = 20_000;
/// So deep one type may lie in another.
const DEEPEST: usize = 48;
/// So many fields a struct may have.
const MOST_FIELDS: usize = 500;

/// One schema on its way into types.
pub(crate) struct Lowering<'a> {
    /// The whole schema, which references point into.
    pub(crate) root: &'a Value,
    /// What the names of its types begin with.
    prefix: String,
    names: &'a mut Names,
    pub(crate) items: Vec<Item>,
    references: BTreeMap<String, Met>,
    /// How much of the schema may still be looked at.
    left: usize,
}

/// What is known of the target of a reference.
#[derive(Clone)]
enum Met {
    /// It is being looked at; with its name, once it has one.
    Open(Option<String>),
    /// This is its type.
    Done(Ty),
}

/// Where a type is needed.
#[derive(Clone)]
pub(crate) struct Place {
    /// The name that a type of its own would have.
    pub(crate) name: String,
    /// The reference that led here, if one did.
    reference: Option<String>,
    depth: usize,
    /// Whether something between here and the type around it has a size of its own.
    behind: Behind,
}

/// Whether a type that holds itself may stand here as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nothing,
    List,
}

impl Place {
    /// A place inside this one.
    pub(crate) fn inner(&self, name: &str) -> Self {
        let name = format!("{}{}", self.name, camel(name));
        Self { name, reference: None, depth: self.depth + 1, behind: Behind::Nothing }
    }

    fn element(&self) -> Self {
        Self { behind: Behind::List, ..self.inner("item") }
    }

    /// The same place one step on, for what stands for it.
    pub(crate) fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..self.clone() }
    }
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(root: &'a Value, prefix: &str, names: &'a mut Names) -> Self {
        let prefix = prefix.to_owned();
        let (items, references) = (Vec::new(), BTreeMap::new());
        Self { root, prefix, names, items, references, left: MOST_PLACES }
    }

    /// The type of the whole schema.
    pub(crate) fn whole(&mut self, name: &str) -> Ty {
        let reference = Some("#".to_owned());
        let name = name.to_owned();
        let place = Place { name, reference, depth: 0, behind: Behind::Nothing };
        self.references.insert("#".to_owned(), Met::Open(None));
        self.ty(self.root, &place)
    }

    /// The type that a schema describes.
    pub(crate) fn ty(&mut self, schema: &Value, place: &Place) -> Ty {
        let Some(schema) = schema.as_object().filter(|_| self.may_look(place)) else {
            return Ty::Any;
        };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return self.referred(target, place);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.all_of(schema, parts, place);
        }
        if schema.contains_key("enum") || schema.contains_key("const") {
            return self.one_of_values(schema, place);
        }
        // Beside properties these say which of them go together, which no type can.
        if !schema.contains_key("properties")
            && let Some(variants) = variants(schema)
        {
            return self.one_of(schema, &variants, place);
        }
        match schema.get("type") {
            Some(Value::String(word)) => self.plain(word, schema, place),
            Some(Value::Array(words)) => self.several_types(words, schema, place),
            None if schema.contains_key("properties") => self.object(schema, place),
            None if schema.contains_key("items") => self.list(schema, place),
            _ => Ty::Any,
        }
    }

    fn may_look(&mut self, place: &Place) -> bool {
        let may = self.left > 0 && place.depth < DEEPEST;
        self.left = self.left.saturating_sub(1);
        may
    }

    /// Gives a new type a name, keeps it, and says how to use it.
    pub(crate) fn keep(&mut self, place: &Place, docs: Option<String>, body: Body) -> Ty {
        let name = self.begin(place);
        self.items.push(Item { name: name.clone(), docs, body });
        Ty::Named(name)
    }

    /// Gives a type its name before it is whole, for whatever refers to it meanwhile.
    fn begin(&mut self, place: &Place) -> String {
        let name = self.names.camel(&place.name, "Type");
        if let Some(reference) = &place.reference {
            self.references.insert(reference.clone(), Met::Open(Some(name.clone())));
        }
        name
    }

    fn plain(&mut self, word: &str, schema: &Map<String, Value>, place: &Place) -> Ty {
        match word {
            "string" => Ty::Text,
            "boolean" => Ty::Flag,
            "number" => Ty::Number,
            "integer" if is_natural(schema) => Ty::Natural,
            "integer" => Ty::Integer,
            "array" => self.list(schema, place),
            "object" => self.object(schema, place),
            _ => Ty::Any,
        }
    }

    fn list(&mut self, schema: &Map<String, Value>, place: &Place) -> Ty {
        let items = schema.get("items").filter(|_| !schema.contains_key("prefixItems"));
        let of = items.map_or(Ty::Any, |items| self.ty(items, &place.element()));
        Ty::List(Box::new(of))
    }

    fn object(&mut self, schema: &Map<String, Value>, place: &Place) -> Ty {
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.filter(|properties| !properties.is_empty());
        match properties {
            Some(properties) if properties.len() <= MOST_FIELDS => {
                self.structure(schema, properties, place)
            }
            Some(_) => Ty::Map(Box::new(Ty::Any)),
            None => {
                let of = schema.get("additionalProperties").filter(|of| of.is_object());
                let of = of.map_or(Ty::Any, |of| self.ty(of, &place.element()));
                Ty::Map(Box::new(of))
            }
        }
    }

    fn structure(
        &mut self,
        schema: &Map<String, Value>,
        properties: &Map<String, Value>,
        place: &Place,
    ) -> Ty {
        let name = self.begin(place);
        let required = schema.get("required").and_then(Value::as_array);
        let required: BTreeSet<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        let mut identifiers = Names::default();
        let mut fields: Vec<Field> = Vec::new();
        for (key, member) in properties {
            let ty = self.ty(member, &Place { name: name.clone(), ..place.inner("") }.inner(key));
            let (ty, presence) = match required.contains(key.as_str()) {
                true => (ty, Presence::Required),
                false => (Ty::Maybe(Box::new(unwrapped(ty))), Presence::Optional),
            };
            let identifier = identifiers.snake(key, "field");
            fields.push(Field {
                identifier,
                key: key.clone(),
                docs: docs_of(member),
                ty,
                presence,
            });
        }
        let more = schema.get("additionalProperties");
        if let Some(more) = more.filter(|more| more.is_object() || **more == Value::Bool(true)) {
            let of = self.ty(more, &Place { name: name.clone(), ..place.inner("") }.inner("other"));
            fields.push(Field {
                identifier: identifiers.snake("other", "other"),
                key: String::new(),
                docs: Some("All other members.".to_owned()),
                ty: Ty::Map(Box::new(of)),
                presence: Presence::Rest,
            });
        }
        let docs = docs_of(&about(schema));
        self.items.push(Item { name: name.clone(), docs, body: Body::Fields(fields) });
        Ty::Named(name)
    }

    /// The type that a reference leads to; one that leads back to where it stands is boxed.
    fn referred(&mut self, target: &str, place: &Place) -> Ty {
        match self.references.get(target).cloned() {
            Some(Met::Done(ty)) => ty,
            Some(Met::Open(Some(name))) if place.behind == Behind::List => Ty::Named(name),
            Some(Met::Open(Some(name))) => Ty::Boxed(Box::new(Ty::Named(name))),
            Some(Met::Open(None)) => Ty::Any,
            None => {
                let root = self.root;
                let Some(schema) = target.strip_prefix('#').and_then(|path| root.pointer(path))
                else {
                    return Ty::Any;
                };
                self.references.insert(target.to_owned(), Met::Open(None));
                let last = target.rsplit('/').next().unwrap_or_default();
                let name = format!("{}{}", self.prefix, camel(last));
                let reference = Some(target.to_owned());
                let depth = place.depth + 1;
                let ty = self.ty(schema, &Place { name, reference, depth, behind: place.behind });
                self.references.insert(target.to_owned(), Met::Done(ty.clone()));
                ty
            }
        }
    }
}

/// What a schema says about itself, for a comment.
pub(crate) fn docs_of(schema: &Value) -> Option<String> {
    let text = |key| schema.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let said = text("description").or_else(|| text("title")).map(str::to_owned);
    let default = schema.get("default").filter(|value| !value.is_object() && !value.is_array());
    let default = default.filter(|value| !value.is_null()).map(Value::to_string);
    let default = default.filter(|text| text.len() <= 60).map(|text| format!("Default: {text}."));
    match (said, default) {
        (Some(said), Some(default)) => Some(format!("{said}\n\n{default}")),
        (said, default) => said.or(default),
    }
}

/// The members of a schema that tell what a type is about.
pub(crate) fn about(schema: &Map<String, Value>) -> Value {
    let told = schema.iter().filter(|(key, _)| ["description", "title"].contains(&key.as_str()));
    told.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The alternatives of a schema, if it has any.
fn variants(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    let of = |key| schema.get(key).and_then(Value::as_array).cloned();
    match (of("oneOf"), of("anyOf")) {
        (Some(variants), None) | (None, Some(variants)) => Some(variants),
        // Both at once is more than a type can say; no alternative at all fits nothing.
        (Some(_), Some(_)) => Some(Vec::new()),
        (None, None) => None,
    }
}

/// The type inside an `Option`: a member that may be left out needs only one.
fn unwrapped(ty: Ty) -> Ty {
    match ty {
        Ty::Maybe(of) => *of,
        other => other,
    }
}

fn is_natural(schema: &Map<String, Value>) -> bool {
    let least = schema.get("minimum").or_else(|| schema.get("exclusiveMinimum"));
    least.and_then(Value::as_f64).is_some_and(|least| least >= 0.0)
}
