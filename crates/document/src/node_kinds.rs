//! A value of one kind out of a node of a file, or what is wrong with it in words that follow its name.

use switchboard_text::shown;

use crate::document::{Member, Node, Value};

/// What is wrong with a value.
pub struct Wrong {
    /// Goes on after the name of the value.
    pub predicate: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Node {
    /// A truth value.
    pub fn flag(&self) -> Result<bool, Wrong> {
        match &self.value {
            Value::Bool(value) => Ok(*value),
            _ => Err(self.other_than("true or false")),
        }
    }

    /// A text, as it is written.
    pub fn text(&self) -> Result<&str, Wrong> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.other_than("a string")),
        }
    }

    /// A list; `wanted` says of what.
    pub fn list(&self, wanted: &str) -> Result<&[Self], Wrong> {
        match &self.value {
            Value::List(nodes) => Ok(nodes),
            _ => Err(self.other_than(wanted)),
        }
    }

    /// The members of an object.
    pub fn members(&self) -> Result<&[Member], Wrong> {
        match &self.value {
            Value::Object(members) => Ok(members),
            _ => Err(self.other_than("an object")),
        }
    }

    /// What is wrong where something else was wanted.
    pub fn other_than(&self, wanted: &str) -> Wrong {
        let predicate = format!("must be {wanted}, not {}", self.kind());
        Wrong { predicate, hint: way_to_write(wanted).map(str::to_owned) }
    }
}

/// How a value of a kind is written.
fn way_to_write(wanted: &str) -> Option<&'static str> {
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

/// What a word stands for, of a few.
pub fn choose<T: Copy>(word: &str, choices: &[(&str, T)]) -> Result<T, Wrong> {
    let found = choices.iter().find(|(name, _)| *name == word);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        Wrong {
            predicate: format!("cannot be `{}`", shown(word)),
            hint: Some(format!("use one of `{}`", names.join("`, `"))),
        }
    })
}
