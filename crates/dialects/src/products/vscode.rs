//! VS Code: `mcp.json` of the user and of a workspace, with inputs that are asked for once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::abilities::{Abilities, OauthParts};
use crate::entry::{Entry, HttpKind};
use crate::fields::{Fields, OauthNames};
use crate::grammar::{Beside, Format, Grammar, Members, push};
use crate::places::{Location, Surroundings};
use crate::shape;
use crate::text::{Syntax, secret_name};

/// VS Code.
pub(crate) struct Vscode;

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Auto, HttpKind::Streamable, HttpKind::Sse],
    cwd: true,
    env_file: true,
    oauth: OauthParts { client: true, ..OauthParts::NONE },
    ..Abilities::with_variables(Syntax::ENV_INPUTS)
};

const KINDS: &[(&str, HttpKind)] = &[
    ("http", HttpKind::Streamable),
    ("sse", HttpKind::Sse),
    ("streamable-http", HttpKind::Streamable),
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

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
    }

    fn path(&self) -> &'static [&'static str] {
        &["servers"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "envFile", "cwd", "url", "headers", "oauth", INPUTS]
    }

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let mut entry = Entry::new(fields.name, shape::reach(fields, KINDS, HttpKind::Auto)?);
        entry.oauth = fields.oauth("oauth", &OAUTH)?;
        // Links carry the questions inside of the entry.
        fields.value(INPUTS);
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("stdio", KINDS));
        push(&mut members, "oauth", shape::oauth(&ABLE, &entry.oauth, &OAUTH));
        for input in inputs_of(entry) {
            let Some(id) = input.get("id").and_then(Value::as_str) else { continue };
            for (_, value) in &mut members {
                rename(value, &secret_name(id), id);
            }
        }
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let user = Location::user(surroundings.application("Code").join("User/mcp.json"));
        let project = surroundings.in_project(".vscode/mcp.json");
        std::iter::once(user).chain(project).collect()
    }

    fn keys_beside(&self) -> &'static [&'static str] {
        &[INPUTS]
    }

    fn read_beside(&self, root: &Value, entry: &mut Entry) {
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

    fn write_beside(&self, root: &Value, entries: &[Entry]) -> Vec<Beside> {
        let there = root.get(INPUTS).and_then(Value::as_array);
        let mut known: BTreeSet<String> = there
            .into_iter()
            .flatten()
            .filter_map(|input| input.get("id")?.as_str())
            .map(secret_name)
            .collect();
        let mut add = Vec::new();
        for input in entries.iter().flat_map(inputs_of) {
            let id = input.get("id").and_then(Value::as_str).unwrap_or_default();
            if known.insert(secret_name(id)) {
                add.push(input);
            }
        }
        if add.is_empty() {
            return Vec::new();
        }
        vec![Beside { path: &[INPUTS], add, remove: Vec::new() }]
    }
}

/// The questions that an entry needs: those it came with, and one for every other secret.
fn inputs_of(entry: &Entry) -> Vec<Value> {
    let kept = entry.extra_of("vscode").and_then(|extra| extra.get(INPUTS)?.as_array());
    let mut inputs = kept.cloned().unwrap_or_default();
    let known: BTreeSet<String> =
        inputs.iter().filter_map(|input| input.get("id")?.as_str()).map(secret_name).collect();
    for name in entry.secrets().difference(&known) {
        inputs.push(question(name, entry));
    }
    inputs
}

/// The question that we put where there is none yet.
fn question(name: &str, entry: &Entry) -> Value {
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
