//! The schemas of the forms that the suite looks at, and of one tool.

use serde_json::{Value, json};

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

pub(super) fn text(name: &str) -> Value {
    object(&json!({name: {"type": "string"}}), &[name])
}

pub(super) fn yes_or_no(name: &str) -> Value {
    object(&json!({name: {"type": "boolean"}}), &[name])
}

pub(super) fn name_and_address() -> Value {
    let properties = json!({
        "username": {"type": "string", "description": "A name."},
        "email": {"type": "string", "description": "An address."},
    });
    object(&properties, &["username", "email"])
}

/// A default for each primitive type.
pub(super) fn with_defaults() -> Value {
    let states = ["active", "inactive", "pending"];
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": states, "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    object(&properties, &[])
}

/// Each way in which a choice can be described.
pub(super) fn choices() -> Value {
    let options = ["option1", "option2", "option3"];
    let titled = |words: [&str; 3]| {
        let titled = ["value1", "value2", "value3"].into_iter().zip(words);
        titled.map(|(value, title)| json!({"const": value, "title": title})).collect::<Vec<_>>()
    };
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {
            "type": "string",
            "oneOf": titled(["First Option", "Second Option", "Third Option"]),
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])},
        },
    });
    object(&properties, &[])
}

/// Keywords that a host may be tempted to drop.
pub(super) fn wide() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
