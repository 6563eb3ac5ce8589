//! Form fields generated from a JSON schema. The page's script builds the object from them.
//!
//! A value without a suitable field is entered as JSON. The host validates everything again.

use maud::{Markup, html};
use serde_json::{Map, Value};

const MAX_FIELDS: usize = 60;
/// Maximum nesting of objects and lists; deeper values are entered as JSON.
const MAX_DEPTH: usize = 4;
/// Placeholder for the index of a list item, which the page's script replaces.
const INDEX_PLACEHOLDER: &str = "__n__";

/// Renders a field for each member of a schema. Members that `order` does not name come last.
pub(super) fn fields(schema: &Value, order: &[String], prefix: &str) -> Markup {
    members(schema, schema, order, prefix)
}

fn members(schema: &Value, root: &Value, order: &[String], prefix: &str) -> Markup {
    let none = Map::new();
    let members = schema["properties"].as_object().unwrap_or(&none);
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
    };
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    let place = |name: &str| order.iter().position(|other| other == name).unwrap_or(usize::MAX);
    members.sort_by_key(|(name, _)| place(name));
    html! {
        @for (number, (name, about)) in members.iter().take(MAX_FIELDS).enumerate() {
            (field(&FormField {
                id: format!("{prefix}-{number}"),
                name,
                about: resolve(about, root),
                root,
                is_required: required(name),
            }))
        }
        @if members.is_empty() { p class="muted small" { "It takes no arguments." } }
    }
}

pub(super) struct FormField<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    pub(super) about: Value,
    /// The whole schema, in which references are resolved.
    pub(super) root: &'a Value,
    pub(super) is_required: bool,
}

impl FormField<'_> {
    pub(super) fn items(&self) -> Value {
        resolve(self.about.get("items").unwrap_or(&Value::Null), self.root)
    }

    fn is_deep(&self) -> bool {
        // Each level adds a part to the id. Boxes nested more deeply are unreadable.
        self.id.matches('-').count() > MAX_DEPTH
    }
}

fn field(field: &FormField<'_>) -> Markup {
    if let Some(inner) = nested_fields(field).or_else(|| list(field)) {
        return inner;
    }
    let FormField { id, name, about, is_required, .. } = field;
    html! {
        div class="field" {
            label for=(id) {
                span class="mono" { (about["title"].as_str().unwrap_or(name)) }
                @if *is_required { span class="required" title="required" { " *" } }
                span class="muted small" { " " (value_kind(about)) }
            }
            (control(field))
            @if let Some(description) = about["description"].as_str() {
                p class="muted small" id={ (id) "-about" } { (description) }
            }
        }
    }
}

fn nested_fields(field: &FormField<'_>) -> Option<Markup> {
    let FormField { id, name, about, root, is_required } = field;
    let inner = about["properties"].as_object()?;
    if inner.is_empty() || field.is_deep() || choices(about).is_some() {
        return None;
    }
    Some(html! {
        fieldset class="object" id=(id) data-field=(name) data-kind="object"
            data-required[*is_required] {
            (legend(field))
            (members(about, root, &[], id))
        }
    })
}

/// Renders a list with a box for each item, which the page's script adds and removes.
fn list(field: &FormField<'_>) -> Option<Markup> {
    let FormField { id, name, about, root, is_required } = field;
    let about_items = field.items();
    let is_simple = matches!(value_kind(&about_items).as_str(), "string" | "integer" | "number");
    let is_list = value_kind(about) == "array" && about_items.is_object();
    if !is_list || is_simple || choices(&about_items).is_some() || field.is_deep() {
        return None;
    }
    let item = FormField {
        id: format!("{id}-{INDEX_PLACEHOLDER}"),
        name: "item",
        about: about_items,
        root,
        is_required: true,
    };
    Some(html! {
        fieldset class="object" id=(id) data-field=(name) data-kind="list"
            data-required[*is_required] {
            (legend(field))
            div data-items="" {}
            template {
                div class="list-item" data-item="" {
                    (self::field(&item))
                    button type="button" class="link small" data-remove-item="" { "Remove" }
                }
            }
            button type="button" class="button small" data-add-item="" { "Add item" }
        }
    })
}

