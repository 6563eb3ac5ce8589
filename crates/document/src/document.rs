//! Parser for JSON with comments. Every value of the resulting tree has its line and column.

use std::path::Path;

use jsonc_parser::common::Ranged as _;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde_json::Value;

use crate::error::ConfigError;

/// A line and a column, both starting at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    /// The column in characters, as editors count.
    pub column: usize,
}

/// A value in a settings file, with its position.
#[derive(Debug, Clone)]
pub struct Node {
    pub at: Position,
    pub value: NodeValue,
}

/// A JSON value whose members keep their order and positions.
#[derive(Debug, Clone)]
pub enum NodeValue {
    Null,
    Bool(bool),
    /// The digits of the number, parsed only where a number is expected.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// The members in file order, including duplicates.
    Object(Vec<Member>),
}

/// A member of an object: its name and its value.
#[derive(Debug, Clone)]
pub struct Member {
    pub name: String,
    /// The position of the name.
    pub at: Position,
    pub value: Node,
}

/// A syntax error in JSON with comments.
pub struct SyntaxError {
    pub at: Position,
    pub message: String,
    pub hint: &'static str,
}

/// Returns the accepted JSON syntax: comments and trailing commas, but no other extension.
pub fn parse_options() -> ParseOptions {
    // Other products read the same files, with parsers that accept no more than this.
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Parses `text`, from which a byte order mark was removed; `None` if it contains no value.
pub fn parse(text: &str) -> Result<Option<Node>, SyntaxError> {
    let lines = LineIndex::new(text);
    match parse_to_ast(text, &CollectOptions::default(), &parse_options()) {
        Ok(result) => Ok(result.value.map(|value| lines.node(value))),
        Err(error) => Err(SyntaxError {
            at: lines.position(error.range().start),
            message: lower_first(&error.kind().to_string()),
            hint: hint(error.kind()),
        }),
    }
}

fn hint(kind: &ParseErrorKind) -> &'static str {
    match kind {
        ParseErrorKind::SingleQuotedStringsNotAllowed => "use double quotes",
        ParseErrorKind::ExpectedComma => "add a comma before this position",
        ParseErrorKind::UnterminatedObject => "a `}` is missing",
        ParseErrorKind::UnterminatedArray => "a `]` is missing",
        ParseErrorKind::ExpectedStringObjectProperty | ParseErrorKind::UnexpectedWord => {
            "write names and strings in double quotes"
        }
        _ => "use JSON; comments and trailing commas are the only allowed extensions",
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(char::to_lowercase).into_iter().flatten().chain(characters).collect()
}

/// The offset at which each line begins.
struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    fn new(text: &'a str) -> Self {
        let mut starts = vec![0];
        let mut bytes = text.bytes().enumerate().peekable();
        // Lines end with LF, CR LF or CR, as in editors.
        while let Some((index, byte)) = bytes.next() {
            let before_line_feed = bytes.peek().is_some_and(|(_, next)| *next == b'\n');
            if byte == b'\n' || (byte == b'\r' && !before_line_feed) {
                starts.push(index + 1);
            }
        }
        Self { text, starts }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).unwrap_or(&0);
        let before = self.text.get(*start..offset).unwrap_or_default();
        Position { line, column: before.chars().count() + 1 }
    }

    fn node(&self, value: ast::Value<'_>) -> Node {
        let at = self.position(value.start());
        let value = match value {
            ast::Value::NullKeyword(_) => NodeValue::Null,
            ast::Value::BooleanLit(literal) => NodeValue::Bool(literal.value),
            ast::Value::NumberLit(literal) => NodeValue::Number(literal.value.to_owned()),
            ast::Value::StringLit(literal) => NodeValue::Text(literal.value.into_owned()),
            ast::Value::Array(array) => NodeValue::List(
                array.elements.into_iter().map(|element| self.node(element)).collect(),
            ),
            ast::Value::Object(object) => NodeValue::Object(
                object.properties.into_iter().map(|prop| self.member(prop)).collect(),
            ),
        };
        Node { at, value }
    }

    fn member(&self, property: ast::ObjectProp<'_>) -> Member {
        Member {
            at: self.position(property.start()),
            name: property.name.into_string(),
            value: self.node(property.value),
        }
    }
}

