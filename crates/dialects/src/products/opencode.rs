//! opencode: `mcp` of `opencode.json`, with a command and its arguments in one list.

use serde_json::{Value, json};

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit};
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry};
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{Grammar, Members, Setting, push};
use crate::locations::Location;
use crate::render;
use crate::text::Syntax;

const OAUTH: OauthNames = OauthNames { scopes: "scope", joined: true, ..OauthNames::CAMEL };

pub(crate) static OPENCODE: Grammar = Grammar {
    id: "opencode",
    title: "opencode",
    path: &["mcp"],
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Auto],
        cwd: true,
        timeout: Some(TimeLimit::MILLISECONDS),
        disabled: true,
        oauth: OauthParts::ALL,
        ..ProductAbilities::with_variables(Syntax::CURLY)
    },
    keys: &["type", "command", "environment", "cwd", "url", "headers", "oauth"],
    settings: &[("enabled", Setting::Enabled), ("timeout", Setting::Timeout)],
    read,
    write,
    locations: |folders| {
        let folder = folders.dot_config("opencode");
        let names = ["opencode.json", "opencode.jsonc"];
        let user = names.map(|name| Location::user(folder.join(name)));
        let project = names.map(|name| folders.in_project(name));
        user.into_iter().chain(project.into_iter().flatten()).collect()
    },
    ..Grammar::USUAL
};

fn read(grammar: &'static Grammar, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
    let reach = match fields.words("type")? {
        Some("local") => {
            let able = fields.able;
            let mut words = fields.texts("command", able.program)?.into_iter();
            let command = words.next().ok_or("has no command")?;
            let env = fields.map("environment", able.env)?;
            let cwd = fields.text("cwd", able.program)?;
            EntryTransport::Stdio { command, args: words.collect(), env, env_file: None, cwd }
        }
        Some("remote") => fields.address("url", EntryHttpKind::Auto)?,
        Some(kind) => return Err(format!("has the unknown type `{kind}`")),
        None => return Err("has no type".to_owned()),
    };
    let mut entry = grammar.read_settings(fields, reach)?;
    match fields.value("oauth") {
        // Login is explicitly disabled.
        Some(Value::Bool(flag)) => fields.keep("oauth", json!(flag)),
        _ => entry.oauth = fields.oauth("oauth", &OAUTH)?,
    }
    Ok(entry)
}

fn write(grammar: &'static Grammar, entry: &ServerEntry) -> Members {
    let able = &grammar.abilities;
    let mut members = Members::new();
    match &entry.reach {
        EntryTransport::Stdio { command, args, env, cwd, .. } => {
            push(&mut members, "type", "local");
            let words = std::iter::once(command).chain(args);
            let words = words.map(|word| render::text(word, able.program)).collect();
            push(&mut members, "command", Value::Array(words));
            push(&mut members, "environment", render::map(env, able.env));
            push(&mut members, "cwd", render::optional(cwd.as_ref(), able.program));
        }
        EntryTransport::Http { url, headers, .. } => {
            push(&mut members, "type", "remote");
            push(&mut members, "url", render::text(url, able.address));
            push(&mut members, "headers", render::map(headers, able.headers));
        }
    }
    grammar.write_settings(entry, &mut members);
    push(&mut members, "oauth", render::oauth(able, &entry.oauth, &OAUTH));
    members
}
