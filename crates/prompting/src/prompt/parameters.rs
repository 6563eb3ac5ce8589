//! Rendering of a tool's argument schema as lines: name, type, constraints and description.

use serde_json::Value;

use crate::prompt::clean::{clean_line, code_span};
use crate::prompt::schema::{ObjectSchema, keyword_list, push_new, required_names, resolve, types};

// A prompt shows every tool, so the entry of each stays short.
const MAX_DEPTH: usize = 3;
const MAX_LINES: usize = 200;
const MAX_CHOICES: usize = 24;
const MAX_VALUE_CHARS: usize = 120;

/// Returns one indented line per argument, or an empty string without arguments.
pub(crate) fn lines(schema: &ObjectSchema, indent: &str, longest: usize) -> String {
    let mut writer =
        ParameterWriter { root: &schema.schema, longest, left: MAX_LINES, out: String::new() };
    let needed: Vec<&str> = required_names(&schema.schema).collect();
    writer.write_properties(schema.properties(), &needed, indent, MAX_DEPTH);
    writer.out
}

struct ParameterWriter<'s> {
    root: &'s Value,
    longest: usize,
    left: usize,
    out: String,
}

impl<'s> ParameterWriter<'s> {
    fn write_properties(
        &mut self,
        properties: Vec<(&str, &'s Value)>,
        needed: &[&str],
        indent: &str,
        depth: usize,
    ) {
        let total = properties.len();
        for (done, (name, property)) in properties.into_iter().enumerate() {
            if self.left == 0 {
                self.out.push_str(&format!("{indent}- [cut: {} more]\n", total - done));
                return;
            }
            self.left -= 1;
            self.write_property(name, property, needed.contains(&name), indent);
            if let Some(depth) = depth.checked_sub(1) {
                self.write_nested(property, indent, depth);
            }
        }
    }

    fn write_property(&mut self, name: &str, property: &Value, needed: bool, indent: &str) {
        let target = resolve(self.root, property);
        let mut notes = vec![
            type_text(self.root, property, MAX_DEPTH),
            if needed { "required" } else { "optional" }.to_owned(),
        ];
        add_constraints(self.root, target, &mut notes, MAX_DEPTH);
        // Keywords next to a reference are specific to this argument, so they come first.
        if let Some(default) = property.get("default").or_else(|| target.get("default")) {
            notes.push(format!("default {}", json_text(default)));
        }
        self.out.push_str(&format!("{indent}- {} ({})", code_span(name), notes.join(", ")));
        let described = property.get("description").or_else(|| target.get("description"));
        let described = described.and_then(Value::as_str).unwrap_or_default();
        let described = clean_line(described, self.longest);
        if !described.is_empty() {
            self.out.push_str(": ");
            self.out.push_str(&described);
        }
        self.out.push('\n');
    }

    fn write_nested(&mut self, property: &'s Value, indent: &str, depth: usize) {
        let mut object = resolve(self.root, property);
        if let Some(items) = object.get("items") {
            object = resolve(self.root, items);
        }
        let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
        let listed = properties.iter().map(|(name, schema)| (name.as_str(), schema)).collect();
        let needed: Vec<&str> = required_names(object).collect();
        self.write_properties(listed, &needed, &format!("{indent}  "), depth);
    }
}

fn type_text(root: &Value, schema: &Value, depth: usize) -> String {
    let schema = resolve(root, schema);
    let Some(depth) = depth.checked_sub(1) else { return "any".to_owned() };
    let mut kinds: Vec<String> = Vec::new();
    for name in types(schema) {
        let one =
            if name == "array" { array_text(root, schema, depth) } else { clean_line(name, 40) };
        push_new(&mut kinds, &one);
    }
    if kinds.is_empty() {
        for branch in keyword_list(schema, "anyOf").iter().chain(keyword_list(schema, "oneOf")) {
            push_new(&mut kinds, &type_text(root, branch, depth));
        }
    }
    if kinds.is_empty() {
        kinds.push(implied_type(root, schema, depth));
    }
    kinds.join(" or ")
}

fn array_text(root: &Value, schema: &Value, depth: usize) -> String {
    match schema.get("items") {
        Some(items) if items.is_object() => format!("array of {}", type_text(root, items, depth)),
        _ => "array".to_owned(),
    }
}

fn implied_type(root: &Value, schema: &Value, depth: usize) -> String {
    let value = schema.get("const").or_else(|| keyword_list(schema, "enum").first());
    match value {
        Some(Value::String(_)) => "string".to_owned(),
        Some(Value::Number(_)) => "number".to_owned(),
        Some(Value::Bool(_)) => "boolean".to_owned(),
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ if schema.get("items").is_some() => array_text(root, schema, depth),
        _ => keyword_list(schema, "allOf")
            .first()
            .map_or_else(|| "any".to_owned(), |first| type_text(root, first, depth)),
    }
}

/// Appends notes about constraints other than the type.
fn add_constraints(root: &Value, schema: &Value, notes: &mut Vec<String>, depth: usize) {
    let choices = keyword_list(schema, "enum");
    if !choices.is_empty() {
        let shown: Vec<String> = choices.iter().take(MAX_CHOICES).map(json_text).collect();
        let more = choices.len().saturating_sub(MAX_CHOICES);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        push_new(notes, &format!("one of {}{more}", shown.join(" | ")));
    }
    let worded = [
        ("const", "always "),
        ("minimum", "at least "),
        ("exclusiveMinimum", "more than "),
        ("maximum", "at most "),
        ("exclusiveMaximum", "less than "),
        ("multipleOf", "multiple of "),
        ("minLength", "characters >= "),
        ("maxLength", "characters <= "),
        ("minItems", "items >= "),
        ("maxItems", "items <= "),
        ("pattern", "matches "),
        ("format", "format "),
    ];
    for (keyword, words) in worded {
        // In draft 4, `exclusiveMinimum` is a flag of `minimum` and says nothing alone.
        if let Some(value) = schema.get(keyword).filter(|value| !value.is_boolean()) {
            push_new(notes, &format!("{words}{}", json_text(value)));
        }
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    let inside =
        ["anyOf", "oneOf", "allOf"].into_iter().flat_map(|keyword| keyword_list(schema, keyword));
    for part in inside.chain(schema.get("items")) {
        add_constraints(root, resolve(root, part), notes, depth);
    }
}

fn json_text(value: &Value) -> String {
    clean_line(&value.to_string(), MAX_VALUE_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::lines;
    use crate::prompt::schema::object_schema;

    #[test]
    fn each_argument_is_one_line_with_its_rules() {
        let schema = json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
                "mode": {"enum": ["fast", "slow"], "description": "How\nto run."},
                "note": {"anyOf": [{"type": "string", "maxLength": 8}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"type": "string", "pattern": "^a"}},
                "who": {"$ref": "#/$defs/person", "description": "The person."}
            },
            "required": ["mode", "who"],
            "$defs": {"person": {"type": "object", "properties": {"age": {"type": "number"}}, "required": ["age"]}}
        });
        let expected = "\
- `count` (integer, optional, at least 1, at most 9, default 5)
- `mode` (string, required, one of \"fast\" | \"slow\"): How to run.
- `note` (string or null, optional, characters <= 8)
- `tags` (array of string, optional, matches \"^a\")
- `who` (object, required): The person.
  - `age` (number, required)
";
        assert_eq!(lines(&object_schema(Some(&schema.to_string())), "", 2_000), expected);
    }

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let schema = json!({"properties": {"node": {"$ref": "#/$defs/node"}},
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}});
        let shown = lines(&object_schema(Some(&schema.to_string())), "", 2_000);
        assert_eq!(shown.lines().count(), 4, "{shown}");
    }
}
