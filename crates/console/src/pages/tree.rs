//! JSON as a collapsible tree or as a table. In a tree, keys and numbers are exactly as sent.

use std::borrow::Cow;

use maud::{Markup, html};
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_json::{Members, RawMembers};

use super::parts::{count, pretty};

/// Maximum size of a tree; a larger document is shown as text, because browsers slow down.
const MAX_NODES: usize = 3_000;
/// Maximum nesting; deeper values are shown as text.
const MAX_DEPTH: usize = 16;
const MAX_UNFOLDED: usize = 40;

/// Renders an object or an array with nested values as a tree, unless it is too large.
pub(super) fn tree(text: &str) -> Option<Markup> {
    // Raw values keep duplicate keys, the order of keys and the digits of numbers.
    let raw: &RawValue = serde_json::from_str(text.trim()).ok()?;
    let inner = TreeMembers::parse(raw)?;
    // A flat document is as readable as text.
    inner.members.iter().find(|(_, raw)| raw.get().starts_with(['{', '[']))?;
    let mut left = MAX_NODES;
    let shown = branch(None, &inner, 0, &mut left);
    (left > 0).then(|| html! { div class="tree" { (shown) } })
}

fn node(name: Option<&str>, raw: &RawValue, depth: usize, left: &mut usize) -> Markup {
    *left = left.saturating_sub(1);
    if *left == 0 {
        return Markup::default();
    }
    match TreeMembers::parse(raw) {
        Some(inner) if depth < MAX_DEPTH => branch(name, &inner, depth, left),
        Some(_) => html! { div class="leaf" { (key(name)) pre { (pretty(raw.get())) } } },
        None => {
            html! { div class="leaf" { (key(name)) span class=(tone(raw.get())) { (raw.get()) } } }
        }
    }
}

fn branch(name: Option<&str>, inner: &TreeMembers<'_>, depth: usize, left: &mut usize) -> Markup {
    let size = inner.members.len();
    let about = match inner.is_list {
        true => format!("[ {} ]", count(size, "item")),
        false => format!("{{ {} }}", count(size, "member")),
    };
    let is_open = size <= MAX_UNFOLDED && depth < 3;
    html! {
        @if size == 0 {
            div class="leaf" { (key(name)) @if inner.is_list { "[]" } @else { "{}" } }
        } @else {
            details open[is_open || depth == 0] {
                summary { (key(name)) span class="muted" { (about) } }
                @for (number, (name, raw)) in inner.members.iter().enumerate() {
                    @if inner.is_list { (node(Some(&number.to_string()), raw, depth + 1, left)) }
                    @else { (node(Some(name), raw, depth + 1, left)) }
                }
            }
        }
    }
}

fn key(name: Option<&str>) -> Markup {
    html! { @if let Some(name) = name { span class="key-name" { (name) } ": " } }
}

fn tone(text: &str) -> &'static str {
    match text.chars().next() {
        Some('"') => "is-text",
        Some('-' | '0'..='9') => "is-number",
        _ => "is-word",
    }
}

/// The members of an object or an array, in the order in which they were sent.
struct TreeMembers<'a> {
    is_list: bool,
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> TreeMembers<'a> {
    fn parse(raw: &'a RawValue) -> Option<Self> {
        if let Some(Members(members)) = RawMembers::parse(raw.get()) {
            return Some(Self { is_list: false, members });
        }
        let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
        let members = items.into_iter().map(|item| (Cow::default(), item)).collect();
        Some(Self { is_list: true, members })
    }
}

/// Maximum width of a table; a wider one is shown as a tree.
const MAX_COLUMNS: usize = 12;
const MAX_ROWS: usize = 200;
/// Maximum length of an object or an array in a cell.
const MAX_CELL_BYTES: usize = 80;

