//! Arguments written as elements, read as the types that a schema gives.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::parse::decode::decode;
use crate::parse::errors::JsonProblem;
use crate::parse::repair::repair;
use crate::parse::strings::{find, part, skip_space};
use crate::parse::tag::{self, Read};

/// Elements deeper than this are text.
const DEEPEST: usize = 32;

/// Reads elements, and notes what had to be repaired in the JSON between them.
#[derive(Debug, Default)]
pub(super) struct Elements {
    pub(super) notes: Vec<&'static str>,
}

/// Whether the schema wants the property to be an object or an array.
pub(super) fn is_json(schema: Option<&Value>, property: &str) -> bool {
    matches!(type_of(property_schema(schema, property)), Some("object" | "array"))
}

/// The elements that the text consists of, with what is inside of them. Nothing if there is
/// anything else in it.
pub(super) fn children(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let begin = skip_space(text, at);
        if begin == text.len() {
            return (!found.is_empty()).then_some(found);
        }
        if text.as_bytes().get(begin) != Some(&b'<') {
            return None;
        }
        let Read::Tag(open) = tag::read(text, begin, true, |name| !name.closing) else {
            return None;
        };
        let (inside_end, after) =
            if open.empty { (open.end, open.end) } else { close(text, open.name, open.end)? };
        found.push((open.name, part(text, open.end, inside_end)));
        at = after;
    }
}

/// Where the element's inside ends, and what follows it begins.
fn close(text: &str, element: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    let mut depth = 0_usize;
    loop {
        let place = find(text, at, "<")?;
        if text.get(place..)?.starts_with("<![CDATA[") {
            at = find(text, place, "]]>")? + 3;
            continue;
        }
        at = place + 1;
        let Read::Tag(tag) = tag::read(text, place, true, |name| name.text == element) else {
            continue;
        };
        at = tag.end;
        match (tag.closing, depth) {
            (true, 0) => return Some((place, tag.end)),
            (true, _) => depth -= 1,
            (false, _) if !tag.empty => depth += 1,
            (false, _) => {}
        }
    }
}

impl Elements {
    /// An object of the members, in the types of the schema's properties. A name that comes again
    /// makes an array.
    pub(super) fn object<'a>(
        &mut self,
        members: impl IntoIterator<Item = (&'a str, &'a str)>,
        schema: Option<&Value>,
    ) -> Result<Map<String, Value>, JsonProblem> {
        self.object_at(members, schema, 0)
    }

    fn object_at<'a>(
        &mut self,
        members: impl IntoIterator<Item = (&'a str, &'a str)>,
        schema: Option<&Value>,
        depth: usize,
    ) -> Result<Map<String, Value>, JsonProblem> {
        let mut texts: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut places = HashMap::new();
        for (name, text) in members {
            let place = *places.entry(name).or_insert(texts.len());
            match texts.get_mut(place) {
                Some((_, known)) => known.push(text),
                None => texts.push((name, vec![text])),
            }
        }
        let mut object = Map::new();
        for (name, texts) in texts {
            let schema = property_schema(schema, name);
            let value = match texts.as_slice() {
                [text] => self.value(text, schema, depth)?,
                many => self.items(many.iter().copied(), schema, depth)?,
            };
            object.insert(name.to_owned(), value);
        }
        Ok(object)
    }

    fn items<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a str>,
        schema: Option<&Value>,
        depth: usize,
    ) -> Result<Value, JsonProblem> {
        let of_item = schema.and_then(|schema| schema.get("items"));
        let values = texts.map(|text| self.value(text, of_item, depth));
        values.collect::<Result<_, _>>().map(Value::Array)
    }

    fn value(
        &mut self,
        text: &str,
        schema: Option<&Value>,
        depth: usize,
    ) -> Result<Value, JsonProblem> {
        let kind = type_of(schema);
        let scalar = decode(text);
        let trimmed = scalar.trim();
        let is_json = matches!(kind, Some("array" | "object")) && trimmed.starts_with(['{', '[']);
        if is_json {
            return self.json(trimmed);
        }
        let as_string = || Value::String(trimmed.to_owned());
        if let Some("string" | "integer" | "number" | "boolean" | "null") = kind {
            let read = match kind {
                Some("integer" | "number") => trimmed.parse().ok().map(Value::Number),
                Some("boolean") => boolean(&trimmed.to_ascii_lowercase()),
                Some("null") if matches!(trimmed, "null" | "") => Some(Value::Null),
                _ => None,
            };
            return Ok(read.unwrap_or_else(as_string));
        }
        let is_array = kind == Some("array");
        let inside = if depth < DEEPEST { children(text) } else { None };
        match inside {
            Some(members) if is_array || members.iter().all(|(name, _)| *name == "item") => {
                self.items(members.into_iter().map(|(_, text)| text), schema, depth + 1)
            }
            Some(members) => self.object_at(members, schema, depth + 1).map(Value::Object),
            None if is_array && trimmed.is_empty() => Ok(Value::Array(Vec::new())),
            None if is_array => self.items(std::iter::once(text), schema, depth + 1),
            None if kind == Some("object") && trimmed.is_empty() => Ok(Value::Object(Map::new())),
            None => Ok(boolean(trimmed).unwrap_or_else(as_string)),
        }
    }

    fn json(&mut self, text: &str) -> Result<Value, JsonProblem> {
        if let Ok(value) = serde_json::from_str(text) {
            return Ok(value);
        }
        let repaired = repair(text)?;
        self.notes.extend(repaired.notes);
        serde_json::from_str(&repaired.text)
            .map_err(|_| JsonProblem::at("a number or a character cannot be read", text, 0))
    }
}