fn legend(field: &FormField<'_>) -> Markup {
    let FormField { name, about, is_required, .. } = field;
    html! {
        legend {
            span class="mono" { (about["title"].as_str().unwrap_or(name)) }
            @if *is_required { span class="required" title="required" { " *" } }
        }
        @if let Some(description) = about["description"].as_str() {
            p class="muted small" { (description) }
        }
    }
}

/// Renders the input for a value of this type, or a JSON text area if there is no suitable one.
pub(super) fn control(field: &FormField<'_>) -> Markup {
    let about = &field.about;
    if let Some(choices) = choices(about) {
        return choose_one(field, &choices);
    }
    let items = field.items();
    if let Some(choices) = choices(&items) {
        return choose_several(field, &choices);
    }
    match (value_kind(about).as_str(), value_kind(&items).as_str()) {
        // Not a checkbox: it could not leave an optional value unset.
        ("boolean", _) => choose_one(
            field,
            &[(Value::Bool(true), "yes".to_owned()), (Value::Bool(false), "no".to_owned())],
        ),
        ("array", "string") => lines(field, "lines"),
        ("array", "integer" | "number") => lines(field, "numbers"),
        ("integer" | "number", _) => number(field),
        ("string", _) => text(field),
        _ => as_json(field),
    }
}

fn text(field: &FormField<'_>) -> Markup {
    let FormField { id, name, about, is_required, .. } = field;
    let default = about["default"].as_str().unwrap_or_default();
    // A schema cannot say that a text has several lines, so names are the only hint.
    let long = ["content", "text", "body", "code", "message", "prompt", "query", "sql"];
    if takes_file(name, about) {
        return html! {
            textarea id=(id) class="mono" data-field=(name) data-kind="string" rows="2"
                data-required[*is_required] spellcheck="false" placeholder="base64, or choose a file" {
                (default)
            }
            // The page's script copies the file into the field.
            input type="file" class="small" data-file=(id) aria-label={ "File for " (name) };
        };
    }
    if long.contains(name) || default.contains('\n') {
        return html! {
            textarea id=(id) data-field=(name) data-kind="string" rows="3"
                data-required[*is_required] spellcheck="false" { (default) }
            input type="file" class="small" data-file=(id) data-as="text"
                aria-label={ "Text file for " (name) };
        };
    }
    let (kind, example) = match about["format"].as_str() {
        Some("email") => ("email", Some("name@example.org")),
        Some("uri") => ("url", Some("https://example.org/")),
        Some("date") => ("date", None),
        Some("date-time") => ("text", Some("2026-07-28T12:00:00Z")),
        _ => ("text", None),
    };
    let said = |key: &str| about[key].as_u64().map(|number| number.to_string());
    let given = about.pointer("/examples/0").and_then(Value::as_str);
    html! {
        input id=(id) type=(kind) data-field=(name) data-kind="string" value=(default)
            data-required[*is_required] autocomplete="off" spellcheck="false"
            minlength=[said("minLength")] maxlength=[said("maxLength")]
            pattern=[about["pattern"].as_str()] placeholder=[given.or(example)];
    }
}

fn takes_file(name: &str, about: &Value) -> bool {
    // `data` and `blob` are the protocol's own names for encoded bytes.
    let encoded = about["contentEncoding"].as_str() == Some("base64");
    encoded || about["format"].as_str() == Some("byte") || name == "data" || name == "blob"
}

/// Renders a text area with one value per line.
fn lines(field: &FormField<'_>, kind: &str) -> Markup {
    let FormField { id, name, about, is_required, .. } = field;
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let default: Vec<String> =
        about["default"].as_array().into_iter().flatten().map(shown).collect();
    html! {
        textarea id=(id) class="mono" data-field=(name) data-kind=(kind) rows="2"
            data-required[*is_required] placeholder="one per line" spellcheck="false" {
            (default.join("\n"))
        }
    }
}

