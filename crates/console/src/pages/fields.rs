//! Fields to fill in, out of a JSON schema; the page's script makes an object of them.
//!
//! What has no simple field is written as JSON. The host checks everything again.

use maud::{Markup, html};
use serde_json::{Map, Value};

/// More fields than this are written as JSON.
const MOST: usize = 60;
/// So deep are objects in objects shown as fields.
const DEEPEST: usize = 4;

/// A field for each member of an object's schema, in this order; those that it does not name last.
pub(super) fn fields(schema: &Value, order: &[String], prefix: &str) -> Markup {
    let none = Map::new();
    let members = schema["properties"].as_object().unwrap_or(&none);
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
    };
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    let place = |name: &str| order.iter().position(|other| other == name).unwrap_or(usize::MAX);
    members.sort_by_key(|(name, _)| place(name));
    html! {
        @for (number, (name, about)) in members.iter().take(MOST).enumerate() {
            (field(&Field {
                id: format!("{prefix}-{number}"),
                name,
                about,
                is_required: required(name),
            }))
        }
        @if members.is_empty() { p class="muted small" { "It takes no arguments." } }
    }
}

struct Field<'a> {
    id: String,
    name: &'a str,
    about: &'a Value,
    is_required: bool,
}

fn field(field: &Field<'_>) -> Markup {
    let Field { id, name, about, is_required } = field;
    if let Some(inner) = nested(field) {
        return inner;
    }
    html! {
        div class="field" {
            label for=(id) {
                span class="mono" { (about["title"].as_str().unwrap_or(name)) }
                @if *is_required { span class="required" title="required" { " *" } }
                span class="muted small" { " " (kind_of(about)) }
            }
            (control(field))
            @if let Some(description) = about["description"].as_str() {
                p class="muted small" id={ (id) "-about" } { (description) }
            }
        }
    }
}

/// The fields of an object that is a member itself.
fn nested(field: &Field<'_>) -> Option<Markup> {
    let Field { id, name, about, is_required } = field;
    let members = about["properties"].as_object()?;
    // Deeper than this, JSON is easier to read than boxes in boxes.
    let is_deep = id.matches('-').count() > DEEPEST;
    if members.is_empty() || is_deep || choices(about).is_some() {
        return None;
    }
    Some(html! {
        fieldset class="object" id=(id) data-field=(name) data-kind="object"
            data-required[*is_required] {
            legend {
                span class="mono" { (about["title"].as_str().unwrap_or(name)) }
                @if *is_required { span class="required" title="required" { " *" } }
            }
            @if let Some(description) = about["description"].as_str() {
                p class="muted small" { (description) }
            }
            (fields(about, &[], id))
        }
    })
}

fn control(field: &Field<'_>) -> Markup {
    let about = field.about;
    if let Some(choices) = choices(about) {
        return choose_one(field, &choices);
    }
    if let Some(choices) = choices(&about["items"]) {
        return choose_several(field, &choices);
    }
    match kind_of(about).as_str() {
        "boolean" => choose_one(
            field,
            &[(Value::Bool(true), "yes".to_owned()), (Value::Bool(false), "no".to_owned())],
        ),
        "array" if kind_of(&about["items"]) == "string" => lines(field),
        "integer" | "number" => number(field),
        "string" => text(field),
        _ => as_json(field),
    }
}

