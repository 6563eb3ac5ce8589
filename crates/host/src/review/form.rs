//! A form that a server wants filled in: its fields, in the server's order.

use std::sync::Arc;

use serde_json::Value;
use switchboard_catalog::ArgumentCheck;

/// A form that a server wants filled in.
#[derive(Clone, Debug)]
pub struct Form {
    /// The fields, in the server's order.
    pub fields: Vec<Field>,
    /// The very schema that came.
    pub check: Arc<ArgumentCheck>,
    /// The text of that schema.
    pub schema: Arc<str>,
}

/// One field of a form.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name under which the value is sent.
    pub name: String,
    /// What it is called for people.
    pub title: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// Whether it has to be filled in.
    pub required: bool,
    /// What it holds if nobody says otherwise. It fits the field.
    pub default: Option<Value>,
    /// What can be filled in.
    pub kind: FieldKind,
    /// The part of the schema that is about it, as that of the only member `value`.
    pub check: Arc<ArgumentCheck>,
}

/// What can be filled in.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    Text {
        /// What it has to look like.
        format: Option<TextFormat>,
        shortest: Option<u64>,
        longest: Option<u64>,
    },
    Number {
        kind: NumberKind,
        least: Option<f64>,
        most: Option<f64>,
    },
    Boolean,
    Choice(Vec<Choice>),
    Choices {
        /// What there is to choose from.
        options: Vec<Choice>,
        /// The fewest to choose.
        fewest: Option<u64>,
        /// The most to choose.
        most: Option<u64>,
    },
}

/// What a text has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

/// Which numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    Integer,
    Number,
}

/// One thing to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    /// What it is called for people.
    pub title: Option<String>,
}

impl Form {
    /// The very text of the schema that came.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.schema
    }
}

impl Field {
    /// What it is called for people: its title, or its name.
    #[must_use]
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.name)
    }
}

impl Choice {
    /// What it is called for people: its title, or its value.
    #[must_use]
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.value)
    }
}
