//! Cursor: `.cursor/mcp.json` in the home folder and in projects.

use serde_json::{Value, json};

use crate::abilities::{OauthParts, ProductAbilities};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::entry_members;
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{Location, UserFolders};
use crate::note::NoteWeight;
use crate::text::Syntax;

/// Cursor.
pub(crate) struct CursorProduct;

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Auto, EntryHttpKind::Streamable, EntryHttpKind::Sse],
    cwd: true,
    env_file: true,
    allowed: true,
    oauth: OauthParts { port: false, only_with_client: true, ..OauthParts::ALL },
    ..ProductAbilities::with_variables(Syntax::ENV_FOLDERS)
};

const KINDS: &[(&str, EntryHttpKind)] = &[
    ("http", EntryHttpKind::Streamable),
    ("sse", EntryHttpKind::Sse),
    ("streamable-http", EntryHttpKind::Streamable),
    ("streamableHttp", EntryHttpKind::Streamable),
];

const OAUTH: OauthNames =
    OauthNames { client: "CLIENT_ID", secret: "CLIENT_SECRET", scopes: "scopes", port: "" };

impl Grammar for CursorProduct {
    fn id(&self) -> &'static str {
        "cursor"
    }

    fn title(&self) -> &'static str {
        "Cursor"
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
            "envFile",
            "cwd",
            "url",
            "headers",
            "auth",
            "enabledTools",
        ]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let mut entry = ServerEntry::new(
            fields.name,
            entry_members::reach(fields, KINDS, EntryHttpKind::Auto)?,
        );
        entry.oauth = fields.oauth("auth", &OAUTH)?;
        let allowed = fields.value("enabledTools").and_then(Value::as_array);
        if allowed.is_some_and(Vec::is_empty) {
            fields.note("enabledTools", NoteWeight::Changed, "allows no tool; taken as disabled");
            entry.disabled = true;
        }
        entry.tools.allowed = fields.names("enabledTools");
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "", KINDS);
        push(&mut members, "auth", entry_members::oauth(&ABILITIES, &entry.oauth, &OAUTH));
        push(&mut members, "enabledTools", json!(entry.tools.allowed));
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let user = surroundings.at_home(".cursor/mcp.json");
        let project = surroundings.in_project(".cursor/mcp.json");
        std::iter::once(user).chain(project).collect()
    }
}
