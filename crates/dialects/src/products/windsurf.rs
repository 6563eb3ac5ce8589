//! Windsurf: `mcp_config.json`; addresses under `serverUrl`.

use crate::abilities::ProductAbilities;
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::entry_members;
use crate::fields::EntryFields;
use crate::grammar::{FileFormat, Grammar, Members};
use crate::locations::{Location, UserFolders};
use crate::text::Syntax;

/// Windsurf.
pub(crate) struct Windsurf;

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Auto],
    ..ProductAbilities::with_variables(Syntax::ENV)
};

impl Grammar for Windsurf {
    fn id(&self) -> &'static str {
        "windsurf"
    }

    fn title(&self) -> &'static str {
        "Windsurf"
    }

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Json
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "serverUrl", "url", "headers"]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        fields.value("type");
        let address = ["serverUrl", "url"].into_iter().find(|key| fields.has(key));
        let reach = match address {
            Some(_) if fields.has("command") => {
                return Err("has both a command and an address".to_owned());
            }
            Some(key) => entry_members::address(fields, key, EntryHttpKind::Auto)?,
            None => fields.program("env")?,
        };
        Ok(ServerEntry::new(fields.name, reach))
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "", &[]);
        for (key, _) in members.iter_mut().filter(|(key, _)| key == "url") {
            *key = "serverUrl".to_owned();
        }
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        vec![
            surroundings.at_home(".codeium/windsurf/mcp_config.json"),
            surroundings.at_home(".codeium/mcp_config.json"),
        ]
    }
}
