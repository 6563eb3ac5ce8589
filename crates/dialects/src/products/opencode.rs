//! opencode: `mcp` of `opencode.json`; a command and its arguments are one list.

use serde_json::{Value, json};

use crate::abilities::{Abilities, Limit, OauthParts, Unit};
use crate::entry::{Entry, HttpKind, Reach};
use crate::fields::{Fields, OauthNames};
use crate::grammar::{Format, Grammar, Members, push};
use crate::places::{Location, Surroundings};
use crate::shape;
use crate::text::Syntax;

/// opencode.
pub(crate) struct Opencode;

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Auto],
    cwd: true,
    timeout: Some(Limit::MILLISECONDS),
    disabled: true,
    oauth: OauthParts::ALL,
    ..Abilities::with_variables(Syntax::CURLY)
};

const OAUTH: OauthNames = OauthNames { scopes: "scope", ..OauthNames::CAMEL };

impl Grammar for Opencode {
    fn id(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "opencode"
    }

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
    }

    fn path(&self) -> &'static [&'static str] {
        &["mcp"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "environment", "cwd", "url", "headers", "enabled", "timeout", "oauth"]
    }

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let reach = match fields.words("type")? {
            Some("local") => program(fields)?,
            Some("remote") => shape::address(fields, "url", HttpKind::Auto)?,
            Some(kind) => return Err(format!("is of type `{kind}`, which is not known")),
            None => return Err("has no type".to_owned()),
        };
        let mut entry = Entry::new(fields.name, reach);
        entry.disabled = !fields.flag("enabled").unwrap_or(true);
        entry.timeout_ms = fields.time("timeout", Limit::MILLISECONDS);
        match fields.value("oauth") {
            // Said to be without a login.
            Some(Value::Bool(flag)) => fields.keep("oauth", json!(flag)),
            _ => entry.oauth = fields.oauth("oauth", &OAUTH)?,
        }
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = Members::new();
        match &entry.reach {
            Reach::Stdio { command, args, env, cwd, .. } => {
                push(&mut members, "type", "local");
                let words = std::iter::once(command).chain(args);
                let words = words.map(|word| shape::written(word, ABLE.program)).collect();
                push(&mut members, "command", Value::Array(words));
                push(&mut members, "environment", shape::map(env, ABLE.env));
                push(&mut members, "cwd", shape::optional(cwd.as_ref(), ABLE.program));
            }
            Reach::Http { url, headers, .. } => {
                push(&mut members, "type", "remote");
                push(&mut members, "url", shape::written(url, ABLE.address));
                push(&mut members, "headers", shape::map(headers, ABLE.headers));
            }
        }
        if entry.disabled {
            push(&mut members, "enabled", false);
        }
        push(&mut members, "timeout", shape::time(entry.timeout_ms, Unit::Milliseconds));
        let mut oauth = shape::oauth(&ABLE, &entry.oauth, &OAUTH);
        if let Some(scopes) = oauth.get_mut("scope") {
            *scopes = json!(entry.oauth.scopes.join(" "));
        }
        push(&mut members, "oauth", oauth);
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let folder = surroundings.dot_config("opencode");
        let user =
            ["opencode.json", "opencode.jsonc"].map(|name| Location::user(folder.join(name)));
        let project = ["opencode.json", "opencode.jsonc"].map(|name| surroundings.in_project(name));
        user.into_iter().chain(project.into_iter().flatten()).collect()
    }
}

fn program(fields: &mut Fields<'_>) -> Result<Reach, String> {
    let mut words = fields.texts("command", ABLE.program)?.into_iter();
    let command = words.next().ok_or("has no command")?;
    let env = fields.map("environment", ABLE.env)?;
    let cwd = fields.text("cwd", ABLE.program)?;
    Ok(Reach::Stdio { command, args: words.collect(), env, env_file: None, cwd })
}
