//! Cursor: `.cursor/mcp.json` in the home folder and in projects.

use serde_json::{Value, json};

use crate::abilities::{Abilities, OauthParts};
use crate::entry::{Entry, HttpKind};
use crate::fields::{Fields, OauthNames};
use crate::grammar::{Format, Grammar, Members, push};
use crate::note::Weight;
use crate::places::{Location, Surroundings};
use crate::shape;
use crate::text::Syntax;

/// Cursor.
pub(crate) struct Cursor;

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Auto, HttpKind::Streamable, HttpKind::Sse],
    cwd: true,
    env_file: true,
    allowed: true,
    oauth: OauthParts { port: false, only_with_client: true, ..OauthParts::ALL },
    ..Abilities::with_variables(Syntax::ENV_FOLDERS)
};

const KINDS: &[(&str, HttpKind)] = &[
    ("http", HttpKind::Streamable),
    ("sse", HttpKind::Sse),
    ("streamable-http", HttpKind::Streamable),
    ("streamableHttp", HttpKind::Streamable),
];

const OAUTH: OauthNames =
    OauthNames { client: "CLIENT_ID", secret: "CLIENT_SECRET", scopes: "scopes", port: "" };

impl Grammar for Cursor {
    fn id(&self) -> &'static str {
        "cursor"
    }

    fn title(&self) -> &'static str {
        "Cursor"
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
            "envFile",
            "cwd",
            "url",
            "headers",
            "auth",
            "enabledTools",
        ]
    }

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let mut entry = Entry::new(fields.name, shape::reach(fields, KINDS, HttpKind::Auto)?);
        entry.oauth = fields.oauth("auth", &OAUTH)?;
        let allowed = fields.value("enabledTools").and_then(Value::as_array);
        if allowed.is_some_and(Vec::is_empty) {
            fields.note("enabledTools", Weight::Changed, "allows no tool; taken as disabled");
            entry.disabled = true;
        }
        entry.tools.allowed = fields.names("enabledTools");
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("", KINDS));
        push(&mut members, "auth", shape::oauth(&ABLE, &entry.oauth, &OAUTH));
        push(&mut members, "enabledTools", json!(entry.tools.allowed));
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let user = surroundings.at_home(".cursor/mcp.json");
        let project = surroundings.in_project(".cursor/mcp.json");
        std::iter::once(user).chain(project).collect()
    }
}
