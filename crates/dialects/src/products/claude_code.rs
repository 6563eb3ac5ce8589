//! Claude Code: `.mcp.json` of a project, and the user's `~/.claude.json`, which also keeps servers
//! for single folders.

use serde_json::{Value, json};

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit, TimeUnit, plain_name};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::entry_members;
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{FileScope, FileSection, Location, UserFolders};
use crate::note::NoteWeight;
use crate::text::Syntax;

/// Claude Code.
pub(crate) struct ClaudeCode;

/// A shorter time does not count there.
const MIN_TIMEOUT_MS: u64 = 1_000;

/// Names that the product has servers of its own for.
const RESERVED: &[&str] =
    &["workspace", "claude-in-chrome", "computer-use", "Claude Preview", "Claude Browser"];

static ABILITIES: ProductAbilities = ProductAbilities {
    kinds: &[EntryHttpKind::Streamable, EntryHttpKind::Sse],
    timeout: Some(TimeLimit { least_ms: MIN_TIMEOUT_MS, ..TimeLimit::MILLISECONDS }),
    oauth: OauthParts { secret: false, ..OauthParts::ALL },
    names: name,
    ..ProductAbilities::with_variables(Syntax::BRACES_DEFAULT)
};

const KINDS: &[(&str, EntryHttpKind)] = &[
    ("http", EntryHttpKind::Streamable),
    ("streamable-http", EntryHttpKind::Streamable),
    ("sse", EntryHttpKind::Sse),
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

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Json
    }

    fn keys(&self) -> &'static [&'static str] {
        &["type", "command", "args", "env", "url", "headers", "timeout", "oauth"]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        if fields.has("url") && !fields.has("type") {
            return Err("has an address and no `type`".to_owned());
        }
        let mut entry = ServerEntry::new(
            fields.name,
            entry_members::reach(fields, KINDS, EntryHttpKind::Streamable)?,
        );
        entry.oauth = fields.oauth("oauth", &OauthNames::CAMEL)?;
        match fields.value("timeout").and_then(Value::as_f64) {
            Some(short) if short < MIN_TIMEOUT_MS as f64 => {
                fields.note("timeout", NoteWeight::Changed, "is below 1000 ms and does not count");
            }
            _ => entry.timeout_ms = fields.time("timeout", TimeLimit::MILLISECONDS),
        }
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = entry_members::reach_members(&ABILITIES, &entry.reach, "stdio", KINDS);
        push(
            &mut members,
            "timeout",
            entry_members::time(entry.timeout_ms, TimeUnit::Milliseconds),
        );
        let mut oauth = entry_members::oauth(&ABILITIES, &entry.oauth, &OauthNames::CAMEL);
        if let Some(scopes) = oauth.get_mut("scopes") {
            *scopes = json!(entry.oauth.scopes.join(" "));
        }
        push(&mut members, "oauth", oauth);
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let user = surroundings.at_home(".claude.json");
        let folder = surroundings.project.as_deref().and_then(|folder| folder.to_str());
        let local = folder.map(|folder| Location {
            scope: FileScope::User,
            file: user.file.clone(),
            section: FileSection::Folder(folder.to_owned()),
        });
        let project = surroundings.in_project(".mcp.json");
        [Some(user), local, project].into_iter().flatten().collect()
    }
}
