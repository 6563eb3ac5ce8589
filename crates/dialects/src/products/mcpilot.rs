//! `MCPilot`: `mcp.servers` of `.mcpilot/.mcpilot.config.json`, programs only.

use serde_json::json;

use crate::abilities::{ProductAbilities, TimeLimit, TimeUnit, kebab_name};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::entry_members;
use crate::fields::EntryFields;
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{Location, UserFolders};
use crate::text::Syntax;

/// `MCPilot`.
pub(crate) struct Mcpilot;

static ABILITIES: ProductAbilities = ProductAbilities {
    timeout: Some(TimeLimit::SECONDS),
    disabled: true,
    approved: true,
    names: kebab_name,
    ..ProductAbilities::with_variables(Syntax::WHOLE)
};

const FILE: &str = ".mcpilot/.mcpilot.config.json";

impl Grammar for Mcpilot {
    fn id(&self) -> &'static str {
        "mcpilot"
    }

    fn title(&self) -> &'static str {
        "MCPilot"
    }

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Json
    }

    fn path(&self) -> &'static [&'static str] {
        &["mcp", "servers"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "url", "headers", "disabled", "timeout", "alwaysAllow"]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let kinds = [("http", EntryHttpKind::Streamable)];
        let mut entry = ServerEntry::new(
            fields.name,
            entry_members::reach(fields, &kinds, EntryHttpKind::Auto)?,
        );
        entry.disabled = fields.flag("disabled").unwrap_or_default();
        entry.timeout_ms = fields.time("timeout", TimeLimit::SECONDS);
        entry.tools.approved = fields.names("alwaysAllow");
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "stdio", &[]);
        push(&mut members, "timeout", entry_members::time(entry.timeout_ms, TimeUnit::Seconds));
        push(&mut members, "alwaysAllow", json!(entry.tools.approved));
        if entry.disabled {
            push(&mut members, "disabled", true);
        }
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let user = surroundings.at_home(FILE);
        std::iter::once(user).chain(surroundings.in_project(FILE)).collect()
    }
}
