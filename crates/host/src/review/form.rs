//! A form of an elicitation: its fields, in the server's order.

use std::sync::Arc;

use serde_json::Value;
use switchboard_catalog::ArgumentCheck;

/// A form that a server asks a person to fill in.
#[derive(Clone, Debug)]
pub struct Form {
    pub fields: Vec<Field>,
    /// The compiled schema of the server.
    pub check: Arc<ArgumentCheck>,
    pub schema: Arc<str>,
}

/// One field of a form.
#[derive(Clone, Debug)]
pub struct Field {
    /// The key of the value in the reply.
    pub name: String,
    /// The label shown to people.
    pub title: Option<String>,
    pub description: Option<String>,
    pub required: bool,
    /// The default value, already checked against the field.
    pub default: Option<Value>,
    pub kind: FieldKind,
    /// The schema of the field, compiled as that of the only member `value`.
    pub check: Arc<ArgumentCheck>,
}

/// The type of a field's value.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    Text { format: Option<TextFormat>, shortest: Option<u64>, longest: Option<u64> },
    Number { kind: NumberKind, least: Option<f64>, most: Option<f64> },
    Boolean,
    Choice(Vec<Choice>),
    Choices { options: Vec<Choice>, fewest: Option<u64>, most: Option<u64> },
}

/// The format of a text field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

/// Whether a number must be an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    Integer,
    Number,
}

/// One option of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    /// The label shown to people.
    pub title: Option<String>,
}

impl Form {
    /// Returns the schema exactly as the server sent it.
    pub fn schema(&self) -> &str {
        &self.schema
    }
}

impl Field {
    /// Returns the label shown to people: the title, or else the name.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.name)
    }
}

impl Choice {
    /// Returns the label shown to people: the title, or else the value.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.value)
    }
}
