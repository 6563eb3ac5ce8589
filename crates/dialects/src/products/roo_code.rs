//! Roo Code: `mcp_settings.json`, and `.roo/mcp.json` of a project.

use serde_json::json;

use crate::abilities::{Abilities, Limit, Unit};
use crate::entry::{Entry, HttpKind};
use crate::fields::Fields;
use crate::grammar::{Format, Grammar, Members, push};
use crate::places::{Location, Surroundings};
use crate::shape;
use crate::text::Syntax;

/// Roo Code.
pub(crate) struct RooCode;

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Streamable, HttpKind::Sse],
    cwd: true,
    timeout: Some(Limit::SECONDS),
    disabled: true,
    approved: true,
    denied: true,
    ..Abilities::with_variables(Syntax::ENV)
};

const KINDS: &[(&str, HttpKind)] = &[
    ("streamable-http", HttpKind::Streamable),
    ("sse", HttpKind::Sse),
    ("http", HttpKind::Streamable),
    ("streamableHttp", HttpKind::Streamable),
];

impl Grammar for RooCode {
    fn id(&self) -> &'static str {
        "roo-code"
    }

    fn title(&self) -> &'static str {
        "Roo Code"
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

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let mut entry = Entry::new(fields.name, shape::reach(fields, KINDS, HttpKind::Sse)?);
        entry.disabled = fields.flag("disabled").unwrap_or_default();
        entry.timeout_ms = fields.time("timeout", Limit::SECONDS);
        entry.tools.approved = fields.names("alwaysAllow");
        entry.tools.denied = fields.names("disabledTools");
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("stdio", KINDS));
        push(&mut members, "timeout", shape::time(entry.timeout_ms, Unit::Seconds));
        push(&mut members, "alwaysAllow", json!(entry.tools.approved));
        push(&mut members, "disabledTools", json!(entry.tools.denied));
        if entry.disabled {
            push(&mut members, "disabled", true);
        }
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let code = surroundings.application("Code").join("User/globalStorage");
        let file = code.join("rooveterinaryinc.roo-cline/settings/mcp_settings.json");
        let project = surroundings.in_project(".roo/mcp.json");
        std::iter::once(Location::user(file)).chain(project).collect()
    }
}
