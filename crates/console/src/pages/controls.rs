//! The control of one field, by the kind of its value.

use maud::{Markup, html};
use serde_json::Value;

use super::fields::FormField;
use super::schema::{choices, value_kind};

/// The control that a value of this kind is written into; JSON for what has none.
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
    let long = ["content", "text", "body", "code", "message", "prompt", "query", "sql"];
    if takes_file(name, about) {
        return html! {
            textarea id=(id) class="mono" data-field=(name) data-kind="string" rows="2"
                data-required[*is_required] spellcheck="false" placeholder="base64, or choose a file" {
                (default)
            }
            // The page's script puts what is in the file into the field.
            input type="file" class="small" data-file=(id) aria-label={ "A file for " (name) };
        };
    }
    if long.contains(name) || default.contains('\n') {
        return html! {
            textarea id=(id) data-field=(name) data-kind="string" rows="3"
                data-required[*is_required] spellcheck="false" { (default) }
            input type="file" class="small" data-file=(id) data-as="text"
                aria-label={ "A text file for " (name) };
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

/// Whether a text is what a file has in it.
fn takes_file(name: &str, about: &Value) -> bool {
    let encoded = about["contentEncoding"].as_str() == Some("base64");
    encoded || about["format"].as_str() == Some("byte") || name == "data" || name == "blob"
}

/// Values, one on each line.
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
            data-required[*is_required] placeholder="one on each line" spellcheck="false" {
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