fn number(field: &FormField<'_>) -> Markup {
    let FormField { id, name, about, is_required, .. } = field;
    let step = if value_kind(about) == "integer" { "1" } else { "any" };
    let said = |key: &str| about[key].as_f64().map(|number| number.to_string());
    html! {
        input id=(id) type="number" data-field=(name) data-kind="number" step=(step)
            min=[said("minimum")] max=[said("maximum")] value=[said("default")]
            data-required[*is_required];
    }
}

fn choose_one(field: &FormField<'_>, choices: &[(Value, String)]) -> Markup {
    let FormField { id, name, about, is_required, .. } = field;
    html! {
        select id=(id) data-field=(name) data-kind="json" data-required[*is_required] {
            option value="" { "–" }
            @for (value, label) in choices {
                option value=(value) selected[about["default"] == *value] { (label) }
            }
        }
    }
}

fn choose_several(field: &FormField<'_>, choices: &[(Value, String)]) -> Markup {
    let FormField { id, name, about, is_required, .. } = field;
    let is_chosen =
        |value: &Value| about["default"].as_array().is_some_and(|chosen| chosen.contains(value));
    html! {
        fieldset id=(id) class="choices" data-field=(name) data-kind="choices"
            data-required[*is_required] {
            @for (value, label) in choices {
                label { input type="checkbox" value=(value) checked[is_chosen(value)]; " " (label) }
            }
        }
    }
}

fn as_json(field: &FormField<'_>) -> Markup {
    let FormField { id, name, about, is_required, .. } = field;
    let default =
        about.get("default").filter(|it| !it.is_null()).map(Value::to_string).unwrap_or_default();
    let example = match value_kind(about).as_str() {
        "array" => "[]",
        "object" => "{}",
        _ => "JSON",
    };
    html! {
        textarea id=(id) class="mono" data-field=(name) data-kind="json" rows="2"
            data-required[*is_required] placeholder=(example) spellcheck="false" { (default) }
    }
}

/// Maximum number of references and choices that are followed.
const MAX_STEPS: usize = 8;

/// Resolves references within the document, and choices that have one alternative besides `null`.
pub(super) fn resolve(about: &Value, root: &Value) -> Value {
    let mut at = about.clone();
    // A schema may refer to itself.
    for _ in 0..MAX_STEPS {
        let Some(inner) = follow_reference(&at, root) else { break };
        at = overlay(&inner, &at);
    }
    at
}

