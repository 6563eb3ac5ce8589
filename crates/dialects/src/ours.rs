//! Conversion between a `ServerEntry` and an entry of our own configuration.

use serde_json::{Map, Value, json};

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit};
use crate::dialect::ParsedServers;
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, Setting, add_extra, push};
use crate::note::{DialectError, Note, NoteWeight};
use crate::reduce::reduce;
use crate::text::Syntax;
use crate::{files, render};

/// The id of Switchboard among the products.
pub(crate) const ID: &str = "switchboard";

/// The key for settings of other products, which are only written back to them.
const FOREIGN: &str = "foreign";

const MAX_NAME_BYTES: usize = 200;

/// The grammar of our own entries, in which settings under `foreign` count as expressible.
static OURS: Grammar = Grammar {
    id: ID,
    title: "Switchboard",
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Auto, EntryHttpKind::Streamable, EntryHttpKind::Sse],
        cwd: true,
        env_file: true,
        timeout: Some(TimeLimit::SECONDS),
        startup_timeout: Some(TimeLimit::LONG_SECONDS),
        disabled: true,
        approved: true,
        approve_all: true,
        allowed: true,
        denied: true,
        oauth: OauthParts::ALL,
        names: own_name,
        program: Syntax::OURS_OPEN,
        env: Syntax::OURS,
        address: Syntax::OURS_OPEN,
        headers: Syntax::OURS,
        ..ProductAbilities::MINIMAL
    },
    kinds: &[
        ("http", EntryHttpKind::Streamable),
        ("sse", EntryHttpKind::Sse),
        ("streamableHttp", EntryHttpKind::Streamable),
        ("streamable-http", EntryHttpKind::Streamable),
        ("streamable_http", EntryHttpKind::Streamable),
    ],
    settings: &[
        ("oauth", Setting::Oauth(OauthNames::CAMEL)),
        ("disabled", Setting::Disabled),
        ("timeout", Setting::Timeout),
        ("autoApprove", Setting::Approved),
    ],
    ..Grammar::USUAL
};

fn own_name(name: &str) -> String {
    let mut plain: String = name.chars().filter(|one| !one.is_control()).collect();
    // By character: a cut inside one would not be a string.
    while plain.len() > MAX_NAME_BYTES {
        plain.pop();
    }
    if plain.is_empty() { "server".to_owned() } else { plain }
}

/// Reads the servers of one of our own files. An entry that cannot be read becomes a note.
pub fn read_ours(text: &str) -> Result<ParsedServers, DialectError> {
    let file = files::read(FileFormat::Json, text, &["mcpServers"])?;
    let mut entries = Vec::new();
    let mut notes = Vec::new();
    for (name, value) in &file.servers {
        match ServerEntry::from_ours(name, value) {
            Ok((entry, more)) => {
                entries.push(entry);
                notes.extend(more);
            }
            Err(message) => notes.push(Note::left_out(name, message)),
        }
    }
    Ok(ParsedServers { entries, notes })
}

impl ServerEntry {
    /// Returns the name and the entry for our own configuration, and notes about differences.
    pub fn to_ours(&self) -> (String, Value, Vec<Note>) {
        let mut notes = Vec::new();
        // Our own format can express every server, so none is left out.
        let entry = reduce(&OURS, self, &mut notes).unwrap_or_else(|| self.clone());
        let mut members = OURS.write_usual(&entry);
        push(&mut members, FOREIGN, foreign(&entry, &mut notes));
        if let Some(own) = entry.product_extra(ID) {
            add_extra(&mut members, own);
        }
        (entry.name, Value::Object(members.into_iter().collect()), notes)
    }

    /// Converts an entry of our own configuration; the error is the reason why it cannot be read.
    pub fn from_ours(name: &str, value: &Value) -> Result<(Self, Vec<Note>), String> {
        let value = normalize(value);
        let mut fields = EntryFields::new(name, &value, &OURS.abilities)?;
        if !["command", "url"].iter().any(|key| fields.has(key)) {
            return Err("has neither a command nor a URL".to_owned());
        }
        let mut entry = OURS.read_usual(&mut fields)?;
        // The consent to dangers is valid only here, so it is not exported.
        fields.value("dangerous");
        read_foreign(&mut fields, &mut entry)?;
        // `finish` sets the members of our own product and must not replace the others.
        let extra = std::mem::take(&mut entry.extra);
        let notes = fields.finish(ID, &mut entry);
        entry.extra.extend(extra);
        Ok((entry, notes))
    }
}

