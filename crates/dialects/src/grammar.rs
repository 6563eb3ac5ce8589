//! What is particular about each product: the trait that every one of them implements.

use serde_json::{Map, Value};

use crate::abilities::ProductAbilities;
use crate::entry::ServerEntry;
use crate::fields::EntryFields;
use crate::locations::{Location, UserFolders};

/// The members of an entry, in the order in which they are written.
pub(crate) type Members = Vec<(String, Value)>;

/// How a product writes down its servers.
pub(crate) trait Grammar: Sync {
    fn id(&self) -> &'static str;

    fn title(&self) -> &'static str;

    fn abilities(&self) -> &'static ProductAbilities;

    fn format(&self) -> FileFormat;

    /// The keys to the object that holds the servers.
    fn path(&self) -> &'static [&'static str] {
        &["mcpServers"]
    }

    /// The keys of an entry that are written here, so that they are taken away where they do not
    /// apply any more.
    fn keys(&self) -> &'static [&'static str];

    /// One entry; otherwise why it is left out.
    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String>;

    /// The members of an entry that can be expressed.
    fn write(&self, entry: &ServerEntry) -> Members;

    /// The files in which servers may be, those for a change first.
    fn locations(&self, surroundings: &UserFolders) -> Vec<Location>;

    /// The key of an entry, where it is not its name.
    fn key(&self, name: &str) -> String {
        name.to_owned()
    }

    /// What is kept with an entry but stands elsewhere in the file.
    fn outside_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// What the rest of the file says about entries.
    fn read_outside(&self, _root: &Value, _entry: &mut ServerEntry) {}

    /// What the rest of the file has to say about entries.
    fn write_outside(&self, _root: &Value, _entries: &[ServerEntry]) -> Vec<OutsideChange> {
        Vec::new()
    }
}

/// What a file is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// JSON, with comments.
    Json,
    Toml,
    Yaml,
}

/// A change to a list elsewhere in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutsideChange {
    pub(crate) path: &'static [&'static str],
    pub(crate) add: Vec<Value>,
    pub(crate) remove: Vec<Value>,
}

/// Adds a member if there is something to say.
pub(crate) fn push(members: &mut Members, key: &str, value: impl Into<Value>) {
    let value = value.into();
    let is_empty = match &value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !is_empty {
        members.push((key.to_owned(), value));
    }
}

/// Adds what is not there yet, also inside of objects.
pub(crate) fn add_extra(members: &mut Members, extra: &Map<String, Value>) {
    for (key, value) in extra {
        match members.iter_mut().find(|(name, _)| name == key) {
            Some((_, there)) => merge(there, value),
            None => members.push((key.clone(), value.clone())),
        }
    }
}

fn merge(there: &mut Value, more: &Value) {
    if let (Value::Object(there), Value::Object(more)) = (there, more) {
        for (key, value) in more {
            match there.get_mut(key) {
                Some(inside) => merge(inside, value),
                None => drop(there.insert(key.clone(), value.clone())),
            }
        }
    }
}
