//! opencode: `mcp` of `opencode.json`; a command and its arguments are one list.

use serde_json::{Value, json};

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry};
use crate::entry_members;
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{Location, UserFolders};
use crate::text::Syntax;

/// opencode.
pub(crate) struct Opencode;

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Auto],
    cwd: true,
    timeout: Some(TimeLimit::MILLISECONDS),
    disabled: true,
    oauth: OauthParts::ALL,
    ..ProductAbilities::with_variables(Syntax::CURLY)
};

const OAUTH: OauthNames = OauthNames { scopes: "scope", ..OauthNames::CAMEL };

impl Grammar for Opencode {
    fn id(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "opencode"
    }

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Json
    }

    fn path(&self) -> &'static [&'static str] {
        &["mcp"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "environment", "cwd", "url", "headers", "enabled", "timeout", "oauth"]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let reach = match fields.words("type")? {
            Some("local") => program(fields)?,
            Some("remote") => entry_members::address(fields, "url", EntryHttpKind::Auto)?,
            Some(kind) => return Err(format!("is of type `{kind}`, which is not known")),
            None => return Err("has no type".to_owned()),
        };
        let mut entry = ServerEntry::new(fields.name, reach);
        entry.disabled = !fields.flag("enabled").unwrap_or(true);
        entry.timeout_ms = fields.time("timeout", TimeLimit::MILLISECONDS);
        match fields.value("oauth") {
            // Said to be without a login.
            Some(Value::Bool(flag)) => fields.keep("oauth", json!(flag)),
            _ => entry.oauth = fields.oauth("oauth", &OAUTH)?,
        }
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = Members::new();
        match &entry.reach {
            EntryTransport::Stdio { command, args, env, cwd, .. } => {
                push(&mut members, "type", "local");
                let words = std::iter::once(command).chain(args);
                let words =
                    words.map(|word| entry_members::render_text(word, ABILITIES.program)).collect();
                push(&mut members, "command", Value::Array(words));
                push(&mut members, "environment", entry_members::map(env, ABILITIES.env));
                push(&mut members, "cwd", entry_members::optional(cwd.as_ref(), ABILITIES.program));
            }
            EntryTransport::Http { url, headers, .. } => {
                push(&mut members, "type", "remote");
                push(&mut members, "url", entry_members::render_text(url, ABILITIES.address));
                push(&mut members, "headers", entry_members::map(headers, ABILITIES.headers));
            }
        }
        if entry.disabled {
            push(&mut members, "enabled", false);
        }
        push(
            &mut members,
            "timeout",
            entry_members::time(entry.timeout_ms, TimeUnit::Milliseconds),
        );
        let mut oauth = entry_members::oauth(&ABILITIES, &entry.oauth, &OAUTH);
        if let Some(scopes) = oauth.get_mut("scope") {
            *scopes = json!(entry.oauth.scopes.join(" "));
        }
        push(&mut members, "oauth", oauth);
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let folder = surroundings.dot_config("opencode");
        let user =
            ["opencode.json", "opencode.jsonc"].map(|name| Location::user(folder.join(name)));
        let project = ["opencode.json", "opencode.jsonc"].map(|name| surroundings.in_project(name));
        user.into_iter().chain(project.into_iter().flatten()).collect()
    }
}

fn program(fields: &mut EntryFields<'_>) -> Result<EntryTransport, String> {
    let mut words = fields.texts("command", ABILITIES.program)?.into_iter();
    let command = words.next().ok_or("has no command")?;
    let env = fields.map("environment", ABILITIES.env)?;
    let cwd = fields.text("cwd", ABILITIES.program)?;
    Ok(EntryTransport::Stdio { command, args: words.collect(), env, env_file: None, cwd })
}
