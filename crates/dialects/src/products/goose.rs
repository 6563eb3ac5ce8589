//! Goose: `extensions` of `config.yaml`; keys are short forms of names.

use serde_json::json;

use crate::abilities::{CarriedNames, ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry};
use crate::entry_members;
use crate::fields::EntryFields;
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{Location, OperatingSystem, UserFolders};
use crate::text::{Syntax, VariableText};

/// Goose.
pub(crate) struct Goose;

const TIME_LIMIT: TimeLimit =
    TimeLimit { unit: TimeUnit::WholeSeconds, least_ms: 1_000, most_ms: u32::MAX as u64 * 1_000 };

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Streamable],
    timeout: Some(TIME_LIMIT),
    disabled: true,
    allowed: true,
    env_carries: CarriedNames::SameSecret,
    address: Syntax::DOLLAR,
    headers: Syntax::DOLLAR,
    ..ProductAbilities::MINIMAL
};

impl Grammar for Goose {
    fn id(&self) -> &'static str {
        "goose"
    }

    fn title(&self) -> &'static str {
        "Goose"
    }

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Yaml
    }

    fn path(&self) -> &'static [&'static str] {
        &["extensions"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &[
            "enabled",
            "type",
            "name",
            "cmd",
            "args",
            "envs",
            "env_keys",
            "uri",
            "headers",
            "timeout",
            "available_tools",
        ]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let name = fields.words("name")?.unwrap_or(fields.name);
        let reach = match fields.words("type")? {
            Some("stdio") => program(fields)?,
            Some("streamable_http") => {
                entry_members::address(fields, "uri", EntryHttpKind::Streamable)?
            }
            Some("sse") => entry_members::address(fields, "uri", EntryHttpKind::Sse)?,
            Some(kind) => return Err(format!("is of type `{kind}`, which Goose alone can run")),
            None => return Err("has no type".to_owned()),
        };
        if matches!(reach, EntryTransport::Http { .. }) {
            for key in ["envs", "env_keys"] {
                if let Some(value) = fields.value(key) {
                    fields.keep(key, value.clone());
                }
            }
        }
        // It must be there, and may be empty.
        if let Some(words) = fields.words("description")?.filter(|words| !words.is_empty()) {
            fields.keep("description", json!(words));
        }
        let mut entry = ServerEntry::new(name, reach);
        entry.disabled = !fields.flag("enabled").unwrap_or(true);
        entry.timeout_ms = fields.time("timeout", TIME_LIMIT);
        entry.tools.allowed = fields.names("available_tools");
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = Members::new();
        push(&mut members, "enabled", !entry.disabled);
        match &entry.reach {
            EntryTransport::Stdio { command, args, env, .. } => {
                push(&mut members, "type", "stdio");
                push(&mut members, "name", entry.name.as_str());
                push(&mut members, "cmd", entry_members::render_text(command, ABILITIES.program));
                members.push(("args".to_owned(), entry_members::list(args, ABILITIES.program)));
                let is_kept = |name: &str, text: &VariableText| text.as_secret() == Some(name);
                let kept = env.iter().filter(|(name, text)| is_kept(name, text));
                let kept: Vec<&String> = kept.map(|(name, _)| name).collect();
                let given = env.iter().filter(|(name, text)| !is_kept(name, text));
                let given = given.map(|(name, text)| (name.clone(), text.clone())).collect();
                push(&mut members, "envs", entry_members::map(&given, ABILITIES.env));
                push(&mut members, "env_keys", json!(kept));
            }
            EntryTransport::Http { url, headers, .. } => {
                push(&mut members, "type", "streamable_http");
                push(&mut members, "name", entry.name.as_str());
                push(&mut members, "uri", entry_members::render_text(url, ABILITIES.address));
                push(&mut members, "headers", entry_members::map(headers, ABILITIES.headers));
            }
        }
        if entry.product_extra(self.id()).is_none_or(|extra| !extra.contains_key("description")) {
            push(&mut members, "description", "");
        }
        push(&mut members, "timeout", entry_members::time(entry.timeout_ms, TIME_LIMIT.unit));
        push(&mut members, "available_tools", json!(entry.tools.allowed));
        members
    }

    fn key(&self, name: &str) -> String {
        let plain = |one: char| match one {
            one if one.is_ascii_alphanumeric() || one == '_' || one == '-' => one,
            _ => '_',
        };
        let letters = name.chars().filter(|one| !one.is_whitespace()).map(plain);
        letters.collect::<String>().to_ascii_lowercase()
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let folder = match surroundings.system {
            OperatingSystem::Linux | OperatingSystem::MacOs => surroundings.dot_config("goose"),
            OperatingSystem::Windows => surroundings.roaming_folder().join("Block/goose/config"),
        };
        vec![Location::user(folder.join("config.yaml"))]
    }
}

fn program(fields: &mut EntryFields<'_>) -> Result<EntryTransport, String> {
    let command = fields.text("cmd", ABILITIES.program)?.unwrap_or_default();
    if command == VariableText::default() {
        return Err("has no command".to_owned());
    }
    let args = fields.texts("args", ABILITIES.program)?;
    let mut env = fields.map("envs", ABILITIES.env)?;
    for name in fields.names::<Vec<String>>("env_keys") {
        env.entry(name.clone()).or_insert_with(|| VariableText::secret(name));
    }
    Ok(EntryTransport::Stdio { command, args, env, env_file: None, cwd: None })
}
