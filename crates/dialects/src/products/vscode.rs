//! VS Code: `mcp.json` of the user and of a workspace, with inputs that are asked for once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::abilities::{OauthParts, ProductAbilities};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::entry_members;
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, OutsideChange, push};
use crate::locations::{Location, UserFolders};
use crate::text::{Syntax, secret_name};

/// VS Code.
pub(crate) struct Vscode;

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Auto, EntryHttpKind::Streamable, EntryHttpKind::Sse],
    cwd: true,
    env_file: true,
    oauth: OauthParts { client: true, ..OauthParts::NONE },
    ..ProductAbilities::with_variables(Syntax::ENV_INPUTS)
};

const KINDS: &[(&str, EntryHttpKind)] = &[
    ("http", EntryHttpKind::Streamable),
    ("sse", EntryHttpKind::Sse),
    ("streamable-http", EntryHttpKind::Streamable),
];

const OAUTH: OauthNames = OauthNames { client: "clientId", secret: "", scopes: "", port: "" };

/// Where the questions of an entry are kept between reading and writing.
const INPUTS: &str = "inputs";

impl Grammar for Vscode {
    fn id(&self) -> &'static str {
        "vscode"
    }

    fn title(&self) -> &'static str {
        "VS Code"
    }

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Json
    }

    fn path(&self) -> &'static [&'static str] {
        &["servers"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "envFile", "cwd", "url", "headers", "oauth", INPUTS]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let mut entry = ServerEntry::new(
            fields.name,
            entry_members::reach(fields, KINDS, EntryHttpKind::Auto)?,
        );
        entry.oauth = fields.oauth("oauth", &OAUTH)?;
        // Links carry the questions inside of the entry.
        fields.value(INPUTS);
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "stdio", KINDS);
        push(&mut members, "oauth", entry_members::oauth(&ABILITIES, &entry.oauth, &OAUTH));
        for input in entry_inputs(entry) {
            let Some(id) = input.get("id").and_then(Value::as_str) else { continue };
            for (_, value) in &mut members {
                rename(value, &secret_name(id), id);
            }
        }
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let user = Location::user(surroundings.application("Code").join("User/mcp.json"));
        let project = surroundings.in_project(".vscode/mcp.json");
        std::iter::once(user).chain(project).collect()
    }

    fn outside_keys(&self) -> &'static [&'static str] {
        &[INPUTS]
    }

    fn read_outside(&self, root: &Value, entry: &mut ServerEntry) {
        let wanted = entry.secrets();
        let all = root.get(INPUTS).and_then(Value::as_array).into_iter().flatten();
        let own: Vec<Value> = all
            .filter(|input| {
                let id = input.get("id").and_then(Value::as_str);
                id.is_some_and(|id| {
                    wanted.contains(&secret_name(id)) && **input != question(id, entry)
                })
            })
            .cloned()
            .collect();
        if !own.is_empty() {
            let extra = entry.extra.entry(self.id().to_owned()).or_default();
            extra.insert(INPUTS.to_owned(), Value::Array(own));
        }
    }

    fn write_outside(&self, root: &Value, entries: &[ServerEntry]) -> Vec<OutsideChange> {
        let there = root.get(INPUTS).and_then(Value::as_array);
        let mut known: BTreeSet<String> = there
            .into_iter()
            .flatten()
            .filter_map(|input| input.get("id")?.as_str())
            .map(secret_name)
            .collect();
        let mut add = Vec::new();
        for input in entries.iter().flat_map(entry_inputs) {
            let id = input.get("id").and_then(Value::as_str).unwrap_or_default();
            if known.insert(secret_name(id)) {
                add.push(input);
            }
        }
        if add.is_empty() {
            return Vec::new();
        }
        vec![OutsideChange { path: &[INPUTS], add, remove: Vec::new() }]
    }
}

/// The questions that an entry needs: those it came with, and one for every other secret.
fn entry_inputs(entry: &ServerEntry) -> Vec<Value> {
    let kept = entry.product_extra("vscode").and_then(|extra| extra.get(INPUTS)?.as_array());
    let mut inputs = kept.cloned().unwrap_or_default();
    let known: BTreeSet<String> =
        inputs.iter().filter_map(|input| input.get("id")?.as_str()).map(secret_name).collect();
    for name in entry.secrets().difference(&known) {
        inputs.push(question(name, entry));
    }
    inputs
}

/// The question that we put where there is none yet.
fn question(name: &str, entry: &ServerEntry) -> Value {
    let description = format!("{name} of {}", entry.name);
    json!({"type": "promptString", "id": name, "description": description, "password": true})
}

/// Puts the id of a question where our name for it stands.
fn rename(value: &mut Value, name: &str, id: &str) {
    match value {
        Value::String(text) => {
            *text = text.replace(&format!("${{input:{name}}}"), &format!("${{input:{id}}}"));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, name, id)),
        Value::Object(map) => map.values_mut().for_each(|item| rename(item, name, id)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
