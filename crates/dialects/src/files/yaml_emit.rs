//! A tree of YAML -> its lines.

use serde_json::Value;

use crate::files::yaml_tree::{YamlNode, plain_scalar};

/// Words that older readers take for truth values.
const BOOLEAN_WORDS: &[&str] = &["y", "n", "yes", "no", "on", "off"];

/// A member of a mapping, with so many spaces before it; every line ends as `ending` says.
pub(super) fn member(key: &str, node: &YamlNode, indent: usize, ending: &str) -> String {
    let start = format!("{}{}:", " ".repeat(indent), scalar_text(key));
    match node {
        YamlNode::Map(map) if !map.members.is_empty() => {
            let inside = map.members.iter();
            let inside = inside.map(|one| member(&one.key, &one.value, indent + 2, ending));
            format!("{start}{ending}{}", inside.collect::<String>())
        }
        YamlNode::List(items) if !items.is_empty() => {
            let space = " ".repeat(indent + 2);
            let inside = items.iter().map(|item| format!("{space}- {}{ending}", flow(item)));
            format!("{start}{ending}{}", inside.collect::<String>())
        }
        other => format!("{start} {}{ending}", flow(other)),
    }
}

/// A value in one line; where it holds more, JSON says it as well.
fn flow(node: &YamlNode) -> String {
    match node {
        YamlNode::Scalar(value) => scalar(value),
        YamlNode::List(_) | YamlNode::Map(_) => node.value().to_string(),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => scalar_text(text),
        other => other.to_string(),
    }
}

/// A text that no reader takes for something else: in quotes unless it is a plain word.
fn scalar_text(text: &str) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_./@-".contains(one);
    let begins_plain =
        text.starts_with(|one: char| one.is_ascii_alphabetic() || "_./".contains(one));
    let is_text = plain_scalar(text) == Value::String(text.to_owned());
    let is_truth = BOOLEAN_WORDS.contains(&text.to_ascii_lowercase().as_str());
    if begins_plain && is_text && !is_truth && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let quoted = Value::String(text.to_owned()).to_string();
    // Control characters that JSON leaves as they are.
    let code = |one: char| match one {
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
            format!("\\u{:04x}", u32::from(one))
        }
        one => one.to_string(),
    };
    quoted.chars().map(code).collect()
}