impl Node {
    /// Returns the kind of the value, for sentences such as "must be a string, not a list".
    pub fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Null => "null",
            NodeValue::Bool(_) => "true or false",
            NodeValue::Number(_) => "a number",
            NodeValue::Text(_) => "a string",
            NodeValue::List(_) => "a list",
            NodeValue::Object(_) => "an object",
        }
    }

    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.value, NodeValue::Null)
    }

    /// Returns the path and position of the first duplicate key in this value or a nested one.
    pub fn find_duplicate(&self) -> Option<(String, Position)> {
        match &self.value {
            NodeValue::List(nodes) => nodes.iter().find_map(Self::find_duplicate),
            NodeValue::Object(members) => duplicate_member(members)
                .map(|member| (member.name.clone(), member.at))
                .or_else(|| {
                    members.iter().find_map(|member| {
                        let (path, at) = member.value.find_duplicate()?;
                        Some((format!("{}.{path}", member.name), at))
                    })
                }),
            _ => None,
        }
    }

    /// Returns the value on one line with members sorted by name, for fingerprints.
    pub fn to_compact_json(&self) -> String {
        let mut text = String::new();
        self.write_compact(&mut text);
        text
    }

    fn write_compact(&self, text: &mut String) {
        match &self.value {
            NodeValue::Null => text.push_str("null"),
            NodeValue::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            NodeValue::Number(number) => text.push_str(number),
            NodeValue::Text(value) => text.push_str(&quote(value)),
            NodeValue::List(nodes) => {
                text.push('[');
                for (index, node) in nodes.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    node.write_compact(text);
                }
                text.push(']');
            }
            NodeValue::Object(members) => {
                // Sorted, so that reordering or reformatting a file does not revoke an approval.
                let mut sorted: Vec<&Member> = members.iter().collect();
                sorted.sort_by(|left, right| left.name.cmp(&right.name));
                text.push('{');
                for (index, member) in sorted.into_iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    text.push_str(&quote(&member.name));
                    text.push(':');
                    member.value.write_compact(text);
                }
                text.push('}');
            }
        }
    }
}

