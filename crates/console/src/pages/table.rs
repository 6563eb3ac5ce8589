//! JSON that is a list of alike objects, as a table.

use maud::{Markup, html};
use serde_json::Value;

/// A wider or longer one is easier to read as it is.
const MAX_COLUMNS: usize = 12;
const MAX_ROWS: usize = 200;
/// The longest object or list in a cell.
const MAX_CELL_BYTES: usize = 80;

/// The table, if the text is one.
pub(super) fn table(text: &str) -> Option<Markup> {
    let value: Value = serde_json::from_str(text).ok()?;
    let rows = match &value {
        Value::Array(rows) => rows,
        // Structured results have to be objects: the list is often their only member.
        Value::Object(members) if members.len() == 1 => members.values().next()?.as_array()?,
        _ => return None,
    };
    if rows.len() < 2 || rows.len() > MAX_ROWS {
        return None;
    }
    let mut columns: Vec<&str> = Vec::new();
    for row in rows {
        for (name, cell) in row.as_object()? {
            // Where much is nested, a tree is easier to read.
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
    use super::{MAX_CELL_BYTES, table};

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
