//! TOML: reading as a JSON value, and edits that preserve comments, order and layout.

use serde_json::{Map, Number, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use crate::files::parsed_file::EntryChange;
use crate::note::DialectError;

type Servers = Vec<(String, Value)>;

pub(super) fn read(text: &str, path: &[&str]) -> Result<(Value, Servers), DialectError> {
    let document = parse(text)?;
    let root = table_value(document.as_table());
    let mut place: Option<&dyn TableLike> = Some(document.as_table());
    for key in path {
        place = place.and_then(|table| table.get(key)?.as_table_like());
    }
    let servers = place.map(|table| {
        table.iter().map(|(name, item)| (name.to_owned(), item_value(item))).collect()
    });
    Ok((root, servers.unwrap_or_default()))
}

fn parse(text: &str) -> Result<DocumentMut, DialectError> {
    text.parse::<DocumentMut>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        DialectError::Syntax { line, message }
    })
}

fn table_value(table: &dyn TableLike) -> Value {
    let members = table.iter().map(|(name, item)| (name.to_owned(), item_value(item)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => plain_value(value),
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(tables) => {
            Value::Array(tables.iter().map(|table| table_value(table)).collect())
        }
    }
}

fn plain_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::String(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => {
            Number::from_f64(*number.value()).map_or(Value::Null, Value::Number)
        }
        toml_edit::Value::Boolean(flag) => Value::Bool(*flag.value()),
        // JSON has no dates; no setting that is converted is one.
        toml_edit::Value::Datetime(time) => Value::String(time.value().to_string()),
        toml_edit::Value::Array(items) => Value::Array(items.iter().map(plain_value).collect()),
        toml_edit::Value::InlineTable(table) => table_value(table),
    }
}

pub(super) fn change(
    text: &str,
    path: &[&str],
    changes: &[EntryChange],
) -> Result<String, DialectError> {
    let mut document = parse(text)?;
    let shape = || DialectError::Shape { path: path.join("."), wanted: "a table" };
    let mut servers: &mut dyn TableLike = document.as_table_mut();
    for key in path {
        // Implicit: `[mcp_servers.x]` needs no header `[mcp_servers]` above it.
        let mut implicit = Table::new();
        implicit.set_implicit(true);
        let item = servers.entry(key).or_insert(Item::Table(implicit));
        servers = item.as_table_like_mut().ok_or_else(shape)?;
    }
    for change in changes {
        match servers.get_mut(&change.key).and_then(Item::as_table_like_mut) {
            Some(entry) => {
                for (name, value) in change.member_changes() {
                    set(entry, name, value);
                }
            }
            None => {
                let mut entry = Table::new();
                for (name, value) in &change.members {
                    if let Some(value) = to_toml(value) {
                        entry.insert(name, Item::Value(value));
                    }
                }
                servers.insert(&change.key, Item::Table(entry));
            }
        }
    }
    Ok(document.to_string())
}

/// Sets a member. If the value is already equal, its formatting is kept.
fn set(table: &mut dyn TableLike, name: &str, value: Option<&Value>) {
    let Some(value) = value else {
        table.remove(name);
        return;
    };
    if let Some(item) = table.get_mut(name) {
        if item_value(item) == *value {
            return;
        }
        if let (Some(inner), Value::Object(map)) = (item.as_table_like_mut(), value) {
            let gone: Vec<String> = inner.iter().map(|(name, _)| name.to_owned()).collect();
            for name in gone.iter().filter(|name| !map.contains_key(*name)) {
                inner.remove(name);
            }
            for (name, value) in map {
                set(inner, name, Some(value));
            }
            return;
        }
        if let (Some(there), Some(mut new)) = (item.as_value_mut(), to_toml(value)) {
            // The decor is the space and the comment around a value.
            *new.decor_mut() = there.decor().clone();
            *there = new;
            return;
        }
    }
    if let Some(value) = to_toml(value) {
        table.insert(name, Item::Value(value));
    }
}

fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        // TOML has no null.
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().filter_map(to_toml).collect::<Array>().into(),
        Value::Object(map) => {
            let members = map.iter().filter_map(|(name, value)| Some((name, to_toml(value)?)));
            members.collect::<InlineTable>().into()
        }
    })
}
