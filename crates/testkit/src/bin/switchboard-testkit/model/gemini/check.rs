//! Gemini's rules for a request as a whole and for its tools.

use serde_json::Value;

use super::contents;
use super::fields::{check_known, field};
use crate::model::problem::{VendorProblem, ensure};
use crate::model::request::items;

const REQUEST: &[&str] = &[
    "model",
    "contents",
    "tools",
    "toolConfig",
    "safetySettings",
    "systemInstruction",
    "generationConfig",
    "cachedContent",
    "labels",
    "serviceTier",
    "store",
];
const DECLARATION: &[&str] = &[
    "name",
    "description",
    "behavior",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
];
const SCHEMA: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];
const MAX_NAME_CHARS: usize = 64;

pub(crate) fn check(body: &Value) -> Result<(), VendorProblem> {
    check_known(body, REQUEST, "")?;
    contents::check(body)?;
    let system = field(body, "systemInstruction");
    ensure(system.is_null() || !items(&system["parts"]).is_empty(), || {
        "system_instruction.parts: must not be empty".to_owned()
    })?;
    check_tools(body)
}

fn check_tools(body: &Value) -> Result<(), VendorProblem> {
    let mut names = Vec::new();
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        let declarations = items(field(tool, "functionDeclarations")).iter().enumerate();
        for (number, declaration) in declarations {
            let place = format!("tools[{index}].function_declarations[{number}]");
            check_known(declaration, DECLARATION, &place)?;
            let name = declaration["name"].as_str().unwrap_or_default();
            check_name(name, &format!("{place}.name"))?;
            ensure(!names.contains(&name), || format!("the function `{name}` is declared twice"))?;
            names.push(name);
            let parameters = &declaration["parameters"];
            ensure(parameters.is_null() || is_object(parameters), || {
                format!("{place}.parameters.type: is not `object`")
            })?;
            check_schema(parameters, &format!("{place}.parameters"))?;
        }
    }
    Ok(())
}

pub(crate) fn check_name(name: &str, place: &str) -> Result<(), VendorProblem> {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let fits = |character: char| character.is_ascii_alphanumeric() || "_.:-".contains(character);
    ensure(starts && name.chars().all(fits) && name.len() <= MAX_NAME_CHARS, || {
        format!(
            "{place}: Invalid function name `{name}`; it starts with a letter or an underscore, \
             goes on with letters, digits and _ . : - and has at most {MAX_NAME_CHARS} characters"
        )
    })
}

fn is_object(schema: &Value) -> bool {
    schema["type"].as_str().is_some_and(|of_type| of_type.eq_ignore_ascii_case("object"))
}

/// Only a part of JSON Schema may be said in `parameters`.
fn check_schema(schema: &Value, place: &str) -> Result<(), VendorProblem> {
    check_known(schema, SCHEMA, place)?;
    let of_type = &schema["type"];
    ensure(of_type.is_null() || of_type.is_string(), || {
        format!("{place}.type: is one name, not {of_type}")
    })?;
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        check_schema(property, &format!("{place}.properties[{name}]"))?;
    }
    if !schema["items"].is_null() {
        check_schema(&schema["items"], &format!("{place}.items"))?;
    }
    for (index, choice) in items(field(schema, "anyOf")).iter().enumerate() {
        check_schema(choice, &format!("{place}.any_of[{index}]"))?;
    }
    Ok(())
}
