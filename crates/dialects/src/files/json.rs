//! JSON with comments: reading, and edits that preserve comments, order and layout.

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::files::parsed_file::EntryChange;
use crate::grammar::OutsideChange;
use crate::note::DialectError;

/// Returns the accepted syntax: comments and trailing commas, as the editors accept them.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

type Servers = Vec<(String, Value)>;

pub(super) fn read(text: &str, path: &[&str]) -> Result<(Value, Servers), DialectError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options()).map_err(|error| {
        let before = text.get(..error.range().start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        DialectError::Syntax { line, message: error.kind().to_string() }
    })?;
    let Some(root) = parsed.value else { return Ok((Value::Null, Servers::new())) };
    let place = path.iter().try_fold(&root, |value, key| {
        // From the end: the products use the last of two equal keys.
        let mut members = value.as_object()?.properties.iter().rev();
        members.find(|member| member.name.as_str() == *key).map(|found| &found.value)
    });
    let members = place.and_then(|value| value.as_object()).map(|object| &object.properties);
    let servers = members.into_iter().flatten();
    let servers =
        servers.map(|member| (member.name.as_str().to_owned(), to_value(&member.value))).collect();
    Ok((to_value(&root), servers))
}

fn to_value(value: &jsonc_parser::ast::Value<'_>) -> Value {
    use jsonc_parser::ast;
    match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::NumberLit(literal) => {
            serde_json::from_str(literal.value).unwrap_or(Value::Null)
        }
        ast::Value::StringLit(literal) => Value::String(literal.value.clone().into_owned()),
        ast::Value::Array(array) => Value::Array(array.elements.iter().map(to_value).collect()),
        ast::Value::Object(object) => {
            let members = object.properties.iter();
            let members =
                members.map(|member| (member.name.as_str().to_owned(), to_value(&member.value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

pub(super) fn change(
    text: &str,
    path: &[&str],
    changes: &[EntryChange],
    outside: &[OutsideChange],
) -> Result<String, DialectError> {
    let root = CstRootNode::parse(text, &options())
        .map_err(|error| DialectError::Syntax { line: 1, message: error.to_string() })?;
    let whole = || DialectError::Shape { path: "(the file)".to_owned(), wanted: "an object" };
    let top = root.object_value_or_create().ok_or_else(whole)?;
    if !changes.is_empty() {
        let servers = path.iter().fold(top.clone(), |object, key| object.object_value_or_set(key));
        for change in changes {
            apply(&servers, change);
        }
    }
    for list in outside {
        apply_outside(&top, list);
    }
    let mut after = root.to_string();
    // Only a new file: an existing one keeps its last byte.
    if text.trim().is_empty() && !after.ends_with('\n') {
        after.push('\n');
    }
    Ok(after)
}

fn apply(servers: &CstObject, change: &EntryChange) {
    let there = servers.get(&change.key);
    let Some(entry) = there.as_ref().and_then(CstObjectProp::object_value) else {
        let members = change.members.iter();
        let members = members.map(|(name, value)| (name.clone(), input(value))).collect();
        let value = CstInputValue::Object(members);
        match there {
            Some(member) => member.set_value(value),
            None => drop(servers.append(&change.key, value)),
        }
        return;
    };
    for (name, value) in change.member_changes() {
        match (entry.get(name), value) {
            (Some(member), None) => member.remove(),
            (Some(member), Some(value)) => {
                let before = member.value().and_then(|node| parse_value(&node.to_string()));
                // An equal value keeps its layout and the comments inside it.
                if before.as_ref() != Some(value) {
                    member.set_value(input(value));
                }
            }
            (None, Some(value)) => drop(entry.append(name, input(value))),
            (None, None) => {}
        }
    }
}

fn apply_outside(top: &CstObject, beside: &OutsideChange) {
    let Some((last, parents)) = beside.path.split_last() else { return };
    let mut object = Some(top.clone());
    for key in parents {
        // A removal must not create the objects on the way.
        object = object.and_then(|object| match beside.add.is_empty() {
            true => object.object_value(key),
            false => Some(object.object_value_or_set(key)),
        });
    }
    let Some(object) = object else { return };
    let list = match beside.add.is_empty() {
        true => object.array_value(last),
        false => Some(object.array_value_or_set(last)),
    };
    let Some(list) = list else { return };
    for element in list.elements() {
        if parse_value(&element.to_string()).is_some_and(|value| beside.remove.contains(&value)) {
            element.remove();
        }
    }
    for value in &beside.add {
        list.append(input(value));
    }
}

fn parse_value(text: &str) -> Option<Value> {
    read(text, &[]).ok().map(|(value, _)| value)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(
            map.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}
