//! Claude Code: `.mcp.json` of a project, and `~/.claude.json`, also with servers per folder.

use serde_json::Value;

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit, plain_name};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{Grammar, Setting};
use crate::locations::{FileScope, FileSection, Location};
use crate::note::NoteWeight;
use crate::text::Syntax;

/// Minimum timeout; the product ignores shorter ones.
const MIN_TIMEOUT_MS: u64 = 1_000;

/// Names reserved for the product's own servers.
const RESERVED: &[&str] =
    &["workspace", "claude-in-chrome", "computer-use", "Claude Preview", "Claude Browser"];

const OAUTH: OauthNames = OauthNames { joined: true, ..OauthNames::CAMEL };

pub(crate) static CLAUDE_CODE: Grammar = Grammar {
    id: "claude-code",
    title: "Claude Code",
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Streamable, EntryHttpKind::Sse],
        timeout: Some(TimeLimit { least_ms: MIN_TIMEOUT_MS, ..TimeLimit::MILLISECONDS }),
        oauth: OauthParts { secret: false, ..OauthParts::ALL },
        names: |name| match RESERVED.contains(&name) {
            true => format!("{}-server", plain_name(name)),
            false => plain_name(name),
        },
        ..ProductAbilities::with_variables(Syntax::BRACES_DEFAULT)
    },
    keys: &["type", "command", "args", "env", "url", "headers"],
    stdio: "stdio",
    kinds: &[
        ("http", EntryHttpKind::Streamable),
        ("streamable-http", EntryHttpKind::Streamable),
        ("sse", EntryHttpKind::Sse),
    ],
    untyped: EntryHttpKind::Streamable,
    settings: &[("timeout", Setting::Timeout), ("oauth", Setting::Oauth(OAUTH))],
    read,
    locations: |folders| {
        let user = folders.at_home(".claude.json");
        let folder = folders.project.as_deref().and_then(|folder| folder.to_str());
        let local = folder.map(|folder| Location {
            scope: FileScope::User,
            file: user.file.clone(),
            section: FileSection::Folder(folder.to_owned()),
        });
        let project = folders.in_project(".mcp.json");
        [Some(user), local, project].into_iter().flatten().collect()
    },
    ..Grammar::USUAL
};

fn read(grammar: &'static Grammar, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
    // Claude Code requires the type of a URL, so such an entry has no effect there either.
    if fields.has("url") && !fields.has("type") {
        return Err("has a URL but no `type`".to_owned());
    }
    let mut entry = ServerEntry::new(fields.name, grammar.read_reach(fields)?);
    entry.oauth = fields.oauth("oauth", &OAUTH)?;
    match fields.value("timeout").and_then(Value::as_f64) {
        Some(short) if short < MIN_TIMEOUT_MS as f64 => {
            fields.note("timeout", NoteWeight::Changed, "is below 1000 ms and is ignored");
        }
        _ => entry.timeout_ms = fields.time("timeout", Some(TimeLimit::MILLISECONDS)),
    }
    Ok(entry)
}
