//! Cline: `cline_mcp_settings.json`; also the nested form that its own command line writes.

use serde_json::{Map, Value, json};

use crate::abilities::{Abilities, Limit, OauthParts, Unit};
use crate::entry::{Entry, HttpKind};
use crate::fields::{Fields, OauthNames};
use crate::grammar::{Format, Grammar, Members, push};
use crate::places::{Location, Surroundings};
use crate::shape;
use crate::text::Syntax;

/// Cline.
pub(crate) struct Cline;

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Streamable, HttpKind::Sse],
    cwd: true,
    timeout: Some(Limit::SECONDS),
    disabled: true,
    approved: true,
    oauth: OauthParts { client: true, secret: true, ..OauthParts::NONE },
    ..Abilities::with_variables(Syntax::ENV)
};

const KINDS: &[(&str, HttpKind)] = &[
    ("streamableHttp", HttpKind::Streamable),
    ("sse", HttpKind::Sse),
    ("http", HttpKind::Streamable),
    ("streamable-http", HttpKind::Streamable),
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

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
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

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let reach = match fields.value("transport") {
            Some(nested @ Value::Object(_)) => {
                let mut inner = Fields::new(fields.name, nested, &ABLE)?;
                shape::reach(&mut inner, KINDS, HttpKind::Sse)?
            }
            _ => match fields.words("transportType")? {
                // The older name of the type; the newer one wins.
                Some(word) if !fields.has("type") => {
                    let typed = with_type(fields, word);
                    let mut inner = Fields::new(fields.name, &typed, &ABLE)?;
                    let reach = shape::reach(&mut inner, KINDS, HttpKind::Sse)?;
                    shape::reach(fields, KINDS, HttpKind::Sse).ok();
                    reach
                }
                _ => shape::reach(fields, KINDS, HttpKind::Sse)?,
            },
        };
        let mut entry = Entry::new(fields.name, reach);
        entry.disabled = fields.flag("disabled").unwrap_or_default();
        entry.timeout_ms = fields.time("timeout", Limit::SECONDS);
        entry.tools.approved = fields.names("autoApprove");
        entry.oauth = fields.oauth("oauthClient", &OAUTH)?;
        // Tokens and other state of a login are nobody else's.
        fields.value("oauth");
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("stdio", KINDS));
        push(&mut members, "timeout", shape::time(entry.timeout_ms, Unit::Seconds));
        push(&mut members, "autoApprove", json!(entry.tools.approved));
        if entry.disabled {
            push(&mut members, "disabled", true);
        }
        push(&mut members, "oauthClient", shape::oauth(&ABLE, &entry.oauth, &OAUTH));
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let file = "settings/cline_mcp_settings.json";
        let code = surroundings.application("Code").join("User/globalStorage");
        let data = surroundings.home.join(".cline/data");
        let elsewhere = surroundings.cline_settings.clone().map(Location::user);
        let usual = [code.join("saoudrizwan.claude-dev").join(file), data.join(file)];
        elsewhere.into_iter().chain(usual.map(Location::user)).collect()
    }
}

/// The members of a reach, with the type under its newer name.
fn with_type(fields: &mut Fields<'_>, word: &str) -> Value {
    let keys = ["command", "args", "env", "cwd", "url", "headers"];
    let mut map = Map::from_iter([("type".to_owned(), json!(word))]);
    for key in keys {
        if let Some(value) = fields.value(key) {
            map.insert(key.to_owned(), value.clone());
        }
    }
    Value::Object(map)
}
