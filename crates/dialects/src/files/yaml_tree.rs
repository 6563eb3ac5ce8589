//! Parses YAML into a tree in which every key has its line and column.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Number, Value};

use crate::note::DialectError;

/// Maximum nesting depth; no product writes deeper files.
const MAX_DEPTH: usize = 64;

/// Maximum number of nodes, also those repeated by aliases, which can grow exponentially.
const MAX_NODES: usize = 100_000;

#[derive(Debug, Clone)]
pub(super) enum YamlNode {
    Scalar(Value),
    List(Vec<Self>),
    Map(YamlMapping),
}

#[derive(Debug, Clone, Default)]
pub(super) struct YamlMapping {
    pub(super) members: Vec<YamlMember>,
    pub(super) flow: bool,
}

#[derive(Debug, Clone)]
pub(super) struct YamlMember {
    pub(super) key: String,
    /// The line of the key, starting at 0, like its column.
    pub(super) line: usize,
    pub(super) column: usize,
    pub value: YamlNode,
}

impl YamlMember {
    pub(super) fn new(key: &str, value: YamlNode) -> Self {
        Self { key: key.to_owned(), line: 0, column: 0, value }
    }
}

type Servers = Vec<(String, Value)>;

pub(super) fn read(text: &str, path: &[&str]) -> Result<(Value, Servers), DialectError> {
    let Some(root) = parse(text)? else { return Ok((Value::Null, Servers::new())) };
    let place =
        path.iter().try_fold(&root, |node, key| node.member(key).map(|member| &member.value));
    let servers = match place {
        Some(YamlNode::Map(map)) => {
            map.members.iter().map(|member| (member.key.clone(), member.value.value())).collect()
        }
        _ => Servers::new(),
    };
    Ok((root.value(), servers))
}

/// Parses the only document of a text; `None` if it is empty.
pub(super) fn parse(text: &str) -> Result<Option<YamlNode>, DialectError> {
    let mut builder = YamlBuilder {
        lines: text.lines().collect(),
        anchors: BTreeMap::new(),
        nodes: 0,
        documents: 0,
        root: None,
        open: Vec::new(),
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let line = error.marker().line();
            DialectError::Syntax { line, message: error.info().to_owned() }
        })?;
        builder.take(event, span)?;
    }
    Ok(builder.root.filter(|root| !matches!(root, YamlNode::Scalar(Value::Null))))
}

impl From<&Value> for YamlNode {
    fn from(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(map) => Self::map(map.iter()),
            other => Self::Scalar(other.clone()),
        }
    }
}

impl YamlNode {
    pub(super) fn map<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>) -> Self {
        let member = |(key, value): (&String, &Value)| YamlMember::new(key, value.into());
        Self::Map(YamlMapping { members: members.map(member).collect(), flow: false })
    }

    pub(super) fn member(&self, key: &str) -> Option<&YamlMember> {
        match self {
            Self::Map(map) => map.members.iter().find(|member| member.key == key),
            Self::Scalar(_) | Self::List(_) => None,
        }
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Scalar(value) => value.clone(),
            Self::List(items) => Value::Array(items.iter().map(Self::value).collect()),
            Self::Map(map) => {
                let members = map.members.iter();
                let members = members.map(|member| (member.key.clone(), member.value.value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Scalar(_) => 1,
            Self::List(items) => 1 + items.iter().map(Self::count).sum::<usize>(),
            Self::Map(map) => {
                1 + map.members.iter().map(|member| member.value.count()).sum::<usize>()
            }
        }
    }
}

struct OpenCollection {
    node: YamlNode,
    anchor: usize,
    key: Option<(String, YamlPlace)>,
}

/// A position in the file; line and column start at 0.
#[derive(Clone, Copy)]
struct YamlPlace {
    line: usize,
    column: usize,
}

struct YamlBuilder<'a> {
    lines: Vec<&'a str>,
    anchors: BTreeMap<usize, YamlNode>,
    nodes: usize,
    documents: usize,
    root: Option<YamlNode>,
    open: Vec<OpenCollection>,
}

impl YamlBuilder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), DialectError> {
        let place =
            YamlPlace { line: span.start.line().saturating_sub(1), column: span.start.col() };
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(yaml_error(place, "the file contains more than one document"));
                }
                Ok(())
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node.ok_or_else(|| yaml_error(place, "an alias refers to nothing"))?;
                self.nodes += node.count();
                self.add(node, place)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.is_some_and(|tag| tag.suffix == "str");
                let value = match style {
                    ScalarStyle::Plain if !is_text => plain_scalar(&text),
                    _ => Value::String(text.into_owned()),
                };
                self.remember(anchor, &YamlNode::Scalar(value.clone()));
                self.add(YamlNode::Scalar(value), place)
            }
            Event::SequenceStart(anchor, _) => {
                self.begin(YamlNode::List(Vec::new()), anchor, place)
            }
            Event::MappingStart(anchor, _) => {
                // The parser does not report the style of a mapping.
                let line = self.lines.get(place.line);
                let begins = line.and_then(|line| line.chars().nth(place.column));
                let map = YamlMapping { members: Vec::new(), flow: begins == Some('{') };
                self.begin(YamlNode::Map(map), anchor, place)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(OpenCollection { node, anchor, .. }) = self.open.pop() else {
                    return Ok(());
                };
                self.remember(anchor, &node);
                self.add(node, place)
            }
        }
    }

    fn begin(
        &mut self,
        node: YamlNode,
        anchor: usize,
        place: YamlPlace,
    ) -> Result<(), DialectError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(yaml_error(place, "the file is nested too deeply"));
        }
        self.open.push(OpenCollection { node, anchor, key: None });
        Ok(())
    }

    fn remember(&mut self, anchor: usize, node: &YamlNode) {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
    }

    fn add(&mut self, node: YamlNode, place: YamlPlace) -> Result<(), DialectError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(yaml_error(place, "the file is too large"));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.node, open.key.take()) {
            (YamlNode::List(items), _) => items.push(node),
            (YamlNode::Map(map), Some((key, YamlPlace { line, column }))) => {
                map.members.push(YamlMember { key, line, column, value: node });
            }
            (YamlNode::Map(_), None) => {
                let key = match node {
                    YamlNode::Scalar(Value::String(text)) => text,
                    YamlNode::Scalar(other) => other.to_string(),
                    YamlNode::List(_) | YamlNode::Map(_) => {
                        return Err(yaml_error(place, "a key must be a string"));
                    }
                };
                open.key = Some((key, place));
            }
            (YamlNode::Scalar(_), _) => {}
        }
        Ok(())
    }
}

fn yaml_error(place: YamlPlace, message: &str) -> DialectError {
    DialectError::Syntax { line: place.line + 1, message: message.to_owned() }
}

pub(super) fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    // Rust also parses `inf`, `nan` and `infinity`, which are strings in YAML.
    let is_number = text.starts_with(|one: char| one.is_ascii_digit() || "+-.".contains(one));
    if let Some(number) = text.parse::<i64>().ok().filter(|_| is_number) {
        return Value::from(number);
    }
    let float = text.parse::<f64>().ok().filter(|_| is_number).and_then(Number::from_f64);
    float.map_or_else(|| Value::String(text.to_owned()), Value::Number)
}
