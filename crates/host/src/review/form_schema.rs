//! Parses the schema of an elicitation into a form.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_catalog::ArgumentCheck;
use switchboard_json::{FromMembers, deserialize_members};
use switchboard_text::excerpt_text;

use crate::review::ask::BadAsk;
use crate::review::form::{Choice, Field, FieldKind, Form, NumberKind, TextFormat};

/// Maximum number of fields that a person can reasonably fill in.
const MAX_FIELDS: usize = 100;
const MAX_OPTIONS: usize = 500;
/// Maximum number of characters kept of a description or title.
const MAX_TEXT_CHARS: usize = 1_000;

impl Form {
    /// Parses a schema: a flat object of strings, numbers, booleans and choices.
    ///
    /// Ambiguous schemas are accepted with their most likely meaning, others are rejected.
    pub fn parse(schema: &RawValue) -> Result<Self, BadAsk> {
        let read: FormSchema = serde_json::from_str(schema.get())
            .map_err(|error| BadAsk::new_malformed(format!("the form cannot be read: {error}")))?;
        if read.kind.is_some_and(|kind| kind != "object") {
            return Err(BadAsk::new_malformed("the form is not an object of fields"));
        }
        let properties = read.properties.map(|properties| properties.0).unwrap_or_default();
        if properties.len() > MAX_FIELDS {
            let count = properties.len();
            let why = format!("the form has {count} fields, more than {MAX_FIELDS}");
            return Err(BadAsk::new_malformed(why));
        }
        let names: HashSet<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
        if names.len() < properties.len() {
            return Err(BadAsk::new_malformed("the form has two fields of the same name"));
        }
        let required: Vec<String> = read.required.unwrap_or_default();
        // Such a form could never be submitted.
        if let Some(missing) = required.iter().find(|name| !names.contains(name.as_str())) {
            let missing = excerpt_text(missing, 80);
            let why = format!("the form requires `{missing}`, which it does not describe");
            return Err(BadAsk::new_malformed(why));
        }
        let fields = properties.iter().map(|(name, schema)| {
            let mut field = parse_field(name, schema)?;
            field.required = required.contains(name);
            Ok(field)
        });
        let fields: Vec<Field> = fields.collect::<Result<_, BadAsk>>()?;
        let check = ArgumentCheck::compile(schema.get())
            .map_err(|error| BadAsk::new_malformed(error.to_string()))?;
        Ok(Self { fields, check: Arc::new(check), schema: schema.get().into() })
    }
}

#[derive(Deserialize)]
struct FormSchema {
    #[serde(rename = "type")]
    kind: Option<Value>,
    properties: Option<OrderedProperties>,
    required: Option<Vec<String>>,
}

/// Members in the order of the text, in which a person fills them in.
#[derive(Default)]
struct OrderedProperties(Vec<(String, Value)>);

impl<'de> FromMembers<'de> for OrderedProperties {
    const EXPECTED: &'static str = "an object of fields";

    fn read_member<A: MapAccess<'de>>(
        &mut self,
        name: Cow<'de, str>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        self.0.push((name.into_owned(), map.next_value()?));
        Ok(())
    }
}

impl<'de> Deserialize<'de> for OrderedProperties {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_members(from)
    }
}

fn parse_field(name: &str, schema: &Value) -> Result<Field, BadAsk> {
    let text = |key: &str| {
        let text = schema.get(key).and_then(Value::as_str);
        text.map(|text| text.chars().take(MAX_TEXT_CHARS).collect::<String>())
    };
    let kind = parse_kind(schema).ok_or_else(|| {
        let name = excerpt_text(name, 80);
        let why = format!("`{name}` is neither a text, a number, a yes or no, nor a choice");
        BadAsk::new_malformed(why)
    })?;
    let alone = json!({"properties": {"value": schema}}).to_string();
    let check = ArgumentCheck::compile(&alone)
        .map_err(|error| BadAsk::new_malformed(format!("`{}`: {error}", excerpt_text(name, 80))))?;
    let mut field = Field {
        name: name.to_owned(),
        title: text("title"),
        description: text("description"),
        required: false,
        default: None,
        kind,
        check: Arc::new(check),
    };
    // A default that does not fit the field is dropped.
    let default = schema.get("default").filter(|value| field.problem_with(value).is_none());
    field.default = default.cloned();
    Ok(field)
}

fn parse_kind(schema: &Value) -> Option<FieldKind> {
    let schema = without_null(schema);
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let names = schema.get("enumNames").and_then(Value::as_array);
    if let Some(options) = parse_choices(schema, names) {
        return Some(FieldKind::Choice(options));
    }
    match type_name(schema)? {
        "string" => Some(FieldKind::Text {
            format: schema.get("format").and_then(Value::as_str).and_then(parse_format),
            shortest: count("minLength"),
            longest: count("maxLength"),
        }),
        "integer" | "number" => Some(FieldKind::Number {
            kind: match type_name(schema)? {
                "integer" => NumberKind::Integer,
                _ => NumberKind::Number,
            },
            least: bound("minimum"),
            most: bound("maximum"),
        }),
        "boolean" => Some(FieldKind::Boolean),
        "array" => {
            let options = parse_choices(schema.get("items")?, names)?;
            Some(FieldKind::Choices { options, fewest: count("minItems"), most: count("maxItems") })
        }
        _ => None,
    }
}

/// Unwraps `anyOf: [schema, null]`, which some libraries generate for optional fields.
fn without_null(schema: &Value) -> &Value {
    let is_null = |schema: &&Value| schema.get("type").is_some_and(|kind| kind == "null");
    match schema.get("anyOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([one, null] | [null, one]) if is_null(&null) && !is_null(&one) => one,
        _ => schema,
    }
}

fn type_name(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null")
        }
        _ => None,
    }
}

fn parse_format(name: &str) -> Option<TextFormat> {
    match name {
        "email" => Some(TextFormat::Email),
        "uri" => Some(TextFormat::Uri),
        "date" => Some(TextFormat::Date),
        "date-time" => Some(TextFormat::DateTime),
        _ => None,
    }
}

/// Parses the choices of `enum`, with or without names, or of `oneOf` and `anyOf` with titles.
fn parse_choices(schema: &Value, names: Option<&Vec<Value>>) -> Option<Vec<Choice>> {
    let listed: Option<Vec<Choice>> = if let Some(values) = schema.get("enum") {
        let name = |at: usize| names?.get(at)?.as_str().map(str::to_owned);
        let values = values.as_array()?.iter().enumerate();
        let choice = |(at, value): (usize, &Value)| {
            Some(Choice { value: value.as_str()?.to_owned(), title: name(at) })
        };
        values.map(choice).collect()
    } else {
        let titled = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?.iter();
        let choice = |one: &Value| {
            let title = one.get("title").and_then(Value::as_str).map(str::to_owned);
            Some(Choice { value: one.get("const")?.as_str()?.to_owned(), title })
        };
        titled.map(choice).collect()
    };
    listed.filter(|options| !options.is_empty() && options.len() <= MAX_OPTIONS)
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
