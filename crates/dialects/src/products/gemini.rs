//! Gemini CLI: `mcpServers` of `settings.json`, and `mcp.excluded` beside it.

use serde_json::{Value, json};

use crate::abilities::{Abilities, Limit, OauthParts, Unit};
use crate::entry::{Entry, HttpKind};
use crate::fields::{Fields, OauthNames};
use crate::files::at;
use crate::grammar::{Beside, Format, Grammar, Members, push};
use crate::places::{Location, Surroundings};
use crate::shape;
use crate::text::Syntax;

/// Gemini CLI.
pub(crate) struct Gemini;

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Auto, HttpKind::Streamable, HttpKind::Sse],
    cwd: true,
    timeout: Some(Limit::MILLISECONDS),
    disabled: true,
    approve_all: true,
    allowed: true,
    denied: true,
    oauth: OauthParts { port: false, ..OauthParts::ALL },
    ..Abilities::with_variables(Syntax::DOLLAR_PERCENT)
};

const KINDS: &[(&str, HttpKind)] = &[("http", HttpKind::Streamable), ("sse", HttpKind::Sse)];

const OAUTH: OauthNames =
    OauthNames { client: "clientId", secret: "clientSecret", scopes: "scopes", port: "" };

const EXCLUDED: &[&str] = &["mcp", "excluded"];

impl Grammar for Gemini {
    fn id(&self) -> &'static str {
        "gemini"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
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

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        if fields.has("tcp") {
            return Err("is reached by `tcp`, which nobody else speaks".to_owned());
        }
        let reach = if fields.has("httpUrl") && !fields.has("command") {
            shape::address(fields, "httpUrl", HttpKind::Streamable)?
        } else {
            shape::reach(fields, KINDS, HttpKind::Auto)?
        };
        let mut entry = Entry::new(fields.name, reach);
        entry.timeout_ms = fields.time("timeout", Limit::MILLISECONDS);
        entry.tools.approve_all = fields.flag("trust").unwrap_or_default();
        entry.tools.allowed = fields.names("includeTools");
        entry.tools.denied = fields.names("excludeTools");
        entry.oauth = fields.oauth("oauth", &OAUTH)?;
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("", KINDS));
        push(&mut members, "timeout", shape::time(entry.timeout_ms, Unit::Milliseconds));
        if entry.tools.approve_all {
            push(&mut members, "trust", true);
        }
        push(&mut members, "includeTools", json!(entry.tools.allowed));
        push(&mut members, "excludeTools", json!(entry.tools.denied));
        push(&mut members, "oauth", shape::oauth(&ABLE, &entry.oauth, &OAUTH));
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let user = surroundings.at_home(".gemini/settings.json");
        let project = surroundings.in_project(".gemini/settings.json");
        std::iter::once(user).chain(project).collect()
    }

    fn read_beside(&self, root: &Value, entry: &mut Entry) {
        let excluded = at(root, EXCLUDED).and_then(Value::as_array);
        let name = Value::String(entry.name.clone());
        entry.disabled |= excluded.is_some_and(|names| names.contains(&name));
    }

    fn write_beside(&self, root: &Value, entries: &[Entry]) -> Vec<Beside> {
        let there = at(root, EXCLUDED).and_then(Value::as_array);
        let is_there = |name: &Value| there.is_some_and(|names| names.contains(name));
        let mut beside = Beside { path: EXCLUDED, add: Vec::new(), remove: Vec::new() };
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
