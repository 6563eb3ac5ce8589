//! The types of a module before they are written as text.

use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GeneratedItem {
    pub(crate) name: String,
    pub(crate) docs: Option<String>,
    pub(crate) body: ItemBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemBody {
    Fields(Vec<StructField>),
    Words(Vec<EnumValue>),
    /// An untagged enum of types.
    Either(Vec<(String, Ty)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StructField {
    pub(crate) identifier: String,
    pub(crate) key: String,
    pub(crate) docs: Option<String>,
    pub(crate) ty: Ty,
    pub(crate) presence: FieldPresence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldPresence {
    Required,
    Optional,
    /// Collects all members without a field.
    Rest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnumValue {
    pub(crate) identifier: String,
    pub(crate) value: String,
    pub(crate) docs: Option<String>,
}

/// A type as used in a field or signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// Any JSON value, for absent or ambiguous schemas.
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
    pub(crate) fn optional(self) -> Self {
        match self {
            // Any JSON value already includes null.
            Self::Maybe(_) | Self::Any => self,
            other => Self::Maybe(Box::new(other)),
        }
    }

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

    /// Returns whether the type implements `Default`, given the named types that do.
    pub(crate) fn has_default(&self, with: &BTreeSet<&str>) -> bool {
        match self {
            // The enums have no default: choosing a value is up to the caller.
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