/// Renders a table if the text is an array of flat objects.
pub(super) fn table(text: &str) -> Option<Markup> {
    let value: Value = serde_json::from_str(text).ok()?;
    let rows = match &value {
        Value::Array(rows) => rows,
        // Structured content has to be an object, so an array is often wrapped as its only member.
        Value::Object(members) if members.len() == 1 => members.values().next()?.as_array()?,
        _ => return None,
    };
    if rows.len() < 2 || rows.len() > MAX_ROWS {
        return None;
    }
    let mut columns: Vec<&str> = Vec::new();
    for row in rows {
        for (name, cell) in row.as_object()? {
            // A tree is more readable for deeply nested values.
            if (cell.is_object() || cell.is_array()) && cell.to_string().len() > MAX_CELL_BYTES {
                return None;
            }
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
    }
    if columns.is_empty() || columns.len() > MAX_COLUMNS {
        return None;
    }
    Some(html! {
        div class="scroll" tabindex="0" {
            table {
                thead { tr { @for name in &columns { th { (name) } } } }
                tbody {
                    @for row in rows {
                        tr { @for name in &columns { (cell(&row[*name])) } }
                    }
                }
            }
        }
    })
}

fn cell(value: &Value) -> Markup {
    match value {
        Value::Null => html! { td class="muted" { "–" } },
        Value::String(text) => html! { td { (text) } },
        Value::Number(number) => html! { td class="number" { (number) } },
        Value::Bool(_) => html! { td { (value) } },
        other => html! { td { code { (other) } } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_numbers_their_digits() {
        let shown = tree(r#"{"z":1.50,"a":{"b":["<i>",null]},"e":[]}"#).unwrap().into_string();
        assert_eq!(
            shown,
            "<div class=\"tree\"><details open><summary><span class=\"muted\">{ 3 members }</span></summary>\
             <div class=\"leaf\"><span class=\"key-name\">z</span>: <span class=\"is-number\">1.50</span></div>\
             <details open><summary><span class=\"key-name\">a</span>: <span class=\"muted\">{ 1 member }</span></summary>\
             <details open><summary><span class=\"key-name\">b</span>: <span class=\"muted\">[ 2 items ]</span></summary>\
             <div class=\"leaf\"><span class=\"key-name\">0</span>: <span class=\"is-text\">&quot;&lt;i&gt;&quot;</span></div>\
             <div class=\"leaf\"><span class=\"key-name\">1</span>: <span class=\"is-word\">null</span></div>\
             </details></details>\
             <div class=\"leaf\"><span class=\"key-name\">e</span>: []</div></details></div>"
        );
    }

    #[test]
    fn what_is_too_large_too_deep_or_no_json_is_left_to_the_text() {
        let wide = format!("[[],{}]", vec!["1"; MAX_NODES + 1].join(","));
        assert!(tree(&wide).is_none());
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        let shown = tree(&deep).unwrap().into_string();
        assert!(shown.matches("<details").count() <= MAX_DEPTH, "{shown}");
        for odd in ["", "1", "\"a\"", "{", "plain", "{\"a\":1}", "[1,2]", "{}"] {
            assert!(tree(odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn alike_objects_are_a_table_and_nothing_else_is() {
        let shown = table(r#"{"rows":[{"a":1,"b":"<i>"},{"b":null}]}"#).unwrap().into_string();
        assert!(shown.contains("<th>a</th><th>b</th>"), "{shown}");
        assert!(shown.contains("<td class=\"number\">1</td><td>&lt;i&gt;</td>"), "{shown}");
        let long = format!("[{{\"a\":[\"{}\"]}},{{\"a\":1}}]", "x".repeat(MAX_CELL_BYTES));
        for other in ["[]", "[{\"a\":1}]", "[1,2]", &long, "{\"a\":1}", "x"] {
            assert!(table(other).is_none(), "{other}");
        }
        let shown = table(r#"[{"a":{"b":1}},{"a":true}]"#).unwrap().into_string();
        assert!(shown.contains("<code>{&quot;b&quot;:1}</code>"), "{shown}");
    }
}
