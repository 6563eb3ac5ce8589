//! The blocks that Cline's own parser produces for a message, for comparison.

use std::collections::BTreeMap;

use memchr::memchr_iter;
use serde::Serialize;

use crate::parse::dialect::WRAPPERS;
use crate::parse::strings::{find, part, rest};

/// The names that Cline accepts as parameters of any tool.
const PARAMETERS: [&str; 21] = [
    "command", "requires_approval", "path", "content", "diff", "regex", "file_pattern",
    "recursive", "action", "url", "coordinate", "text", "server_name", "tool_name", "arguments",
    "uri", "question", "options", "response", "result", "task_progress",
];

/// A block of a message, as Cline splits it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClineBlock {
    Text {
        content: String,
        // Always true for text at the end of the message, as in Cline: more may follow.
        partial: bool,
    },
    ToolUse {
        name: &'static str,
        params: BTreeMap<&'static str, String>,
        // True until the closing tag.
        partial: bool,
    },
}

/// Splits a message or a prefix of one. Only exact tags match, a value ends at the first closing
/// tag, and calls in code are not treated as text.
#[must_use]
pub fn blocks(message: &str) -> Vec<ClineBlock> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some((name, open)) = next_open(message, at, &WRAPPERS) {
        let text = trimmed_content(part(message, at, open));
        blocks.extend(text.map(|content| ClineBlock::Text { content, partial: false }));
        let (params, end) = tool(message, name, after_open(open, name));
        blocks.push(ClineBlock::ToolUse { name, params, partial: end.is_none() });
        let Some(end) = end else { return blocks };
        at = end;
    }
    let text = trimmed_content(rest(message, at));
    blocks.extend(text.map(|content| ClineBlock::Text { content, partial: true }));
    blocks
}

/// Returns the parameters of a tool, and the end of its element if it is closed.
fn tool(message: &str, name: &str, from: usize) -> (BTreeMap<&'static str, String>, Option<usize>) {
    let mut params = BTreeMap::new();
    let close = format!("</{name}>");
    let mut closes = find(message, from, &close);
    let mut at = from;
    loop {
        // Cline tests for the closing tag only between parameters, so one inside a value is data.
        if closes.is_some_and(|place| place < at) {
            closes = find(message, at, &close);
        }
        let inside = part(message, 0, closes.unwrap_or(message.len()));
        let Some((parameter, open)) = next_open(inside, at, &PARAMETERS) else {
            return (params, closes.map(|place| place + close.len()));
        };
        let begin = after_open(open, parameter);
        let parameter_close = format!("</{parameter}>");
        let end = find(message, begin, &parameter_close);
        let value = part(message, begin, end.unwrap_or(message.len()));
        params.insert(parameter, value.trim().to_owned());
        let Some(end) = end else { return (params, None) };
        at = end + parameter_close.len();
    }
}

/// Finds the first opening tag with one of the names.
fn next_open(message: &str, from: usize, names: &[&'static str]) -> Option<(&'static str, usize)> {
    let ahead = rest(message, from);
    memchr_iter(b'<', ahead.as_bytes()).find_map(|offset| {
        let inside = rest(ahead, offset + 1);
        let is_open =
            |name: &&&str| inside.strip_prefix(**name).is_some_and(|r| r.starts_with('>'));
        names.iter().find(is_open).map(|name| (*name, from + offset))
    })
}

const fn after_open(open: usize, name: &str) -> usize {
    open + name.len() + 2
}

/// Trims a text. Returns `None` if it is blank.
fn trimmed_content(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::blocks;

    #[test]
    fn the_blocks_are_those_that_cline_makes() {
        let mut count = 0;
        for line in include_str!("cline_oracle.jsonl").lines() {
            let (name, message, expected): (String, String, Value) =
                serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_value(blocks(&message)).unwrap(), expected, "{name}");
            count += 1;
        }
        assert_eq!(count, 43);
    }
}
