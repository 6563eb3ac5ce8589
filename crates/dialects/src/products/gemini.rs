//! Gemini CLI: `mcpServers` of `settings.json`, and `mcp.excluded` beside it.

use serde_json::{Value, json};

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::entry_members;
use crate::fields::{EntryFields, OauthNames};
use crate::files::at;
use crate::grammar::{FileFormat, Grammar, Members, OutsideChange, push};
use crate::locations::{Location, UserFolders};
use crate::text::Syntax;

/// Gemini CLI.
pub(crate) struct GeminiCli;

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Auto, EntryHttpKind::Streamable, EntryHttpKind::Sse],
    cwd: true,
    timeout: Some(TimeLimit::MILLISECONDS),
    disabled: true,
    approve_all: true,
    allowed: true,
    denied: true,
    oauth: OauthParts { port: false, ..OauthParts::ALL },
    ..ProductAbilities::with_variables(Syntax::DOLLAR_PERCENT)
};

const KINDS: &[(&str, EntryHttpKind)] =
    &[("http", EntryHttpKind::Streamable), ("sse", EntryHttpKind::Sse)];

const OAUTH: OauthNames =
    OauthNames { client: "clientId", secret: "clientSecret", scopes: "scopes", port: "" };

const EXCLUDED: &[&str] = &["mcp", "excluded"];

impl Grammar for GeminiCli {
    fn id(&self) -> &'static str {
        "gemini"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Json
    }

    fn keys(&self) -> &'static [&'static str] {
        &[
            "type",
            "command",
            "args",
            "env",
            "cwd",
            "url",
            "httpUrl",
            "headers",
            "timeout",
            "trust",
            "includeTools",
            "excludeTools",
            "oauth",
        ]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        if fields.has("tcp") {
            return Err("is reached by `tcp`, which nobody else speaks".to_owned());
        }
        let reach = if fields.has("httpUrl") && !fields.has("command") {
            entry_members::address(fields, "httpUrl", EntryHttpKind::Streamable)?
        } else {
            entry_members::reach(fields, KINDS, EntryHttpKind::Auto)?
        };
        let mut entry = ServerEntry::new(fields.name, reach);
        entry.timeout_ms = fields.time("timeout", TimeLimit::MILLISECONDS);
        entry.tools.approve_all = fields.flag("trust").unwrap_or_default();
        entry.tools.allowed = fields.names("includeTools");
        entry.tools.denied = fields.names("excludeTools");
        entry.oauth = fields.oauth("oauth", &OAUTH)?;
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "", KINDS);
        push(
            &mut members,
            "timeout",
            entry_members::time(entry.timeout_ms, TimeUnit::Milliseconds),
        );
        if entry.tools.approve_all {
            push(&mut members, "trust", true);
        }
        push(&mut members, "includeTools", json!(entry.tools.allowed));
        push(&mut members, "excludeTools", json!(entry.tools.denied));
        push(&mut members, "oauth", entry_members::oauth(&ABILITIES, &entry.oauth, &OAUTH));
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let user = surroundings.at_home(".gemini/settings.json");
        let project = surroundings.in_project(".gemini/settings.json");
        std::iter::once(user).chain(project).collect()
    }

    fn read_outside(&self, root: &Value, entry: &mut ServerEntry) {
        let excluded = at(root, EXCLUDED).and_then(Value::as_array);
        let name = Value::String(entry.name.clone());
        entry.disabled |= excluded.is_some_and(|names| names.contains(&name));
    }

    fn write_outside(&self, root: &Value, entries: &[ServerEntry]) -> Vec<OutsideChange> {
        let there = at(root, EXCLUDED).and_then(Value::as_array);
        let is_there = |name: &Value| there.is_some_and(|names| names.contains(name));
        let mut beside = OutsideChange { path: EXCLUDED, add: Vec::new(), remove: Vec::new() };
        for entry in entries {
            let name = Value::String(entry.name.clone());
            match (entry.disabled, is_there(&name)) {
                (true, false) => beside.add.push(name),
                (false, true) => beside.remove.push(name),
                (true, true) | (false, false) => {}
            }
        }
        let is_needed = !beside.add.is_empty() || !beside.remove.is_empty();
        is_needed.then_some(beside).into_iter().collect()
    }
}