fn text(field: &Field<'_>) -> Markup {
    let Field { id, name, about, is_required } = field;
    let default = about["default"].as_str().unwrap_or_default();
    let long = ["content", "text", "body", "code", "message", "prompt", "query", "sql"];
    if long.contains(name) || default.contains('\n') {
        return html! {
            textarea id=(id) data-field=(name) data-kind="string" rows="3"
                data-required[*is_required] spellcheck="false" { (default) }
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
    html! {
        input id=(id) type=(kind) data-field=(name) data-kind="string" value=(default)
            data-required[*is_required] autocomplete="off" spellcheck="false"
            minlength=[said("minLength")] maxlength=[said("maxLength")]
            pattern=[about["pattern"].as_str()] placeholder=[example];
        @if takes_file(name, about) {
            // The page's script puts what is in the file into the field.
            input type="file" class="small" data-file=(id) aria-label={ "A file for " (name) };
        }
    }
}

/// Whether a text is what a file has in it.
fn takes_file(name: &str, about: &Value) -> bool {
    let encoded = about["contentEncoding"].as_str() == Some("base64");
    encoded || about["format"].as_str() == Some("byte") || name == "data" || name == "blob"
}

/// Texts, one on each line.
fn lines(field: &Field<'_>) -> Markup {
    let Field { id, name, about, is_required } = field;
    let default = about["default"].as_array().into_iter().flatten().filter_map(Value::as_str);
    html! {
        textarea id=(id) class="mono" data-field=(name) data-kind="lines" rows="2"
            data-required[*is_required] placeholder="one on each line" spellcheck="false" {
            (default.collect::<Vec<_>>().join("\n"))
        }
    }
}

fn number(field: &Field<'_>) -> Markup {
    let Field { id, name, about, is_required } = field;
    let step = if kind_of(about) == "integer" { "1" } else { "any" };
    let said = |key: &str| about[key].as_f64().map(|number| number.to_string());
    html! {
        input id=(id) type="number" data-field=(name) data-kind="number" step=(step)
            min=[said("minimum")] max=[said("maximum")] value=[said("default")]
            data-required[*is_required];
    }
}

fn choose_one(field: &Field<'_>, choices: &[(Value, String)]) -> Markup {
    let Field { id, name, about, is_required } = field;
    html! {
        select id=(id) data-field=(name) data-kind="json" data-required[*is_required] {
            option value="" { "–" }
            @for (value, label) in choices {
                option value=(value) selected[about["default"] == *value] { (label) }
            }
        }
    }
}

fn choose_several(field: &Field<'_>, choices: &[(Value, String)]) -> Markup {
    let Field { id, name, about, is_required } = field;
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

fn as_json(field: &Field<'_>) -> Markup {
    let Field { id, name, about, is_required } = field;
    let default = about.get("default").map(Value::to_string).unwrap_or_default();
    let example = match kind_of(about).as_str() {
        "array" => "[]",
        "object" => "{}",
        _ => "JSON",
    };
    html! {
        textarea id=(id) class="mono" data-field=(name) data-kind="json" rows="2"
            data-required[*is_required] placeholder=(example) spellcheck="false" { (default) }
    }
}

/// The kind of value in one word; the first of several.
fn kind_of(about: &Value) -> String {
    let kind = match &about["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned(),
        other => Some(other.clone()),
    };
    kind.as_ref().and_then(Value::as_str).unwrap_or("json").to_owned()
}

/// What there is to choose from, with what people call it.
fn choices(about: &Value) -> Option<Vec<(Value, String)>> {
    let label = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if let Some(values) = about["enum"].as_array() {
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
            "properties": {
                "count": {"type": "integer", "minimum": 1, "default": 5},
                "deep": {"type": "object"},
                "inner": {"properties": {"x": {"type": "string"}}},
                "fruit": {"enum": ["apple", "pear"], "default": "pear"},
                "hot": {"type": "boolean"},
                "path": {"type": "string", "description": "<b>which</b>"},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            },
        });
        let shown = fields(&schema, &[], "f").into_string();
        for part in [
            r#"type="number" data-field="count" data-kind="number" step="1" min="1" value="5""#,
            r#"<textarea id="f-1" class="mono" data-field="deep" data-kind="json""#,
            r#"<option value="&quot;pear&quot;" selected>pear</option>"#,
            r#"<option value="true">yes</option>"#,
            r#"data-field="path" data-kind="string" value="" data-required"#,
            "&lt;b&gt;which&lt;/b&gt;",
            r#"<fieldset class="object" id="f-4" data-field="inner" data-kind="object""#,
            r#"<input id="f-4-0" type="text" data-field="x""#,
            r#"<fieldset id="f-6" class="choices" data-field="tags" data-kind="choices""#,
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
        for schema in [json!(null), json!([]), json!({"properties": 3}), json!({"required": {}})] {
            assert!(fields(&schema, &[], "f").into_string().contains("no arguments"), "{schema}");
        }
    }
}