/// Normalizes the spellings of other products that our own files accept.
fn normalize(value: &Value) -> Value {
    let Value::Object(map) = value else { return value.clone() };
    let mut map = map.clone();
    for key in ["transport", "transportType"] {
        match map.remove(key) {
            Some(Value::Object(nested)) => map.extend(nested),
            Some(Value::String(word)) => drop(map.entry("type").or_insert(Value::String(word))),
            _ => {}
        }
    }
    if let Some(Value::Array(more)) = map.remove("alwaysAllow")
        && let Value::Array(list) = map.entry("autoApprove").or_insert_with(|| json!([]))
    {
        list.extend(more);
    }
    // Several URLs are instances of one server; other products support only one.
    if let Some(Value::Array(urls)) = map.remove("urls")
        && let Some(first) = urls.into_iter().next()
    {
        map.entry("url").or_insert(first);
    }
    Value::Object(map)
}

fn foreign(entry: &ServerEntry, notes: &mut Vec<Note>) -> Value {
    let mut members = Members::new();
    let mut note = |key: &str, message: &str| {
        notes.push(Note::new(&entry.name, key, NoteWeight::Lost, message));
    };
    let tools = &entry.tools;
    if !tools.allowed.is_empty() {
        note("allowed tools", "is kept, but all tools are offered here");
    }
    if !tools.denied.is_empty() {
        note("denied tools", "is kept, but they are offered here");
    }
    if tools.approve_all {
        // A product's blanket approval must not silence our own questions.
        note("autoApprove", "for all tools is kept, but has no effect here");
        push(&mut members, "approveAll", true);
    }
    if entry.startup_timeout_ms.is_some() {
        note("start-up timeout", "is kept, but has no effect here");
    }
    push(&mut members, "allowedTools", json!(tools.allowed));
    push(&mut members, "deniedTools", json!(tools.denied));
    let startup = render::time(entry.startup_timeout_ms, OURS.abilities.startup_timeout);
    push(&mut members, "startupTimeout", startup);
    for (product, extra) in entry.extra.iter().filter(|(product, _)| *product != ID) {
        for (key, value) in extra {
            for key in inner_keys(key, value) {
                note(&key, "is kept, but has no effect here");
            }
        }
        push(&mut members, product, Value::Object(extra.clone()));
    }
    Value::Object(members.into_iter().collect())
}

/// Returns the keys that have no effect; for OAuth settings, the keys inside them.
fn inner_keys(key: &str, value: &Value) -> Vec<String> {
    match (key, value) {
        // Inputs were converted to secrets.
        ("inputs", Value::Array(_)) => Vec::new(),
        ("oauth" | "auth", Value::Object(map)) => {
            map.keys().map(|inner| format!("{key}.{inner}")).collect()
        }
        _ => vec![key.to_owned()],
    }
}

fn read_foreign(fields: &mut EntryFields<'_>, entry: &mut ServerEntry) -> Result<(), String> {
    let empty = Value::Object(Map::new());
    let value = fields.value(FOREIGN).unwrap_or(&empty);
    let mut foreign = EntryFields::new(fields.name, value, fields.able)?;
    entry.tools.approve_all = foreign.flag("approveAll").unwrap_or_default();
    entry.tools.allowed = foreign.names("allowedTools");
    entry.tools.denied = foreign.names("deniedTools");
    entry.startup_timeout_ms = foreign.time("startupTimeout", Some(TimeLimit::LONG_SECONDS));
    for (product, extra) in value.as_object().into_iter().flatten() {
        if let Value::Object(extra) = extra {
            entry.extra.insert(product.clone(), extra.clone());
        }
    }
    Ok(())
}
