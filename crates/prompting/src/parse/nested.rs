//! Arguments written as elements, converted to the types of a schema.

use memchr::memchr;
use serde_json::{Number, Value};

use crate::parse::decode::decode;
use crate::parse::errors::JsonProblem;
use crate::parse::json_type::check_json;
use crate::parse::repair::repair;
use crate::parse::repair_strings::write_string;
use crate::parse::strings::{find, part, skip_space};
use crate::parse::tag::{self, MoreInput, TagRead};

// Bounds the recursion over input that a model controls. Deeper elements are text.
const MAX_DEPTH: usize = 32;

/// Converts elements to JSON.
#[derive(Debug, Default)]
pub(super) struct ElementWriter {
    pub(super) text: String,
    /// Repairs of JSON inside of elements.
    pub(super) notes: Vec<&'static str>,
}

/// Returns whether the schema declares the property as an object or an array.
pub(super) fn is_json(schema: Option<&Value>, property: &str) -> bool {
    matches!(single_type(property_schema(schema, property)), Some("object" | "array"))
}

/// Returns the elements that the text consists of, or `None` if it contains anything else.
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
        let TagRead::Tag(open) = tag::read_tag(text, begin, MoreInput::Never, |name| !name.closing)
        else {
            return None;
        };
        let (inside_end, after) =
            if open.empty { (open.end, open.end) } else { find_close(text, open.name, open.end)? };
        found.push((open.name, part(text, open.end, inside_end)));
        at = after;
    }
}

/// Returns the offsets of the closing tag and of the text after it.
fn find_close(text: &str, element: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    let mut depth = 0_usize;
    loop {
        let place = at + memchr(b'<', text.as_bytes().get(at..)?)?;
        at = place + 1;
        let inside = text.get(at..)?;
        // A tag in a CDATA section is data.
        if inside.starts_with("![CDATA[") {
            at = find(text, place, "]]>")? + 3;
            continue;
        }
        if !inside.strip_prefix('/').unwrap_or(inside).starts_with(element) {
            continue;
        }
        let TagRead::Tag(tag) =
            tag::read_tag(text, place, MoreInput::Never, |name| name.text == element)
        else {
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

impl ElementWriter {
    /// Writes the members as an object, with the types of the schema's properties.
    pub(super) fn object(
        &mut self,
        mut members: Vec<(&str, &str)>,
        schema: Option<&Value>,
        depth: usize,
    ) -> Result<(), JsonProblem> {
        // A stable sort: repeated names keep their order and become the items of one array.
        members.sort_by_key(|(name, _)| *name);
        let mut mark = '{';
        for same in members.chunk_by(|(left, _), (right, _)| left == right) {
            let Some((name, text)) = same.first() else { continue };
            self.text.push(mark);
            mark = ',';
            self.string(name);
            self.text.push(':');
            let schema = property_schema(schema, name);
            if same.len() == 1 {
                self.value(text, schema, depth)?;
            } else {
                self.items(same.iter().map(|(_, text)| *text), schema, depth)?;
            }
        }
        self.text.push_str(if mark == '{' { "{}" } else { "}" });
        Ok(())
    }

    fn items<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a str>,
        schema: Option<&Value>,
        depth: usize,
    ) -> Result<(), JsonProblem> {
        let of_item = schema.and_then(|schema| schema.get("items"));
        let mut mark = '[';
        for text in texts {
            self.text.push(mark);
            mark = ',';
            self.value(text, of_item, depth)?;
        }
        self.text.push_str(if mark == '[' { "[]" } else { "]" });
        Ok(())
    }

    fn value(
        &mut self,
        text: &str,
        schema: Option<&Value>,
        depth: usize,
    ) -> Result<(), JsonProblem> {
        // A scalar may contain markup, such as HTML: its elements are text.
        let kind = single_type(schema);
        let is_scalar = matches!(kind, Some("string" | "integer" | "number" | "boolean" | "null"));
        let is_array = kind == Some("array");
        if !is_scalar
            && depth < MAX_DEPTH
            && let Some(members) = children(text)
        {
            return if is_array || members.iter().all(|(name, _)| *name == "item") {
                self.items(members.into_iter().map(|(_, text)| text), schema, depth + 1)
            } else {
                self.object(members, schema, depth + 1)
            };
        }
        let decoded = decode(text);
        let trimmed = decoded.trim();
        match kind {
            Some("array" | "object") if trimmed.starts_with(['{', '[']) => self.json(trimmed)?,
            Some("array") if trimmed.is_empty() => self.text.push_str("[]"),
            // A single item may be written without a list around it.
            Some("array") => self.items(std::iter::once(text), schema, depth + 1)?,
            Some("object") if trimmed.is_empty() => self.text.push_str("{}"),
            _ => self.scalar(trimmed, kind),
        }
        Ok(())
    }

    /// Writes a word as the given type, or as a string if it does not fit.
    fn scalar(&mut self, word: &str, kind: Option<&str>) {
        match (kind, word) {
            (Some("integer" | "number"), _) => match word.parse::<Number>() {
                Ok(number) => self.text.push_str(&number.to_string()),
                Err(_) => self.string(word),
            },
            (Some("null"), "null" | "") => self.text.push_str("null"),
            (Some("string" | "null"), _) => self.string(word),
            (Some("boolean"), _) if word.eq_ignore_ascii_case("true") => self.text.push_str("true"),
            (Some("boolean"), _) if word.eq_ignore_ascii_case("false") => {
                self.text.push_str("false");
            }
            (_, "true" | "false") => self.text.push_str(word),
            // Without a declared type, numbers stay strings: `007` may be an identifier.
            _ => self.string(word),
        }
    }

    fn json(&mut self, text: &str) -> Result<(), JsonProblem> {
        if check_json(text).is_ok() {
            self.text.push_str(text);
            return Ok(());
        }
        let repaired = repair(text)?;
        self.notes.extend(repaired.notes);
        if check_json(&repaired.text).is_err() {
            return Err(JsonProblem::at("a number or a character cannot be read", text, 0));
        }
        self.text.push_str(&repaired.text);
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        write_string(&mut self.text, text);
        self.text.push('"');
    }
}

fn property_schema<'a>(schema: Option<&'a Value>, property: &str) -> Option<&'a Value> {
    schema?.get("properties")?.get(property)
}

/// Returns the only type besides null that the schema allows.
fn single_type(schema: Option<&Value>) -> Option<&str> {
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

    use super::{ElementWriter, children};

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
            let mut elements = ElementWriter::default();
            elements.object(members, schema, 0).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&elements.text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn text_with_anything_but_elements_has_no_children() {
        for text in ["", "a", "<a>", "<a>1</a>b", "</a>", "<a></b>"] {
            assert_eq!(children(text), None, "{text}");
        }
    }
}
