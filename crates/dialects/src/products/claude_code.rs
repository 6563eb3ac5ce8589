//! Claude Code: `.mcp.json` of a project, and the user's `~/.claude.json`, which also keeps servers
//! for single folders.

use serde_json::{Value, json};

use crate::abilities::{Abilities, Limit, OauthParts, Unit, plain_name};
use crate::entry::{Entry, HttpKind};
use crate::fields::{Fields, OauthNames};
use crate::grammar::{Format, Grammar, Members, push};
use crate::note::Weight;
use crate::places::{Location, Scope, Section, Surroundings};
use crate::shape;
use crate::text::Syntax;

/// Claude Code.
pub(crate) struct ClaudeCode;

/// A shorter time does not count there.
const LEAST_MS: u64 = 1_000;

/// Names that the product has servers of its own for.
const RESERVED: &[&str] =
    &["workspace", "claude-in-chrome", "computer-use", "Claude Preview", "Claude Browser"];

static ABLE: Abilities = Abilities {
    kinds: &[HttpKind::Streamable, HttpKind::Sse],
    timeout: Some(Limit { least_ms: LEAST_MS, ..Limit::MILLISECONDS }),
    oauth: OauthParts { secret: false, ..OauthParts::ALL },
    names: name,
    ..Abilities::with_variables(Syntax::BRACES_DEFAULT)
};

const KINDS: &[(&str, HttpKind)] = &[
    ("http", HttpKind::Streamable),
    ("streamable-http", HttpKind::Streamable),
    ("sse", HttpKind::Sse),
];

fn name(name: &str) -> String {
    match RESERVED.contains(&name) {
        true => format!("{}-server", plain_name(name)),
        false => plain_name(name),
    }
}

impl Grammar for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn abilities(&self) -> &'static Abilities {
        &ABLE
    }

    fn format(&self) -> Format {
        Format::Json
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "url", "headers", "timeout", "oauth"]
    }

    fn read(&self, fields: &mut Fields<'_>) -> Result<Entry, String> {
        if fields.has("url") && !fields.has("type") {
            return Err("has an address and no `type`".to_owned());
        }
        let mut entry = Entry::new(fields.name, shape::reach(fields, KINDS, HttpKind::Streamable)?);
        entry.oauth = fields.oauth("oauth", &OauthNames::CAMEL)?;
        match fields.value("timeout").and_then(Value::as_f64) {
            Some(short) if short < LEAST_MS as f64 => {
                fields.note("timeout", Weight::Changed, "is below 1000 ms and does not count");
            }
            _ => entry.timeout_ms = fields.time("timeout", Limit::MILLISECONDS),
        }
        Ok(entry)
    }

    fn write(&self, entry: &Entry) -> Members {
        let mut members = shape::reach_members(&ABLE, &entry.reach, ("stdio", KINDS));
        push(&mut members, "timeout", shape::time(entry.timeout_ms, Unit::Milliseconds));
        let mut oauth = shape::oauth(&ABLE, &entry.oauth, &OauthNames::CAMEL);
        if let Some(scopes) = oauth.get_mut("scopes") {
            *scopes = json!(entry.oauth.scopes.join(" "));
        }
        push(&mut members, "oauth", oauth);
        members
    }

    fn locations(&self, surroundings: &Surroundings) -> Vec<Location> {
        let user = surroundings.at_home(".claude.json");
        let folder = surroundings.project.as_deref().and_then(|folder| folder.to_str());
        let local = folder.map(|folder| Location {
            scope: Scope::User,
            file: user.file.clone(),
            section: Section::Folder(folder.to_owned()),
        });
        let project = surroundings.in_project(".mcp.json");
        [Some(user), local, project].into_iter().flatten().collect()
    }
}
