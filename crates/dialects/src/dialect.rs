//! `ProductDialect`: reads and writes the server file of one product.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::abilities::ProductAbilities;
use crate::entry::ServerEntry;
use crate::fields::EntryFields;
use crate::grammar::{Grammar, OutsideChange, add_extra};
use crate::locations::{FileSection, Location, UserFolders};
use crate::note::{DialectError, Note, NoteWeight};
use crate::reduce::reduce;
use crate::{files, products};

/// A product whose server file can be read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProductDialect {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Cline,
    RooCode,
    Windsurf,
    Zed,
    Gemini,
    Codex,
    Goose,
    Opencode,
    Mcpilot,
}

/// The servers found in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedServers {
    pub entries: Vec<ServerEntry>,
    pub notes: Vec<Note>,
}

/// The result of writing servers into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    pub text: String,
    /// The names of the servers in the file, in the given order; `None` for one that is left out.
    pub names: Vec<Option<String>>,
    pub notes: Vec<Note>,
}

impl ProductDialect {
    /// All dialects, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::Vscode,
        Self::Cline,
        Self::RooCode,
        Self::Windsurf,
        Self::Zed,
        Self::Gemini,
        Self::Codex,
        Self::Goose,
        Self::Opencode,
        Self::Mcpilot,
    ];

    /// Returns the dialect with this id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.id() == id)
    }

    /// Returns the id, as typed on the command line.
    pub fn id(self) -> &'static str {
        self.grammar().id
    }

    /// Returns the name of the product.
    pub fn title(self) -> &'static str {
        self.grammar().title
    }

    /// Returns the settings that the product's file can express.
    pub fn abilities(self) -> &'static ProductAbilities {
        &self.grammar().abilities
    }

    /// Returns the files that may contain servers; in each scope, the one to write to is first.
    pub fn locations(self, surroundings: &UserFolders) -> Vec<Location> {
        (self.grammar().locations)(surroundings)
    }

    /// Reads the servers of a file. An entry that cannot be read becomes a note.
    pub fn read(self, text: &str, section: &FileSection) -> Result<ParsedServers, DialectError> {
        let grammar = self.grammar();
        let path = path(grammar, section);
        let file = files::read(grammar.format, text, &path)?;
        let mut entries = Vec::<ServerEntry>::new();
        let mut notes = Vec::new();
        for (key, value) in &file.servers {
            match read_entry(grammar, key, value) {
                Ok((mut entry, more)) => {
                    (grammar.read_outside)(&file.root, &mut entry);
                    notes.extend(more);
                    if let Some(place) = entries.iter().position(|other| other.name == entry.name) {
                        // As in the products: a parser keeps the last of two equal keys.
                        let message = "occurs twice; the last one is used";
                        notes.push(Note::new(&entry.name, "", NoteWeight::Changed, message));
                        entries.remove(place);
                    }
                    entries.push(entry);
                }
                Err(message) => notes.push(Note::left_out(key, message)),
            }
        }
        Ok(ParsedServers { entries, notes })
    }

    pub(crate) fn read_alone(
        self,
        name: &str,
        value: &Value,
    ) -> Result<(ServerEntry, Vec<Note>), String> {
        let grammar = self.grammar();
        let (mut entry, notes) = read_entry(grammar, name, value)?;
        (grammar.read_outside)(value, &mut entry);
        Ok((entry, notes))
    }

    /// Adds servers to the text of a file, or replaces those with the same names.
    pub fn write(
        self,
        text: &str,
        section: &FileSection,
        entries: &[ServerEntry],
    ) -> Result<WrittenFile, DialectError> {
        let grammar = self.grammar();
        let path = path(grammar, section);
        let file = files::read(grammar.format, text, &path)?;
        let mut names = Vec::new();
        let mut notes = Vec::new();
        let mut taken = BTreeSet::new();
        let mut left = Vec::new();
        for entry in entries {
            let Some(mut entry) = reduce(self.grammar(), entry, &mut notes) else {
                names.push(None);
                continue;
            };
            // Different names may have the same key once they are normalized.
            while !taken.insert((grammar.key)(&entry.name)) {
                let before = entry.name.clone();
                entry.name = format!("{before}-2");
                let message = format!("is renamed to `{}`: the name is taken", entry.name);
                notes.push(Note::new(&before, "", NoteWeight::Changed, message));
            }
            names.push(Some(entry.name.clone()));
            left.push(entry);
        }
        let beside = (grammar.write_outside)(&file.root, &left);
        let mut changes = Vec::new();
        for entry in &left {
            let key = (grammar.key)(&entry.name);
            // Which of the two the product uses is unknown, so neither can be edited.
            if file.servers.iter().filter(|(name, _)| *name == key).count() > 1 {
                return Err(DialectError::Twice(key));
            }
            let there = file.servers.iter().find(|(name, _)| *name == key);
            let there = there.and_then(|(key, value)| read_entry(grammar, key, value).ok());
            let there = there.map(|(mut there, _)| {
                (grammar.read_outside)(&file.root, &mut there);
                there
            });
            // An equal entry keeps its text, including its comments.
            if there.as_ref() != Some(entry) {
                let settings = grammar.settings.iter().map(|(key, _)| *key);
                let keys = grammar.keys.iter().copied().chain(settings).collect();
                changes.push(files::EntryChange { key, members: self.members(entry), keys });
            }
        }
        let text = files::change(grammar.format, text, &path, &changes, &beside)?;
        // The edits work on text, so the result is parsed before anyone writes it to disk.
        self.check(&file, &text, &path, &changes, &beside)?;
        Ok(WrittenFile { text, names, notes })
    }

    fn members(self, entry: &ServerEntry) -> Vec<(String, Value)> {
        let grammar = self.grammar();
        let mut members = (grammar.write)(grammar, entry);
        let mut extra = entry.product_extra(self.id()).cloned().unwrap_or_default();
        // `write_outside` writes these to their own place in the file.
        extra.retain(|key, _| !grammar.outside_keys.contains(&key.as_str()));
        add_extra(&mut members, &extra);
        members
    }

    pub(crate) fn write_alone(
        self,
        entry: &ServerEntry,
    ) -> (Option<Vec<(String, Value)>>, Vec<Note>) {
        let (reduced, notes) = self.expressible(entry);
        (reduced.map(|entry| self.members(&entry)), notes)
    }

    pub(crate) fn outside_lists(self, entry: &ServerEntry) -> Vec<Value> {
        let beside = (self.grammar().write_outside)(&Value::Null, std::slice::from_ref(entry));
        beside.into_iter().flat_map(|beside| beside.add).collect()
    }

    /// Returns the part of an entry that the product can express, and notes about the rest.
    pub fn expressible(self, entry: &ServerEntry) -> (Option<ServerEntry>, Vec<Note>) {
        let mut notes = Vec::new();
        let reduced = reduce(self.grammar(), entry, &mut notes);
        (reduced, notes)
    }

    /// Checks that everything outside the changes has the same values as before.
    fn check(
        self,
        before: &files::ParsedFile,
        text: &str,
        path: &[&str],
        changes: &[files::EntryChange],
        beside: &[OutsideChange],
    ) -> Result<(), DialectError> {
        let after = files::read(self.grammar().format, text, path)?;
        let rest = |root: &Value| {
            let mut root = root.clone();
            if let Some(Value::Object(servers)) = files::at_mut(&mut root, path) {
                servers.retain(|key, _| !changes.iter().any(|change| change.key == *key));
            }
            for beside in beside {
                if let Some(Value::Array(items)) = files::at_mut(&mut root, beside.path) {
                    items
                        .retain(|item| !beside.add.contains(item) && !beside.remove.contains(item));
                }
            }
            // A file without content is equivalent to an empty object.
            let root = files::without_empty(root);
            if root.is_null() { Value::Object(Map::new()) } else { root }
        };
        if rest(&before.root) == rest(&after.root) { Ok(()) } else { Err(DialectError::Touches) }
    }

    fn grammar(self) -> &'static Grammar {
        match self {
            Self::ClaudeDesktop => &products::CLAUDE_DESKTOP,
            Self::ClaudeCode => &products::CLAUDE_CODE,
            Self::Cursor => &products::CURSOR,
            Self::Vscode => &products::VSCODE,
            Self::Cline => &products::CLINE,
            Self::RooCode => &products::ROO_CODE,
            Self::Windsurf => &products::WINDSURF,
            Self::Zed => &products::ZED,
            Self::Gemini => &products::GEMINI,
            Self::Codex => &products::CODEX,
            Self::Goose => &products::GOOSE,
            Self::Opencode => &products::OPENCODE,
            Self::Mcpilot => &products::MCPILOT,
        }
    }
}

fn path<'a>(grammar: &Grammar, section: &'a FileSection) -> Vec<&'a str> {
    match section {
        FileSection::Top => grammar.path.to_vec(),
        // Only Claude Code has such sections.
        FileSection::Folder(folder) => vec!["projects", folder, "mcpServers"],
    }
}

fn read_entry(
    grammar: &'static Grammar,
    key: &str,
    value: &Value,
) -> Result<(ServerEntry, Vec<Note>), String> {
    let mut fields = EntryFields::new(key, value, &grammar.abilities)?;
    let mut entry = (grammar.read)(grammar, &mut fields)?;
    // Honour an explicit `disabled`, even if the product configures that elsewhere.
    if fields.has("disabled") && !grammar.abilities.disabled {
        entry.disabled |= fields.flag("disabled").unwrap_or_default();
    }
    let notes = fields.finish(grammar.id, &mut entry);
    Ok((entry, notes))
}
