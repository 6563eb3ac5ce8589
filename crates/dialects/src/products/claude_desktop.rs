//! Claude Desktop: `claude_desktop_config.json`, programs only.

use crate::abilities::Abilities;
use crate::entry::Entry;
use crate::fields::Fields;
use crate::grammar::{Format, Grammar, Members};
use crate::places::{Location, Surroundings};
use crate::shape;

/// Claude Desktop.
pub(crate) struct ClaudeDesktop;

static ABLE: Abilities = Abilities::LEAST;

impl Grammar for ClaudeDesktop {
    fn id(&self) -> &'static str {
        "claude-desktop"
    }

    fn title(&self) -> &'static str {
        "Claude Desktop"
    }

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "url", "headers"]
    }

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let kind = fields.words("type")?;
        if !fields.has("command") {
            return Err("has no command, and Claude Desktop starts nothing else".to_owned());
        }
        if kind.is_some_and(|kind| kind != "stdio") {
            return Err("is not of type `stdio`".to_owned());
        }
        Ok(Entry::new(fields.name, fields.program("env")?))
    }

    fn write(&self, entry: &Entry) -> Members {
        shape::reach_members(&ABLE, &entry.reach, ("", &[]))
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let folder = surroundings.application("Claude");
        vec![Location::user(folder.join("claude_desktop_config.json"))]
    }
}
