//! Plans an import: decides for each server found whether to add it, and under which name.

use std::path::Path;

use serde_json::Value;
use switchboard_dialects::{EntryHttpKind, EntryTransport, Note, ServerEntry};
use switchboard_text::is_secret;
use switchboard_vetting::EntryFinding;

use crate::commands::dialects::sources::ImportSource;

pub(super) struct ImportItem {
    pub(super) entry: ServerEntry,
    /// The entry in Switchboard's own format.
    pub(super) value: Value,
    pub(super) source: usize,
    pub(super) action: ImportAction,
    pub(super) notes: Vec<Note>,
    pub(super) findings: Vec<EntryFinding>,
    pub(super) plain_secrets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ImportAction {
    Add(String),
    /// It is configured already, under this name.
    Duplicate(String),
    Ourselves,
    /// It cannot be imported, for this reason.
    Refuse(String),
}

/// Decides about every server found; existing entries never change.
pub(super) fn plan(
    file: &Path,
    there: &[ServerEntry],
    sources: &mut [ImportSource],
) -> Vec<ImportItem> {
    let mut known: Vec<ServerEntry> = there.to_vec();
    let mut items = Vec::new();
    for (index, source) in sources.iter_mut().enumerate() {
        let notes = std::mem::take(&mut source.notes);
        for entry in std::mem::take(&mut source.entries) {
            let mut item = item(file, &known, entry, index);
            let own = notes.iter().filter(|note| note.server.as_ref() == Some(&item.entry.name));
            item.notes.splice(0..0, own.cloned());
            if let ImportAction::Add(name) = &item.action {
                // Later sources must not add the same server or take the same name.
                known.push(ServerEntry { name: name.clone(), ..item.entry.clone() });
            }
            items.push(item);
        }
        let is_told = |note: &Note| {
            items.iter().any(|item: &ImportItem| {
                item.source == index && Some(&item.entry.name) == note.server.as_ref()
            })
        };
        // Only notes that belong to no listed server are left for the source.
        source.notes = notes.into_iter().filter(|note| !is_told(note)).collect();
    }
    items
}

fn item(file: &Path, known: &[ServerEntry], entry: ServerEntry, source: usize) -> ImportItem {
    let (name, value, notes) = entry.to_ours();
    let mut item = ImportItem {
        plain_secrets: plain_secrets(&entry),
        entry,
        value,
        source,
        action: ImportAction::Ourselves,
        notes,
        findings: Vec::new(),
    };
    if is_ourselves(&item.entry) {
        return item;
    }
    if let Some(same) = known.iter().find(|other| other.reaches_same(&item.entry)) {
        item.action = ImportAction::Duplicate(same.name.clone());
        return item;
    }
    let name = free_name(&name, known);
    match switchboard_config::entry_findings(file, &name, &item.value) {
        Ok(findings) => {
            item.findings = findings;
            item.action = ImportAction::Add(name);
        }
        Err(error) => item.action = ImportAction::Refuse(error.message.to_string()),
    }
    item
}

/// Returns an unused name that cannot be confused with an existing one.
fn free_name(name: &str, known: &[ServerEntry]) -> String {
    // Models and rules refer to these names, which an imported server must not take over.
    let ours = ["builtin", "switchboard", "system"].map(str::to_owned);
    let taken: Vec<String> = known.iter().map(|entry| look(&entry.name)).chain(ours).collect();
    let is_free = |name: &str| !taken.contains(&look(name));
    if is_free(name) {
        return name.to_owned();
    }
    let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
    numbered.take(10_000).find(|name| is_free(name)).unwrap_or_else(|| name.to_owned())
}

fn look(name: &str) -> String {
    // Names that differ only in case, spaces or dashes look the same in a prompt.
    let seen = name.chars().filter(|one| !one.is_whitespace());
    seen.flat_map(char::to_lowercase).map(|one| if one == '-' { '_' } else { one }).collect()
}

/// Returns whether an entry points to Switchboard's own gateway; importing it would create a loop.
fn is_ourselves(entry: &ServerEntry) -> bool {
    match &entry.reach {
        EntryTransport::Stdio { command, args, .. } => {
            let words = command.to_own_syntax();
            let program = Path::new(&words).file_stem().unwrap_or_default();
            program == "switchboard" && args.iter().any(|arg| arg.as_literal() == Some("serve"))
        }
        EntryTransport::Http { url, kind, .. } => {
            let here = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"];
            let url = url.to_own_syntax();
            let is_here = here.iter().any(|start| url.starts_with(start));
            // Any local server may listen on any port, so only the name tells the gateway apart.
            entry.name == "switchboard" && is_here && *kind != EntryHttpKind::Sse
        }
    }
}

pub(super) fn plain_secrets(entry: &ServerEntry) -> Vec<String> {
    let values = entry.named_values().into_iter();
    let is_plain = |key: &str, words: &str| {
        let name = key.split_once('.').map_or(key, |(_, name)| name);
        is_secret(name, words)
    };
    let plain =
        values.filter(|(key, text)| text.as_literal().is_some_and(|words| is_plain(key, words)));
    plain.map(|(key, _)| key).collect()
}

#[cfg(test)]
mod tests {
    use switchboard_dialects::ProductDialect;

