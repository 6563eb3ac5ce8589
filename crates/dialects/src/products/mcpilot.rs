//! `MCPilot`: `mcp.servers` of `.mcpilot/.mcpilot.config.json`, programs only.

use serde_json::json;

use crate::abilities::{Abilities, Limit, Unit, small_name};
use crate::entry::{Entry, HttpKind};
use crate::fields::Fields;
use crate::grammar::{Format, Grammar, Members, push};
use crate::places::{Location, Surroundings};
use crate::shape;
use crate::text::Syntax;

/// `MCPilot`.
pub(crate) struct Mcpilot;

static ABLE: Abilities = Abilities {
    timeout: Some(Limit::SECONDS),
    disabled: true,
    approved: true,
    names: small_name,
    ..Abilities::with_variables(Syntax::WHOLE)
};

const FILE: &str = ".mcpilot/.mcpilot.config.json";

impl Grammar for Mcpilot {
    fn id(&self) -> &'static str {
        "mcpilot"
    }

    fn title(&self) -> &'static str {
        "MCPilot"
    }

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
    }

    fn path(&self) -> &'static [&'static str] {
        &["mcp", "servers"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "url", "headers", "disabled", "timeout", "alwaysAllow"]
    }

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        let kinds = [("http", HttpKind::Streamable)];
        let mut entry = Entry::new(fields.name, shape::reach(fields, &kinds, HttpKind::Auto)?);
        entry.disabled = fields.flag("disabled").unwrap_or_default();
        entry.timeout_ms = fields.time("timeout", Limit::SECONDS);
        entry.tools.approved = fields.names("alwaysAllow");
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("stdio", &[]));
        push(&mut members, "timeout", shape::time(entry.timeout_ms, Unit::Seconds));
        push(&mut members, "alwaysAllow", json!(entry.tools.approved));
        if entry.disabled {
            push(&mut members, "disabled", true);
        }
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let user = surroundings.at_home(FILE);
        std::iter::once(user).chain(surroundings.in_project(FILE)).collect()
    }
}
