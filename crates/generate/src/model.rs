//! The types of a module, before they are text.

use std::collections::BTreeSet;

/// A type that is written out under its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GeneratedItem {
    pub(crate) name: String,
    /// What the schema says about it.
    pub(crate) docs: Option<String>,
    pub(crate) body: ItemBody,
}

/// What is in a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemBody {
    Fields(Vec<StructField>),
    /// One of several texts.
    Words(Vec<EnumValue>),
    /// One of several types.
    Either(Vec<(String, Ty)>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StructField {
    pub(crate) identifier: String,
    /// The member's name in JSON.
    pub(crate) key: String,
    pub(crate) docs: Option<String>,
    pub(crate) ty: Ty,
    pub(crate) presence: FieldPresence,
}

/// Whether a member has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldPresence {
    Required,
    Optional,
    /// Holds all members that have no field of their own.
    Rest,
}

/// One of the texts of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnumValue {
    pub(crate) identifier: String,
    pub(crate) value: String,
    pub(crate) docs: Option<String>,
}

/// A type where it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// Any JSON value, where the schema says no more or nothing clear.
    Any,
    Text,
    Flag,
    Integer,
    Natural,
    Number,
    List(Box<Self>),
    Map(Box<Self>),
    Maybe(Box<Self>),
    Boxed(Box<Self>),
    Named(String),
}

impl Ty {
    /// The same, or nothing.
    pub(crate) fn optional(self) -> Self {
        match self {
            // Any value may be null already.
            Self::Maybe(_) | Self::Any => self,
            other => Self::Maybe(Box::new(other)),
        }
    }

    /// How it is written.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Any => "Value".to_owned(),
            Self::Text => "String".to_owned(),
            Self::Flag => "bool".to_owned(),
            Self::Integer => "i64".to_owned(),
            Self::Natural => "u64".to_owned(),
            Self::Number => "f64".to_owned(),
            Self::List(of) => format!("Vec<{}>", of.to_text()),
            Self::Map(of) => format!("BTreeMap<String, {}>", of.to_text()),
            Self::Maybe(of) => format!("Option<{}>", of.to_text()),
            Self::Boxed(of) => format!("Box<{}>", of.to_text()),
            Self::Named(name) => name.clone(),
        }
    }

    /// Whether it has an empty value of its own, where these types have one.
    pub(crate) fn has_default(&self, with: &BTreeSet<&str>) -> bool {
        match self {
            Self::Named(name) => with.contains(name.as_str()),
            Self::Boxed(of) => of.has_default(with),
            Self::Any
            | Self::Text
            | Self::Flag
            | Self::Integer
            | Self::Natural
            | Self::Number
            | Self::List(_)
            | Self::Map(_)
            | Self::Maybe(_) => true,
        }
    }
}