    use super::*;

    fn source(entries: Vec<ServerEntry>) -> ImportSource {
        let dialect = ProductDialect::Cursor;
        ImportSource { dialect, place: "x".to_owned(), scope: "user", entries, notes: Vec::new() }
    }

    #[test]
    fn a_server_is_taken_once_and_under_a_name_of_its_own() {
        let there = [ServerEntry::program("files", "files", &["a"])];
        let mut sources = [
            source(vec![
                ServerEntry::program("documents", "files", &["a"]),
                ServerEntry::program("Files", "files", &["b"]),
                ServerEntry::program("files-2", "files", &["c"]),
                ServerEntry::program("system", "system", &[]),
                ServerEntry::program("board", "/opt/switchboard", &["serve", "--stdio"]),
                ServerEntry::address(
                    "switchboard",
                    "http://127.0.0.1:8808/mcp",
                    EntryHttpKind::Auto,
                ),
                ServerEntry::address("web", "https://example.com/mcp/", EntryHttpKind::Auto),
            ]),
            source(vec![
                ServerEntry::address("other", "https://example.com/mcp", EntryHttpKind::Sse),
                ServerEntry::address("wrong", "ftp://example.com", EntryHttpKind::Auto),
            ]),
        ];
        let plan = plan(Path::new("config.json"), &there, &mut sources);
        let actions: Vec<&ImportAction> = plan.iter().map(|item| &item.action).collect();
        let add = |name: &str| ImportAction::Add(name.to_owned());
        let expected = [
            ImportAction::Duplicate("files".to_owned()),
            add("Files-2"),
            add("files-2-2"),
            add("system-2"),
            ImportAction::Ourselves,
            ImportAction::Ourselves,
            add("web"),
            ImportAction::Duplicate("web".to_owned()),
        ];
        assert_eq!(actions[..8], expected.iter().collect::<Vec<_>>());
        assert!(matches!(actions[8], ImportAction::Refuse(_)), "{:?}", actions[8]);
    }

    #[test]
    fn secrets_that_stand_there_for_everybody_are_named() {
        let ours = serde_json::json!({"command": "x", "env": {
            "API_TOKEN": "abcdefgh12345678",
            "GITHUB": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
            "KEY_FILE": "/etc/key",
            "LEVEL": "information",
            "SECRET_KEY": "${SECRET_KEY}",
        }});
        let (entry, _) = ServerEntry::from_ours("x", &ours).unwrap();
        assert_eq!(plain_secrets(&entry), ["env.API_TOKEN", "env.GITHUB"]);
    }
}
