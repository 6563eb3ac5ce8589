//! Cline: `cline_mcp_settings.json`; also the nested form that its own command line writes.

use serde_json::{Map, Value, json};

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::entry_members;
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{Location, UserFolders};
use crate::text::Syntax;

/// Cline.
pub(crate) struct Cline;

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Streamable, EntryHttpKind::Sse],
    cwd: true,
    timeout: Some(TimeLimit::SECONDS),
    disabled: true,
    approved: true,
    oauth: OauthParts { client: true, secret: true, ..OauthParts::NONE },
    ..ProductAbilities::with_variables(Syntax::ENV)
};

const KINDS: &[(&str, EntryHttpKind)] = &[
    ("streamableHttp", EntryHttpKind::Streamable),
    ("sse", EntryHttpKind::Sse),
    ("http", EntryHttpKind::Streamable),
    ("streamable-http", EntryHttpKind::Streamable),
];

const OAUTH: OauthNames =
    OauthNames { client: "clientId", secret: "clientSecret", scopes: "", port: "" };

impl Grammar for Cline {
    fn id(&self) -> &'static str {
        "cline"
    }

    fn title(&self) -> &'static str {
        "Cline"
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
            "transportType",
            "transport",
            "command",
            "args",
            "env",
            "cwd",
            "url",
            "headers",
            "disabled",
            "timeout",
            "autoApprove",
            "oauthClient",
        ]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let reach = match fields.value("transport") {
            Some(nested @ Value::Object(_)) => {
                let mut inner = EntryFields::new(fields.name, nested, &ABILITIES)?;
                entry_members::reach(&mut inner, KINDS, EntryHttpKind::Sse)?
            }
            _ => match fields.words("transportType")? {
                // The older name of the type; the newer one wins.
                Some(word) if !fields.has("type") => {
                    let typed = with_type(fields, word);
                    let mut inner = EntryFields::new(fields.name, &typed, &ABILITIES)?;
                    let reach = entry_members::reach(&mut inner, KINDS, EntryHttpKind::Sse)?;
                    // Marks the members as read; without a type their values may not fit.
                    _ = entry_members::reach(fields, KINDS, EntryHttpKind::Sse);
                    reach
                }
                _ => entry_members::reach(fields, KINDS, EntryHttpKind::Sse)?,
            },
        };
        let mut entry = ServerEntry::new(fields.name, reach);
        entry.disabled = fields.flag("disabled").unwrap_or_default();
        entry.timeout_ms = fields.time("timeout", TimeLimit::SECONDS);
        entry.tools.approved = fields.names("autoApprove");
        entry.oauth = fields.oauth("oauthClient", &OAUTH)?;
        // Tokens and other state of a login are nobody else's.
        fields.value("oauth");
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "stdio", KINDS);
        push(&mut members, "timeout", entry_members::time(entry.timeout_ms, TimeUnit::Seconds));
        push(&mut members, "autoApprove", json!(entry.tools.approved));
        if entry.disabled {
            push(&mut members, "disabled", true);
        }
        push(&mut members, "oauthClient", entry_members::oauth(&ABILITIES, &entry.oauth, &OAUTH));
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let file = "settings/cline_mcp_settings.json";
        let code = surroundings.application("Code").join("User/globalStorage");
        let data = surroundings.home.join(".cline/data");
        let elsewhere = surroundings.cline_settings.clone().map(Location::user);
        let usual = [code.join("saoudrizwan.claude-dev").join(file), data.join(file)];
        elsewhere.into_iter().chain(usual.map(Location::user)).collect()
    }
}

/// The members of a reach, with the type under its newer name.
fn with_type(fields: &mut EntryFields<'_>, word: &str) -> Value {
    let keys = ["command", "args", "env", "cwd", "url", "headers"];
    let mut map = Map::from_iter([("type".to_owned(), json!(word))]);
    for key in keys {
        if let Some(value) = fields.value(key) {
            map.insert(key.to_owned(), value.clone());
        }
    }
    Value::Object(map)
}
