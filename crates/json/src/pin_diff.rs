//! The difference between two definitions, as readable lines.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::canonical::CanonicalNode;

/// Number of characters shown on each side of a change.
const CONTEXT_CHARS: usize = 60;
/// Maximum number of lines of a diff; further ones are only counted.
const MAX_LINES: usize = 200;

/// Returns the changes from `before` to `now`, which are JSON texts, as lines with `-` and `+`.
pub fn diff(before: Option<&str>, now: &str) -> String {
    let old = leaves(before);
    let new = leaves(Some(now));
    let mut lines = Vec::new();
    for (path, value) in &old {
        match new.get(path) {
            None => lines.push(format!("- {path}: {value}")),
            Some(other) if other != value => {
                let (value, other) = excerpt_change(value, other);
                lines.push(format!("- {path}: {value}"));
                lines.push(format!("+ {path}: {other}"));
            }
            Some(_) => {}
        }
    }
    let added = new.iter().filter(|(path, _)| !old.contains_key(*path));
    lines.extend(added.map(|(path, value)| format!("+ {path}: {value}")));
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if more > 0 {
        lines.push(format!("({more} more lines)"));
    }
    lines.join("\n")
}

/// Returns the names of the top-level members that differ; unknown ones together as `other parts`.
pub fn changed_parts(before: &str, now: &str) -> Vec<&'static str> {
    // A server chooses other names itself, and could put instructions to the model into them.
    const KNOWN: [&str; 11] = [
        "name", "title", "description", "inputSchema", "outputSchema", "annotations", "arguments",
        "icons", "execution", "mimeType", "_meta",
    ];
    let parts = |text| match CanonicalNode::parse(text) {
        Some(CanonicalNode::Members(members)) => members,
        _ => Vec::new(),
    };
    let old = parts(before);
    let new = parts(now);
    let of = |parts: &[(String, CanonicalNode)], name: &str| {
        parts.iter().filter(|(other, _)| other == name).cloned().collect::<Vec<_>>()
    };
    let mut changed: Vec<&'static str> =
        KNOWN.into_iter().filter(|name| of(&old, name) != of(&new, name)).collect();
    let unknown = |parts: &[(String, CanonicalNode)]| {
        let is_unknown = |part: &&(String, CanonicalNode)| !KNOWN.contains(&part.0.as_str());
        parts.iter().filter(is_unknown).cloned().collect::<Vec<_>>()
    };
    if unknown(&old) != unknown(&new) {
        changed.push("other parts");
    }
    changed
}

/// Returns every scalar and empty container by its path.
fn leaves(text: Option<&str>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Some(text) = text {
        match CanonicalNode::parse(text) {
            Some(node) => collect_leaves(String::new(), &node, &mut found),
            // Malformed JSON is compared as a whole, so that a change of it is still visible.
            None => {
                found.insert("definition".to_owned(), text.to_owned());
            }
        }
    }
    found
}

fn collect_leaves(path: String, node: &CanonicalNode, found: &mut BTreeMap<String, String>) {
    let below = |name: &str| match path.as_str() {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let mut keep = |text: &str| {
        let mut place = if path.is_empty() { "text".to_owned() } else { path.clone() };
        // Duplicate names get separate lines.
        while found.contains_key(&place) {
            place.push('\'');
        }
        found.insert(place, text.to_owned());
    };
    match node {
        CanonicalNode::Plain(text) => keep(text),
        CanonicalNode::List(items) if items.is_empty() => keep("[]"),
        CanonicalNode::Members(members) if members.is_empty() => keep("{}"),
        CanonicalNode::List(items) => {
            for (place, item) in items.iter().enumerate() {
                collect_leaves(below(&place.to_string()), item, found);
            }
        }
        CanonicalNode::Members(members) => {
            for (name, value) in members {
                collect_leaves(below(name), value, found);
            }
        }
    }
}

/// Shortens two long strings to the part that differs, with context.
fn excerpt_change(old: &str, new: &str) -> (String, String) {
    let is_text = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|v| v.is_string());
    if !is_text(old) || !is_text(new) || old.len().max(new.len()) < 3 * CONTEXT_CHARS {
        return (old.to_owned(), new.to_owned());
    }
    let old: Vec<char> = old.chars().collect();
    let new: Vec<char> = new.chars().collect();
    let same = old.iter().zip(&new).take_while(|(left, right)| left == right).count();
    // Bounded, so that the common end does not overlap the common beginning: `aa` and `aaa`.
    let rest = old.len().min(new.len()) - same;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest);
    let end = end.take_while(|(left, right)| left == right).count();
    let shown = |text: &[char]| {
        let from = same.saturating_sub(CONTEXT_CHARS);
        let to = (text.len() - end + CONTEXT_CHARS).min(text.len());
        let part: String = text.iter().skip(from).take(to - from).collect();
        let before = if from > 0 { "…" } else { "" };
        let after = if to < text.len() { "…" } else { "" };
        format!("{before}{part}{after}")
    };
    (shown(&old), shown(&new))
}

#[cfg(test)]
mod tests {
    use super::{changed_parts, diff};

    #[test]
    fn only_what_is_different_is_shown() {
        let before =
            r#"{"description":"Adds.","inputSchema":{"properties":{"a":{}}},"name":"add"}"#;
        let now = r#"{"description":"Adds. Now!","inputSchema":{"properties":{"bcc":{"type":"string"}}},"name":"add"}"#;
        let expected = "- description: \"Adds.\"\n+ description: \"Adds. Now!\"\n\
                        - inputSchema.properties.a: {}\n+ inputSchema.properties.bcc.type: \"string\"";
        assert_eq!(diff(Some(before), now), expected);
        assert_eq!(changed_parts(before, now), ["description", "inputSchema"]);
        assert_eq!(diff(None, "\"Be good.\""), "+ text: \"Be good.\"");
    }

    #[test]
    fn of_a_long_text_only_the_place_of_the_change_is_shown() {
        let text = |middle: &str| format!("\"{}{middle}{}\"", "a".repeat(300), "b".repeat(300));
        let shown = diff(Some(&text("")), &text("EVIL"));
        assert!(shown.contains("aEVILb") && shown.chars().count() < 400, "{shown}");
    }

    #[test]
    fn a_member_that_stands_there_twice_is_seen() {
        let shown = diff(Some(r#"{"a":1}"#), r#"{"a":1,"a":2}"#);
        assert_eq!(shown, "+ a': 2");
        assert_eq!(changed_parts(r#"{"a":1}"#, r#"{"a":1,"a":2}"#), ["other parts"]);
    }
}
