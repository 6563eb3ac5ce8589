//! Typed access to the nodes of a document, with errors that follow the name of the value.

use switchboard_text::sanitize;

use crate::document::{Member, Node, NodeValue};

/// A value that has the wrong type or is not one of the choices.
pub struct TypeMismatch {
    /// The problem as a predicate that follows the name of the value.
    pub predicate: String,
    pub hint: Option<String>,
}

impl Node {
    /// Returns the value of a Boolean.
    pub fn flag(&self) -> Result<bool, TypeMismatch> {
        match &self.value {
            NodeValue::Bool(value) => Ok(*value),
            _ => Err(self.mismatch("true or false")),
        }
    }

    /// Returns the text of a string.
    pub fn text(&self) -> Result<&str, TypeMismatch> {
        match &self.value {
            NodeValue::Text(text) => Ok(text),
            _ => Err(self.mismatch("a string")),
        }
    }

    /// Returns a list; `wanted` describes it in the error.
    pub fn list(&self, wanted: &str) -> Result<&[Self], TypeMismatch> {
        match &self.value {
            NodeValue::List(nodes) => Ok(nodes),
            _ => Err(self.mismatch(wanted)),
        }
    }

    /// Returns the members of an object.
    pub fn members(&self) -> Result<&[Member], TypeMismatch> {
        match &self.value {
            NodeValue::Object(members) => Ok(members),
            _ => Err(self.mismatch("an object")),
        }
    }

    /// Returns the error for a value that is not `wanted`.
    pub fn mismatch(&self, wanted: &str) -> TypeMismatch {
        let predicate = format!("must be {wanted}, not {}", self.kind());
        TypeMismatch { predicate, hint: spelling_hint(wanted).map(str::to_owned) }
    }
}

fn spelling_hint(wanted: &str) -> Option<&'static str> {
    match wanted {
        "a string" => Some("write it in double quotes"),
        "true or false" => Some("write it without quotes"),
        "an object" => Some("write `{\"name\": \"value\"}`"),
        "a list of strings" => Some("write `[\"one\", \"two\"]`"),
        _ if wanted.starts_with("a list") => Some("write it in square brackets"),
        _ if wanted.starts_with("a whole number") => Some("write a number without quotes"),
        _ => None,
    }
}

/// Returns the choice with this name.
pub fn choose<T: Copy>(word: &str, choices: &[(&str, T)]) -> Result<T, TypeMismatch> {
    let found = choices.iter().find(|(name, _)| *name == word);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        TypeMismatch {
            predicate: format!("cannot be `{}`", sanitize(word)),
            hint: Some(format!("use one of `{}`", names.join("`, `"))),
        }
    })
}
