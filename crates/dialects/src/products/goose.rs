//! Goose: `extensions` of `config.yaml`; keys are short forms of names.

use serde_json::json;

use crate::abilities::{Abilities, Carries, Limit, Unit};
use crate::entry::{Entry, HttpKind, Reach};
use crate::fields::Fields;
use crate::grammar::{Format, Grammar, Members, push};
use crate::places::{Location, Surroundings, System};
use crate::shape;
use crate::text::{Syntax, Text};

/// Goose.
pub(crate) struct Goose;

const TIME: Limit =
    Limit { unit: Unit::WholeSeconds, least_ms: 1_000, most_ms: u32::MAX as u64 * 1_000 };

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Streamable],
    timeout: Some(TIME),
    disabled: true,
    allowed: true,
    env_carries: Carries::SameSecret,
    address: Syntax::DOLLAR,
    headers: Syntax::DOLLAR,
    ..Abilities::LEAST
};

impl Grammar for Goose {
    fn id(&self) -> &'static str {
        "goose"
    }

    fn title(&self) -> &'static str {
        "Goose"
    }

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Yaml
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

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let name = fields.words("name")?.unwrap_or(fields.name);
        let reach = match fields.words("type")? {
            Some("stdio") => program(fields)?,
            Some("streamable_http") => shape::address(fields, "uri", HttpKind::Streamable)?,
            Some("sse") => shape::address(fields, "uri", HttpKind::Sse)?,
            Some(kind) => return Err(format!("is of type `{kind}`, which Goose alone can run")),
            None => return Err("has no type".to_owned()),
        };
        if matches!(reach, Reach::Http { .. }) {
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
        let mut entry = Entry::new(name, reach);
        entry.disabled = !fields.flag("enabled").unwrap_or(true);
        entry.timeout_ms = fields.time("timeout", TIME);
        entry.tools.allowed = fields.names("available_tools");
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = Members::new();
        push(&mut members, "enabled", !entry.disabled);
        match &entry.reach {
            Reach::Stdio { command, args, env, .. } => {
                push(&mut members, "type", "stdio");
                push(&mut members, "name", entry.name.as_str());
                push(&mut members, "cmd", shape::written(command, ABLE.program));
                members.push(("args".to_owned(), shape::list(args, ABLE.program)));
                let is_kept = |name: &str, text: &Text| text.as_secret() == Some(name);
                let kept = env.iter().filter(|(name, text)| is_kept(name, text));
                let kept: Vec<&String> = kept.map(|(name, _)| name).collect();
                let given = env.iter().filter(|(name, text)| !is_kept(name, text));
                let given = given.map(|(name, text)| (name.clone(), text.clone())).collect();
                push(&mut members, "envs", shape::map(&given, ABLE.env));
                push(&mut members, "env_keys", json!(kept));
            }
            Reach::Http { url, headers, .. } => {
                push(&mut members, "type", "streamable_http");
                push(&mut members, "name", entry.name.as_str());
                push(&mut members, "uri", shape::written(url, ABLE.address));
                push(&mut members, "headers", shape::map(headers, ABLE.headers));
            }
        }
        if entry.extra_of(self.id()).is_none_or(|extra| !extra.contains_key("description")) {
            push(&mut members, "description", "");
        }
        push(&mut members, "timeout", shape::time(entry.timeout_ms, TIME.unit));
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

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let folder = match surroundings.system {
            System::Linux | System::MacOs => surroundings.dot_config("goose"),
            System::Windows => surroundings.roaming_folder().join("Block/goose/config"),
        };
        vec![Location::user(folder.join("config.yaml"))]
    }
}

fn program(fields: &mut Fields<'_>) -> Result<Reach, String> {
    let command = fields.text("cmd", ABLE.program)?.unwrap_or_default();
    if command == Text::default() {
        return Err("has no command".to_owned());
    }
    let args = fields.texts("args", ABLE.program)?;
    let mut env = fields.map("envs", ABLE.env)?;
    for name in fields.names::<Vec<String>>("env_keys") {
        env.entry(name.clone()).or_insert_with(|| Text::secret(name));
    }
    Ok(Reach::Stdio { command, args, env, env_file: None, cwd: None })
}
