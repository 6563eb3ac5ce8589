//! Zed: `context_servers` of `settings.json`.

use serde_json::Value;

use crate::abilities::{Abilities, Limit, OauthParts, Unit};
use crate::entry::{Entry, HttpKind, Reach};
use crate::fields::{Fields, OauthNames};
use crate::grammar::{Format, Grammar, Members, push};
use crate::places::{Location, Surroundings, System};
use crate::shape;
use crate::text::Text;

/// Zed.
pub(crate) struct Zed;

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Streamable],
    timeout: Some(Limit::LONG_SECONDS),
    disabled: true,
    oauth: OauthParts { client: true, secret: true, ..OauthParts::NONE },
    ..Abilities::LEAST
};

const OAUTH: OauthNames =
    OauthNames { client: "client_id", secret: "client_secret", scopes: "", port: "" };

impl Grammar for Zed {
    fn id(&self) -> &'static str {
        "zed"
    }

    fn title(&self) -> &'static str {
        "Zed"
    }

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
    }

    fn path(&self) -> &'static [&'static str] {
        &["context_servers"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["enabled", "command", "args", "env", "url", "headers", "timeout", "oauth"]
    }

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let reach = if fields.has("url") {
            shape::address(fields, "url", HttpKind::Streamable)?
        } else if let Some(nested @ Value::Object(_)) = fields.value("command") {
            older(fields, nested)?
        } else if fields.has("command") {
            fields.program("env")?
        } else {
            return Err("belongs to an extension of Zed, which alone can start it".to_owned());
        };
        let mut entry = Entry::new(fields.name, reach);
        // It says from where the entry is, not what it does.
        fields.value("source");
        entry.disabled = !fields.flag("enabled").unwrap_or(true);
        entry.timeout_ms = fields.time("timeout", Limit::LONG_SECONDS);
        entry.oauth = fields.oauth("oauth", &OAUTH)?;
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("", &[]));
        push(&mut members, "timeout", shape::time(entry.timeout_ms, Unit::Seconds));
        push(&mut members, "oauth", shape::oauth(&ABLE, &entry.oauth, &OAUTH));
        if entry.disabled {
            push(&mut members, "enabled", false);
        }
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let folder = match surroundings.system {
            System::Linux | System::MacOs => surroundings.dot_config("zed"),
            System::Windows => surroundings.roaming_folder().join("Zed"),
        };
        let project = surroundings.in_project(".zed/settings.json");
        std::iter::once(Location::user(folder.join("settings.json"))).chain(project).collect()
    }
}

/// The form of older versions: everything inside of `command`.
fn older(fields: &Fields<'_>, nested: &Value) -> Result<Reach, String> {
    let mut inner = Fields::new(fields.name, nested, &ABLE)?;
    let command = inner.text("path", ABLE.program)?.unwrap_or_default();
    if command == Text::default() {
        return Err("has no command".to_owned());
    }
    let args = inner.texts("args", ABLE.program)?;
    let env = inner.map("env", ABLE.env)?;
    Ok(Reach::Stdio { command, args, env, env_file: None, cwd: None })
}
