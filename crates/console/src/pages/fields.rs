//! Fields to fill in, out of a JSON schema; the page's script makes an object of them.
//!
//! What has no simple field is written as JSON. The host checks everything again.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::controls::control;
use super::schema::{choices, resolve, value_kind};

/// More fields than this are written as JSON.
const MAX_FIELDS: usize = 60;
/// So deep are objects and lists in each other shown as fields.
const MAX_DEPTH: usize = 4;
/// What stands for the number of an item in a list until the page's script knows it.
const INDEX_PLACEHOLDER: &str = "__n__";

/// A field for each member of an object's schema, in this order; those that it does not name last.
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

/// One value that is to be filled in.
pub(super) struct FormField<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    pub(super) about: Value,
    /// The whole schema, which references lead into.
    pub(super) root: &'a Value,
    pub(super) is_required: bool,
}

impl FormField<'_> {
    /// What is said about the items of a list.
    pub(super) fn items(&self) -> Value {
        let about = &self.about;
        resolve(&about["items"], self.root)
    }

    /// Deeper than this, JSON is easier to read than boxes in boxes.
    fn is_deep(&self) -> bool {
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

/// The fields of an object that is a member itself.
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

/// A list of what is more than a line: each item in a box of its own, added and removed by the
/// page's script.
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
            button type="button" class="button small" data-add-item="" { "Add one" }
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
}
