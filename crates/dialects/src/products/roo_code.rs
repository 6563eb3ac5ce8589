//! Roo Code: `mcp_settings.json`, and `.roo/mcp.json` of a project.

use serde_json::json;

use crate::abilities::{ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::entry_members;
use crate::fields::EntryFields;
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{Location, UserFolders};
use crate::text::Syntax;

/// Roo Code.
pub(crate) struct RooCode;

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Streamable, EntryHttpKind::Sse],
    cwd: true,
    timeout: Some(TimeLimit::SECONDS),
    disabled: true,
    approved: true,
    denied: true,
    ..ProductAbilities::with_variables(Syntax::ENV)
};

const KINDS: &[(&str, EntryHttpKind)] = &[
    ("streamable-http", EntryHttpKind::Streamable),
    ("sse", EntryHttpKind::Sse),
    ("http", EntryHttpKind::Streamable),
    ("streamableHttp", EntryHttpKind::Streamable),
];

impl Grammar for RooCode {
    fn id(&self) -> &'static str {
        "roo-code"
    }

    fn title(&self) -> &'static str {
        "Roo Code"
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
            "headers",
            "disabled",
            "timeout",
            "alwaysAllow",
            "disabledTools",
        ]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let mut entry =
            ServerEntry::new(fields.name, entry_members::reach(fields, KINDS, EntryHttpKind::Sse)?);
        entry.disabled = fields.flag("disabled").unwrap_or_default();
        entry.timeout_ms = fields.time("timeout", TimeLimit::SECONDS);
        entry.tools.approved = fields.names("alwaysAllow");
        entry.tools.denied = fields.names("disabledTools");
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "stdio", KINDS);
        push(&mut members, "timeout", entry_members::time(entry.timeout_ms, TimeUnit::Seconds));
        push(&mut members, "alwaysAllow", json!(entry.tools.approved));
        push(&mut members, "disabledTools", json!(entry.tools.denied));
        if entry.disabled {
            push(&mut members, "disabled", true);
        }
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let code = surroundings.application("Code").join("User/globalStorage");
        let file = code.join("rooveterinaryinc.roo-cline/settings/mcp_settings.json");
        let project = surroundings.in_project(".roo/mcp.json");
        std::iter::once(Location::user(file)).chain(project).collect()
    }
}
