//! Goose: `extensions` of `config.yaml`, whose keys are normalized names.

use serde_json::json;

use crate::abilities::{CarriedNames, ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry};
use crate::fields::EntryFields;
use crate::grammar::{FileFormat, Grammar, Members, Setting, push};
use crate::locations::{Location, OperatingSystem};
use crate::render;
use crate::text::{Syntax, VariableText};

pub(crate) static GOOSE: Grammar = Grammar {
    id: "goose",
    title: "Goose",
    format: FileFormat::Yaml,
    path: &["extensions"],
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Streamable],
        timeout: Some(TimeLimit {
            unit: TimeUnit::WholeSeconds,
            least_ms: 1_000,
            most_ms: u32::MAX as u64 * 1_000,
        }),
        disabled: true,
        allowed: true,
        env_carries: CarriedNames::SameSecret,
        address: Syntax::DOLLAR,
        headers: Syntax::DOLLAR,
        ..ProductAbilities::MINIMAL
    },
    keys: &["enabled", "type", "name", "cmd", "args", "envs", "env_keys", "uri", "headers"],
    settings: &[("timeout", Setting::Timeout), ("available_tools", Setting::Allowed)],
    read,
    write,
    key: |name| {
        let plain = |one: char| match one {
            one if one.is_ascii_alphanumeric() || one == '_' || one == '-' => one,
            _ => '_',
        };
        let letters = name.chars().filter(|one| !one.is_whitespace()).map(plain);
        letters.collect::<String>().to_ascii_lowercase()
    },
    locations: |folders| {
        let folder = match folders.system {
            OperatingSystem::Linux | OperatingSystem::MacOs => folders.dot_config("goose"),
            OperatingSystem::Windows => folders.roaming_folder().join("Block/goose/config"),
        };
        vec![Location::user(folder.join("config.yaml"))]
    },
    ..Grammar::USUAL
};

fn read(grammar: &'static Grammar, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
    let name = fields.words("name")?.unwrap_or(fields.name);
    let reach = match fields.words("type")? {
        Some("stdio") => program(fields)?,
        Some("streamable_http") => fields.address("uri", EntryHttpKind::Streamable)?,
        Some("sse") => fields.address("uri", EntryHttpKind::Sse)?,
        Some(kind) => return Err(format!("has type `{kind}`, which only Goose supports")),
        None => return Err("has no type".to_owned()),
    };
    // Our entries have no variables for a URL, so these are kept for Goose.
    if matches!(reach, EntryTransport::Http { .. }) {
        for key in ["envs", "env_keys"] {
            if let Some(value) = fields.value(key) {
                fields.keep(key, value.clone());
            }
        }
    }
    // The key is mandatory, but may be empty.
    if let Some(words) = fields.words("description")?.filter(|words| !words.is_empty()) {
        fields.keep("description", json!(words));
    }
    let disabled = !fields.flag("enabled").unwrap_or(true);
    let entry = grammar.read_settings(fields, reach)?;
    Ok(ServerEntry { name: name.to_owned(), disabled, ..entry })
}

fn program(fields: &mut EntryFields<'_>) -> Result<EntryTransport, String> {
    let able = fields.able;
    let command = fields.text("cmd", able.program)?.unwrap_or_default();
    if command == VariableText::default() {
        return Err("has no command".to_owned());
    }
    let args = fields.texts("args", able.program)?;
    let mut env = fields.map("envs", able.env)?;
    for name in fields.names::<Vec<String>>("env_keys") {
        env.entry(name.clone()).or_insert_with(|| VariableText::secret(name));
    }
    Ok(EntryTransport::Stdio { command, args, env, env_file: None, cwd: None })
}

fn write(grammar: &'static Grammar, entry: &ServerEntry) -> Members {
    let able = &grammar.abilities;
    let mut members = Members::new();
    push(&mut members, "enabled", !entry.disabled);
    match &entry.reach {
        EntryTransport::Stdio { command, args, env, .. } => {
            push(&mut members, "type", "stdio");
            push(&mut members, "name", entry.name.as_str());
            push(&mut members, "cmd", render::text(command, able.program));
            // Not by `push`, which omits an empty list: the key is mandatory.
            members.push(("args".to_owned(), render::list(args, able.program)));
            let is_kept = |name: &str, text: &VariableText| text.as_secret() == Some(name);
            let kept = env.iter().filter(|(name, text)| is_kept(name, text));
            let kept: Vec<&String> = kept.map(|(name, _)| name).collect();
            let given = env.iter().filter(|(name, text)| !is_kept(name, text));
            let given = given.map(|(name, text)| (name.clone(), text.clone())).collect();
            push(&mut members, "envs", render::map(&given, able.env));
            push(&mut members, "env_keys", json!(kept));
        }
        EntryTransport::Http { url, headers, .. } => {
            push(&mut members, "type", "streamable_http");
            push(&mut members, "name", entry.name.as_str());
            push(&mut members, "uri", render::text(url, able.address));
            push(&mut members, "headers", render::map(headers, able.headers));
        }
    }
    // A kept description is added later with the other members.
    if entry.product_extra(grammar.id).is_none_or(|extra| !extra.contains_key("description")) {
        push(&mut members, "description", "");
    }
    grammar.write_settings(entry, &mut members);
    members
}
