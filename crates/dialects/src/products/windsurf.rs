//! Windsurf: `mcp_config.json`; addresses under `serverUrl`.

use crate::abilities::Abilities;
use crate::entry::{Entry, HttpKind};
use crate::fields::Fields;
use crate::grammar::{Format, Grammar, Members};
use crate::places::{Location, Surroundings};
use crate::shape;
use crate::text::Syntax;

/// Windsurf.
pub(crate) struct Windsurf;

static ABLE: Abilities =
    Abilities { kinds: &[HttpKind::Auto], ..Abilities::with_variables(Syntax::ENV) };

impl Grammar for Windsurf {
    fn id(&self) -> &'static str {
        "windsurf"
    }

    fn title(&self) -> &'static str {
        "Windsurf"
    }

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "serverUrl", "url", "headers"]
    }

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        fields.value("type");
        let address = ["serverUrl", "url"].into_iter().find(|key| fields.has(key));
        let reach = match address {
            Some(_) if fields.has("command") => {
                return Err("has both a command and an address".to_owned());
            }
            Some(key) => shape::address(fields, key, HttpKind::Auto)?,
            None => fields.program("env")?,
        };
        Ok(Entry::new(fields.name, reach))
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("", &[]));
        for (key, _) in members.iter_mut().filter(|(key, _)| key == "url") {
            *key = "serverUrl".to_owned();
        }
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        vec![
            surroundings.at_home(".codeium/windsurf/mcp_config.json"),
            surroundings.at_home(".codeium/mcp_config.json"),
        ]
    }
}