/// Returns the first member whose name occurred before.
pub fn duplicate_member(members: &[Member]) -> Option<&Member> {
    let mut seen = std::collections::BTreeSet::new();
    members.iter().find(|member| !seen.insert(member.name.as_str()))
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Parses the text of a file; rejects an empty file and duplicate keys.
pub fn json_value(file: &Path, text: &str) -> Result<Value, ConfigError> {
    let node = parse(text)
        .map_err(|wrong| ConfigError::new(file, wrong.message).at(wrong.at).hint(wrong.hint))?
        .ok_or_else(|| ConfigError::new(file, "the file is empty"))?;
    // Parsers differ in which duplicate they use, so a reviewer and the program could see
    // different values.
    if let Some((path, at)) = node.find_duplicate() {
        return Err(ConfigError::new(file, format!("`{path}` is given twice")).at(at));
    }
    serde_json::from_str(&node.to_compact_json())
        .map_err(|error| ConfigError::new(file, format!("the file cannot be read: {error}")))
}

/// Returns the position of the character with index `count` in the string that starts at `at`.
pub fn nested_position(source: &str, at: Position, count: usize) -> Position {
    let starts = LineIndex::new(source).starts;
    let line = at.line.checked_sub(1).and_then(|index| source.get(*starts.get(index)?..));
    // `at.column` characters precede the content, the last of them its opening quote.
    let mut written = line.unwrap_or_default().chars();
    written.by_ref().take(at.column).for_each(drop);
    let passed: usize = (0..count).map(|_| source_width(&mut written)).sum();
    Position { line: at.line, column: at.column + 1 + passed }
}

/// Returns the number of source characters that encode the next character of a string.
fn source_width(written: &mut std::str::Chars<'_>) -> usize {
    if written.next() != Some('\\') {
        return 1;
    }
    if written.next() != Some('u') {
        return 2;
    }
    let code: String = written.by_ref().take(4).collect();
    // A high surrogate is followed by a second escape for the low surrogate.
    let is_half = u32::from_str_radix(&code, 16).is_ok_and(|code| (0xd800..0xdc00).contains(&code));
    if is_half { 6 + written.by_ref().take(6).count() } else { 6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Node {
        parse(text).ok().flatten().expect("valid")
    }

    #[test]
    fn positions_count_lines_of_every_ending_and_columns_in_characters() {
        let node = read("{\n\"a\": 1,\r\n  /* ü */ \"b\": 2,\r\"c\": 3 }");
        let NodeValue::Object(members) = node.value else { panic!("an object") };
        let found: Vec<_> = members.iter().map(|m| (m.at.line, m.at.column)).collect();
        assert_eq!(found, [(2, 1), (3, 11), (4, 1)]);
    }

    #[test]
    fn the_compact_form_does_not_depend_on_layout_or_order() {
        let one =
            read("{ \"b\": [1, \"x\\u0041\"], // note\n \"a\": {\"d\": null, \"c\": true}, }");
        let other = read("{\"a\":{\"c\":true,\"d\":null},\"b\":[1,\"xA\"]}");
        assert_eq!(one.to_compact_json(), r#"{"a":{"c":true,"d":null},"b":[1,"xA"]}"#);
        assert_eq!(one.to_compact_json(), other.to_compact_json());
    }

    #[test]
    fn a_name_given_twice_is_found_at_any_depth() {
        let cases = [
            (r#"{"a": 1, "b": 2}"#, None),
            (r#"{"a": 1, "a": 1}"#, Some("a")),
            (r#"{"a": 1, "\u0061": 1}"#, Some("a")),
            (r#"{"a": {"b": [{"c": 1, "c": 2}]}}"#, Some("a.b.c")),
        ];
        for (text, path) in cases {
            assert_eq!(read(text).find_duplicate().map(|found| found.0).as_deref(), path, "{text}");
        }
    }

    #[test]
    fn loose_spellings_are_refused() {
        for text in ["{a: 1}", "{'a': 1}", "{\"a\": 1 \"b\": 2}", "{\"a\": +1}", "{\"a\": NaN}"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(10_000)).is_err());
    }

    #[test]
    fn comments_are_fine_and_doubts_are_not() {
        let file = Path::new("hooks.json");
        for (text, expected) in [
            ("{\"a\": [1, /* b */ 2.50,],}", Ok(r#"{"a":[1,2.5]}"#)),
            ("", Err("the file is empty (hooks.json)")),
            ("{\"a\": {\"b\": 1,\n\"b\": 2}}", Err("`a.b` is given twice (hooks.json:2:1)")),
            ("{\"a\":", Err("expected value after colon in object property (hooks.json:1:6)")),
        ] {
            let read = json_value(file, text);
            let read = read.map(|value| value.to_string()).map_err(|error| error.to_string());
            assert_eq!(read, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn escapes_before_a_place_count_as_they_are_written() {
        let at = Position { line: 2, column: 3 };
        for (written, count, expected) in [
            ("abc", 0, 4),
            ("abc", 2, 6),
            ("\\\\abc", 1, 6),
            ("\\\\abc", 2, 7),
            ("\\u0061b", 1, 10),
            ("\\ud83d\\ude00b", 1, 16),
            ("äöb", 2, 6),
        ] {
            for end in ["\n", "\r\n", "\r"] {
                let source = format!("{{{end}  \"{written}\"}}");
                let got = nested_position(&source, at, count);
                assert_eq!((got.line, got.column), (2, expected), "{written:?} {end:?}");
            }
        }
    }
}