fn boolean(word: &str) -> Option<Value> {
    match word {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn property_schema<'a>(schema: Option<&'a Value>, property: &str) -> Option<&'a Value> {
    schema?.get("properties")?.get(property)
}

/// The one type that the schema allows besides null.
fn type_of(schema: Option<&Value>) -> Option<&str> {
    match schema?.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let mut others = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            others.next().filter(|_| others.next().is_none())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Elements, children};

    #[test]
    fn elements_become_members_in_the_types_of_the_schema() {
        let schema = json!({"properties": {
            "count": {"type": "integer"}, "ratio": {"type": ["number", "null"]},
            "on": {"type": "boolean"}, "page": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "integer"}},
            "options": {"type": "object", "properties": {"deep": {"type": "integer"}}},
        }});
        let cases = [
            ("<a>1</a><b>true</b>", None, json!({"a": "1", "b": true})),
            ("<a><item>x</item><item>y</item></a>", None, json!({"a": ["x", "y"]})),
            ("<a>x</a> <a>y</a>", None, json!({"a": ["x", "y"]})),
            ("<a><b>1</b><c/></a>", None, json!({"a": {"b": "1", "c": ""}})),
            ("<a><a>1</a></a>", None, json!({"a": {"a": "1"}})),
            ("<a>&lt;b&gt;</a><c><![CDATA[</c>]]></c>", None, json!({"a": "<b>", "c": "</c>"})),
            (
                "<count>3</count><ratio>1.5</ratio>",
                Some(&schema),
                json!({"count": 3, "ratio": 1.5}),
            ),
            (
                "<count>three</count><on>True</on>",
                Some(&schema),
                json!({"count": "three", "on": true}),
            ),
            ("<page><b>1</b></page>", Some(&schema), json!({"page": "<b>1</b>"})),
            ("<tags>[1, 2]</tags>", Some(&schema), json!({"tags": [1, 2]})),
            ("<tags><tag>1</tag></tags>", Some(&schema), json!({"tags": [1]})),
            ("<tags>7</tags>", Some(&schema), json!({"tags": [7]})),
            ("<tags></tags>", Some(&schema), json!({"tags": []})),
            ("<options><deep>1</deep></options>", Some(&schema), json!({"options": {"deep": 1}})),
            ("<options>{deep: 1}</options>", Some(&schema), json!({"options": {"deep": 1}})),
        ];
        for (text, schema, expected) in cases {
            let members = children(text).unwrap();
            let object = Elements::default().object(members, schema).unwrap();
            assert_eq!(Value::Object(object), expected, "{text}");
        }
    }

    #[test]
    fn text_with_anything_but_elements_has_no_children() {
        for text in ["", "a", "<a>", "<a>1</a>b", "</a>", "<a></b>"] {
            assert_eq!(children(text), None, "{text}");
        }
    }
}
