//! VS Code: `mcp.json` of the user and of a workspace, with inputs that are prompted for once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::abilities::{OauthParts, ProductAbilities};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::fields::OauthNames;
use crate::grammar::{Grammar, OutsideChange, Setting};
use crate::text::{Syntax, secret_name};

/// The key of an entry's inputs between reading and writing.
const INPUTS: &str = "inputs";

pub(crate) static VSCODE: Grammar = Grammar {
    id: "vscode",
    title: "VS Code",
    path: &["servers"],
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Auto, EntryHttpKind::Streamable, EntryHttpKind::Sse],
        cwd: true,
        env_file: true,
        oauth: OauthParts { client: true, ..OauthParts::NONE },
        ..ProductAbilities::with_variables(Syntax::ENV_INPUTS)
    },
    keys: &["type", "command", "args", "env", "envFile", "cwd", "url", "headers", INPUTS],
    stdio: "stdio",
    kinds: &[
        ("http", EntryHttpKind::Streamable),
        ("sse", EntryHttpKind::Sse),
        ("streamable-http", EntryHttpKind::Streamable),
    ],
    settings: &[("oauth", Setting::Oauth(OauthNames { client: "clientId", ..OauthNames::NONE }))],
    read: |grammar, fields| {
        // Links contain the inputs inside the entry.
        fields.value(INPUTS);
        grammar.read_usual(fields)
    },
    write: |grammar, entry| {
        let mut members = grammar.write_usual(entry);
        // Ids such as `api-key` are not valid names of secrets, so we know them under another.
        for input in entry_inputs(entry) {
            let Some(id) = input.get("id").and_then(Value::as_str) else { continue };
            for (_, value) in &mut members {
                rename(value, &secret_name(id), id);
            }
        }
        members
    },
    locations: |folders| {
        let user = folders.application("Code").join("User/mcp.json");
        folders.with_project(user, ".vscode/mcp.json")
    },
    outside_keys: &[INPUTS],
    read_outside,
    write_outside,
    ..Grammar::USUAL
};

fn read_outside(root: &Value, entry: &mut ServerEntry) {
    let wanted = entry.secrets();
    let all = root.get(INPUTS).and_then(Value::as_array).into_iter().flatten();
    let own: Vec<Value> = all
        .filter(|input| {
            let id = input.get("id").and_then(Value::as_str);
            // An input that we would generate anyway need not be kept.
            id.is_some_and(|id| wanted.contains(&secret_name(id)) && **input != question(id, entry))
        })
        .cloned()
        .collect();
    if !own.is_empty() {
        let extra = entry.extra.entry(VSCODE.id.to_owned()).or_default();
        extra.insert(INPUTS.to_owned(), Value::Array(own));
    }
}

fn write_outside(root: &Value, entries: &[ServerEntry]) -> Vec<OutsideChange> {
    let there = root.get(INPUTS).and_then(Value::as_array).into_iter().flatten();
    let mut known = secret_names(there);
    let mut add = Vec::new();
    for input in entries.iter().flat_map(entry_inputs) {
        let id = input.get("id").and_then(Value::as_str).unwrap_or_default();
        // An existing input may have a description or a default of its own, and stays.
        if known.insert(secret_name(id)) {
            add.push(input);
        }
    }
    if add.is_empty() {
        return Vec::new();
    }
    vec![OutsideChange { path: &[INPUTS], add, remove: Vec::new() }]
}

fn secret_names<'a>(inputs: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    inputs.into_iter().filter_map(|input| input.get("id")?.as_str()).map(secret_name).collect()
}

/// Returns the inputs that an entry needs: its own, and one for every other secret.
fn entry_inputs(entry: &ServerEntry) -> Vec<Value> {
    let kept = entry.product_extra(VSCODE.id).and_then(|extra| extra.get(INPUTS)?.as_array());
    let mut inputs = kept.cloned().unwrap_or_default();
    let known = secret_names(&inputs);
    for name in entry.secrets().difference(&known) {
        inputs.push(question(name, entry));
    }
    inputs
}

fn question(name: &str, entry: &ServerEntry) -> Value {
    let description = format!("{name} of {}", entry.name);
    json!({"type": "promptString", "id": name, "description": description, "password": true})
}

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
