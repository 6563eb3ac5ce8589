//! Zed: `context_servers` of `settings.json`.

use serde_json::Value;

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry};
use crate::entry_members;
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{Location, OperatingSystem, UserFolders};
use crate::text::VariableText;

/// Zed.
pub(crate) struct Zed;

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Streamable],
    timeout: Some(TimeLimit::LONG_SECONDS),
    disabled: true,
    oauth: OauthParts { client: true, secret: true, ..OauthParts::NONE },
    ..ProductAbilities::MINIMAL
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

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Json
    }

    fn path(&self) -> &'static [&'static str] {
        &["context_servers"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["enabled", "command", "args", "env", "url", "headers", "timeout", "oauth"]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let reach = if fields.has("url") {
            entry_members::address(fields, "url", EntryHttpKind::Streamable)?
        } else if let Some(nested @ Value::Object(_)) = fields.value("command") {
            legacy_command(fields, nested)?
        } else if fields.has("command") {
            fields.program("env")?
        } else {
            return Err("belongs to an extension of Zed, which alone can start it".to_owned());
        };
        let mut entry = ServerEntry::new(fields.name, reach);
        // It says from where the entry is, not what it does.
        fields.value("source");
        entry.disabled = !fields.flag("enabled").unwrap_or(true);
        entry.timeout_ms = fields.time("timeout", TimeLimit::LONG_SECONDS);
        entry.oauth = fields.oauth("oauth", &OAUTH)?;
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "", &[]);
        push(&mut members, "timeout", entry_members::time(entry.timeout_ms, TimeUnit::Seconds));
        push(&mut members, "oauth", entry_members::oauth(&ABILITIES, &entry.oauth, &OAUTH));
        if entry.disabled {
            push(&mut members, "enabled", false);
        }
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let folder = match surroundings.system {
            OperatingSystem::Linux | OperatingSystem::MacOs => surroundings.dot_config("zed"),
            OperatingSystem::Windows => surroundings.roaming_folder().join("Zed"),
        };
        let project = surroundings.in_project(".zed/settings.json");
        std::iter::once(Location::user(folder.join("settings.json"))).chain(project).collect()
    }
}

/// The form of older versions: everything inside of `command`.
fn legacy_command(fields: &EntryFields<'_>, nested: &Value) -> Result<EntryTransport, String> {
    let mut inner = EntryFields::new(fields.name, nested, &ABILITIES)?;
    let command = inner.text("path", ABILITIES.program)?.unwrap_or_default();
    if command == VariableText::default() {
        return Err("has no command".to_owned());
    }
    let args = inner.texts("args", ABILITIES.program)?;
    let env = inner.map("env", ABILITIES.env)?;
    Ok(EntryTransport::Stdio { command, args, env, env_file: None, cwd: None })
}
