//! Claude Desktop: `claude_desktop_config.json`, programs only.

use crate::abilities::ProductAbilities;
use crate::entry::ServerEntry;
use crate::entry_members;
use crate::fields::EntryFields;
use crate::grammar::{FileFormat, Grammar, Members};
use crate::locations::{Location, UserFolders};

/// Claude Desktop.
pub(crate) struct ClaudeDesktop;

static ABILITIES: ProductAbilities = ProductAbilities::MINIMAL;

impl Grammar for ClaudeDesktop {
    fn id(&self) -> &'static str {
        "claude-desktop"
    }

    fn title(&self) -> &'static str {
        "Claude Desktop"
    }

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Json
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "url", "headers"]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let kind = fields.words("type")?;
        if !fields.has("command") {
            return Err("has no command, and Claude Desktop starts nothing else".to_owned());
        }
        if kind.is_some_and(|kind| kind != "stdio") {
            return Err("is not of type `stdio`".to_owned());
        }
        Ok(ServerEntry::new(fields.name, fields.program("env")?))
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        entry_members::reach_members(&ABILITIES, &entry.reach, "", &[])
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let folder = surroundings.application("Claude");
        vec![Location::user(folder.join("claude_desktop_config.json"))]
    }
}