fn follow_reference(at: &Value, root: &Value) -> Option<Value> {
    if let Some(place) = at["$ref"].as_str() {
        // Only within the schema: a remote reference would make the console fetch a URL.
        return root.pointer(place.strip_prefix('#')?).cloned();
    }
    let several = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| at[key].as_array())?;
    let mut kinds = several.iter().filter(|one| one["type"] != "null");
    match (kinds.next(), kinds.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

fn overlay(inner: &Value, outer: &Value) -> Value {
    // A title or default next to a reference is more specific than that of its target.
    let mut members: Map<String, Value> = inner.as_object().cloned().unwrap_or_default();
    for (name, value) in outer.as_object().into_iter().flatten() {
        if !["$ref", "anyOf", "oneOf", "allOf"].contains(&name.as_str()) {
            members.insert(name.clone(), value.clone());
        }
    }
    Value::Object(members)
}

/// Returns the type of a value in one word: the first one that is not `null`.
pub(super) fn value_kind(about: &Value) -> String {
    let kind = match &about["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned(),
        other => Some(other.clone()),
    };
    kind.as_ref().and_then(Value::as_str).unwrap_or("json").to_owned()
}

/// Returns the allowed values with their labels, if the schema lists them.
pub(super) fn choices(about: &Value) -> Option<Vec<(Value, String)>> {
    let label = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if let Some(values) = about["enum"].as_array() {
        // From the elicitation schemas of the protocol; not part of JSON Schema.
        let titles = &about["enumNames"];
        let named = values.iter().enumerate().map(|(number, value)| {
            let title = titles[number].as_str().map(str::to_owned);
            (value.clone(), title.unwrap_or_else(|| label(value)))
        });
        return Some(named.collect());
    }
    let several = about["oneOf"].as_array().or(about["anyOf"].as_array())?;
    let one = |choice: &Value| {
        let value = choice.get("const")?.clone();
        let title = choice["title"].as_str().map(str::to_owned);
        Some((value.clone(), title.unwrap_or_else(|| label(&value))))
    };
    several.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_of_value_has_its_field_and_the_rest_is_json() {
        let schema = json!({
            "required": ["path"],
            "$defs": {"Point": {"type": "object", "properties": {"y": {"type": "number"}}}},
            "properties": {
                "count": {"type": "integer", "minimum": 1, "default": 5},
                "deep": {"type": "object"},
                "fruit": {"enum": ["apple", "pear"], "default": "pear"},
                "hot": {"type": "boolean"},
                "inner": {"properties": {"x": {"type": "string"}}},
                "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
                "path": {"type": "string", "description": "<b>which</b>"},
                "points": {"type": "array", "items": {"$ref": "#/$defs/Point"}},
                "sizes": {"type": "array", "items": {"type": "integer"}},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
                "upload": {"type": "string", "contentEncoding": "base64"},
            },
        });
        let shown = fields(&schema, &[], "f").into_string();
        for part in [
            r#"type="number" data-field="count" data-kind="number" step="1" min="1" value="5""#,
            r#"<textarea id="f-1" class="mono" data-field="deep" data-kind="json""#,
            r#"<option value="&quot;pear&quot;" selected>pear</option>"#,
            r#"<option value="true">yes</option>"#,
            r#"<fieldset class="object" id="f-4" data-field="inner" data-kind="object""#,
            r#"<input id="f-4-0" type="text" data-field="x""#,
            r#"<input id="f-5" type="text" data-field="maybe" data-kind="string""#,
            r#"data-field="path" data-kind="string" value="" data-required"#,
            "&lt;b&gt;which&lt;/b&gt;",
            r#"<fieldset class="object" id="f-7" data-field="points" data-kind="list""#,
            r#"<input id="f-7-__n__-0" type="number" data-field="y""#,
            r#"data-field="sizes" data-kind="numbers""#,
            r#"<fieldset id="f-9" class="choices" data-field="tags" data-kind="choices""#,
            r#"<input type="file" class="small" data-file="f-10""#,
        ] {
            assert!(shown.contains(part), "no `{part}` in {shown}");
        }
    }

    #[test]
    fn fields_come_in_the_order_that_is_wanted() {
        let schema = json!({"properties": {"a": {}, "b": {}, "c": {}}});
        let order = ["c".to_owned(), "a".to_owned()];
        let shown = fields(&schema, &order, "f").into_string();
        let place = |name: &str| shown.find(&format!("data-field=\"{name}\"")).unwrap();
        assert!(place("c") < place("a") && place("a") < place("b"), "{shown}");
    }

    #[test]
    fn an_odd_schema_gives_no_fields_and_no_fault() {
        let endless = json!({
            "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}},
            "properties": {"a": {"$ref": "#/$defs/a"}},
        });
        assert!(fields(&endless, &[], "f").into_string().len() < 100_000);
        for schema in [json!(null), json!([]), json!({"properties": 3}), json!({"required": {}})] {
            assert!(fields(&schema, &[], "f").into_string().contains("no arguments"), "{schema}");
        }
    }

    #[test]
    fn references_and_single_choices_are_followed_and_endless_ones_end() {
        let root = json!({"$defs": {
            "size": {"type": "integer", "title": "inner", "minimum": 1},
            "loop": {"$ref": "#/$defs/loop"},
        }});
        for (about, expected) in [
            (json!({"type": "string"}), json!({"type": "string"})),
            (
                json!({"$ref": "#/$defs/size", "title": "outer"}),
                json!({"type": "integer", "title": "outer", "minimum": 1}),
            ),
            (
                json!({"anyOf": [{"$ref": "#/$defs/size"}, {"type": "null"}], "default": null}),
                json!({"type": "integer", "title": "inner", "minimum": 1, "default": null}),
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            ),
            (json!({"$ref": "https://a.example/x"}), json!({"$ref": "https://a.example/x"})),
        ] {
            assert_eq!(resolve(&about, &root), expected, "{about}");
        }
        resolve(&json!({"$ref": "#/$defs/loop"}), &root);
    }
}
