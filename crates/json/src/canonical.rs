//! Canonical JSON: members sorted by name, no insignificant whitespace.

use std::fmt;

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use crate::tree::{Scalar, TreeReader, read_tree};

/// A JSON value with sorted members, including duplicate names.
// Duplicates are kept because parsers differ in which one they use: a change of either counts.
#[derive(Clone, Debug, PartialEq)]
pub enum CanonicalNode {
    /// A scalar, as JSON text.
    Plain(String),
    List(Vec<Self>),
    Members(Vec<(String, Self)>),
}

/// Returns the canonical text of a definition; malformed JSON is returned unchanged.
pub fn canonicalize(raw: &str) -> String {
    CanonicalNode::parse(raw).map_or_else(|| raw.to_owned(), |node| node.to_string())
}

impl CanonicalNode {
    /// Parses JSON text; `None` if it is malformed.
    pub fn parse(raw: &str) -> Option<Self> {
        serde_json::from_str(raw).ok()
    }

    /// Removes the members of this name.
    pub fn without(self, name: &str) -> Self {
        match self {
            Self::Members(mut members) => {
                members.retain(|(other, _)| other != name);
                Self::Members(members)
            }
            other => other,
        }
    }
}

impl fmt::Display for CanonicalNode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => formatter.write_str(text),
            Self::List(items) => {
                for (place, item) in items.iter().enumerate() {
                    write!(formatter, "{}{item}", if place == 0 { "[" } else { "," })?;
                }
                formatter.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Self::Members(members) => {
                for (place, (name, value)) in members.iter().enumerate() {
                    let before = if place == 0 { "{" } else { "," };
                    write!(formatter, "{before}{}:{value}", to_json_string(name))?;
                }
                formatter.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

/// Returns the text as a JSON string literal.
pub fn to_json_string(text: &str) -> String {
    Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for CanonicalNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_tree(&mut CanonicalReader, deserializer)
    }
}

struct CanonicalReader;

impl TreeReader for CanonicalReader {
    type Node = CanonicalNode;
    type Members = Vec<(String, CanonicalNode)>;

    fn scalar(&mut self, scalar: Scalar<'_>) -> CanonicalNode {
        CanonicalNode::Plain(Value::from(scalar).to_string())
    }

    fn list(&mut self, items: Vec<CanonicalNode>) -> CanonicalNode {
        CanonicalNode::List(items)
    }

    fn object(&mut self, mut members: Self::Members) -> CanonicalNode {
        // A stable sort: duplicate names keep their order, which decides which of them counts.
        members.sort_by(|left, right| left.0.cmp(&right.0));
        CanonicalNode::Members(members)
    }
}

#[cfg(test)]
mod tests {
    use super::canonicalize;

    #[test]
    fn order_of_members_white_space_and_escapes_make_no_difference() {
        let texts = [
            r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":{},"y":[]}}}"#,
            "{ \"inputSchema\" : {\"properties\":{\"y\":[ ],\"x\":{ }}, \"type\":\"object\"},\n\"name\":\"\\u0061\" }",
        ];
        assert_eq!(canonicalize(texts[0]), canonicalize(texts[1]));
    }

    #[test]
    fn everything_else_makes_one() {
        let texts = [
            r#"{"a":1}"#, r#"{"a":"1"}"#, r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, r#"{"a":null}"#,
            "{}", r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#, r#"{"a":2}"#, r#"{"a":true}"#,
            r#"{"a":"é"}"#, "{\"a\":\"e\u{301}\"}", "not JSON",
        ];
        for (place, text) in texts.iter().enumerate() {
            for other in &texts[..place] {
                assert_ne!(canonicalize(text), canonicalize(other));
            }
        }
    }
}
