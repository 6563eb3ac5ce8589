//! `Dialect`: a product's file, read and written.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::abilities::Abilities;
use crate::entry::Entry;
use crate::error::DialectError;
use crate::fields::Fields;
use crate::files;
use crate::grammar::{Beside, Grammar, add_extra};
use crate::note::{Note, Weight};
use crate::places::{Location, Section, Surroundings};
use crate::products;
use crate::reduce::{Target, reduce};

/// A product whose file can be read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
    /// Cline.
    Cline,
    /// Roo Code.
    RooCode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// Gemini CLI.
    Gemini,
    /// Codex.
    Codex,
    /// Goose.
    Goose,
    /// opencode.
    Opencode,
    /// `MCPilot`.
    Mcpilot,
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The servers, in the order of the file.
    pub entries: Vec<Entry>,
    /// What could not be taken over.
    pub notes: Vec<Note>,
}

/// A file with servers written into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text of the file.
    pub text: String,
    /// Under which names the servers are in it, in the order given; none for one that is left out.
    pub names: Vec<Option<String>>,
    /// What cannot be expressed.
    pub notes: Vec<Note>,
}

impl Dialect {
    /// All of them.
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

    /// The dialect of this id.
    pub fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.id() == id)
    }

    /// A word for it, as it is typed.
    pub fn id(self) -> &'static str {
        self.grammar().id()
    }

    /// What the product is called.
    pub fn title(self) -> &'static str {
        self.grammar().title()
    }

    /// What its file can say about a server.
    pub fn abilities(self) -> &'static Abilities {
        self.grammar().abilities()
    }

    /// The files in which servers may be; of one scope, the one for changes first.
    pub fn locations(self, surroundings: &Surroundings) -> Vec<Location> {
        self.grammar().locations(surroundings)
    }

    /// The servers of a file. An entry that cannot be read becomes a note.
    pub fn read(self, text: &str, section: &Section) -> Result<Read, DialectError> {
        let grammar = self.grammar();
        let path = path(grammar, section);
        let file = files::read(grammar.format(), text, &path)?;
        let (mut entries, mut notes) = (Vec::<Entry>::new(), Vec::new());
        for (key, value) in &file.servers {
            match read_entry(grammar, key, value) {
                Ok((mut entry, more)) => {
                    grammar.read_beside(&file.root, &mut entry);
                    notes.extend(more);
                    if let Some(place) = entries.iter().position(|other| other.name == entry.name) {
                        let message = "is there twice; the last one counts";
                        notes.push(Note::new(&entry.name, "", Weight::Changed, message));
                        entries.remove(place);
                    }
                    entries.push(entry);
                }
                Err(message) => notes.push(Note::left_out(key, message)),
            }
        }
        Ok(Read { entries, notes })
    }

    /// One entry by itself, as links have it.
    pub(crate) fn read_alone(
        self,
        name: &str,
        value: &Value,
    ) -> Result<(Entry, Vec<Note>), String> {
        let grammar = self.grammar();
        let (mut entry, notes) = read_entry(grammar, name, value)?;
        grammar.read_beside(value, &mut entry);
        Ok((entry, notes))
    }

    /// The text of a file with these servers in it. Servers of the same names are replaced, those of
    /// other names and everything else stay as they are.
    pub fn write(
        self,
        text: &str,
        section: &Section,
        entries: &[Entry],
    ) -> Result<Written, DialectError> {
        let grammar = self.grammar();
        let path = path(grammar, section);
        let file = files::read(grammar.format(), text, &path)?;
        let (mut names, mut notes) = (Vec::new(), Vec::new());
        let mut taken = BTreeSet::new();
        let mut left = Vec::new();
        for entry in entries {
            let Some(mut entry) = reduce(self.target(), entry, &mut notes) else {
                names.push(None);
                continue;
            };
            while !taken.insert(grammar.key(&entry.name)) {
                let before = entry.name.clone();
                entry.name = format!("{before}-2");
                let message = format!("is called `{}` there, the name is taken", entry.name);
                notes.push(Note::new(&before, "", Weight::Changed, message));
            }
            names.push(Some(entry.name.clone()));
            left.push(entry);
        }
        let beside = grammar.write_beside(&file.root, &left);
        let mut changes = Vec::new();
        for entry in &left {
            let key = grammar.key(&entry.name);
            if file.servers.iter().filter(|(name, _)| *name == key).count() > 1 {
                return Err(DialectError::Twice(key));
            }
            let there = file.servers.iter().find(|(name, _)| *name == key);
            let there = there.and_then(|(key, value)| read_entry(grammar, key, value).ok());
            let there = there.map(|(mut there, _)| {
                grammar.read_beside(&file.root, &mut there);
                there
            });
            if there.as_ref() != Some(entry) {
                let members = self.members(entry);
                changes.push(files::Change { key, members, keys: grammar.keys() });
            }
        }
        let text = files::change(grammar.format(), text, &path, (&changes, &beside))?;
        self.check(&file, &text, &path, (&changes, &beside))?;
        Ok(Written { text, names, notes })
    }

    /// The members of an entry that was reduced before.
    fn members(self, entry: &Entry) -> Vec<(String, Value)> {
        let grammar = self.grammar();
        let mut members = grammar.write(entry);
        let mut extra = entry.extra_of(self.id()).cloned().unwrap_or_default();
        extra.retain(|key, _| !grammar.keys_beside().contains(&key.as_str()));
        add_extra(&mut members, &extra);
        members
    }

    /// An entry by itself, as links have it.
    pub(crate) fn write_alone(self, entry: &Entry) -> (Option<Vec<(String, Value)>>, Vec<Note>) {
        let mut notes = Vec::new();
        let reduced = reduce(self.target(), entry, &mut notes);
        (reduced.map(|entry| self.members(&entry)), notes)
    }

    /// What the rest of a file would have to say about an entry.
    pub(crate) fn lists_beside(self, entry: &Entry) -> Vec<Value> {
        let beside = self.grammar().write_beside(&Value::Null, std::slice::from_ref(entry));
        beside.into_iter().flat_map(|beside| beside.add).collect()
    }

    /// The part of an entry that the product can express, and notes about the rest.
    pub fn expressible(self, entry: &Entry) -> (Option<Entry>, Vec<Note>) {
        let mut notes = Vec::new();
        let reduced = reduce(self.target(), entry, &mut notes);
        (reduced, notes)
    }

    fn target(self) -> Target {
        let grammar = self.grammar();
        Target { id: grammar.id(), title: grammar.title(), abilities: grammar.abilities() }
    }

    /// Everything that was not to be changed says the same as before.
    fn check(
        self,
        before: &files::Parsed,
        text: &str,
        path: &[&str],
        (changes, beside): (&[files::Change], &[Beside]),
    ) -> Result<(), DialectError> {
        let after = files::read(self.grammar().format(), text, path)?;
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
            // A file that holds nothing says the same as an empty object.
            let root = files::without_empty(root);
            if root.is_null() { Value::Object(Map::new()) } else { root }
        };
        if rest(&before.root) == rest(&after.root) { Ok(()) } else { Err(DialectError::Touches) }
    }

    fn grammar(self) -> &'static dyn Grammar {
        match self {
            Self::ClaudeDesktop => &products::ClaudeDesktop,
            Self::ClaudeCode => &products::ClaudeCode,
            Self::Cursor => &products::Cursor,
            Self::Vscode => &products::Vscode,
            Self::Cline => &products::Cline,
            Self::RooCode => &products::RooCode,
            Self::Windsurf => &products::Windsurf,
            Self::Zed => &products::Zed,
            Self::Gemini => &products::Gemini,
            Self::Codex => &products::Codex,
            Self::Goose => &products::Goose,
            Self::Opencode => &products::Opencode,
            Self::Mcpilot => &products::Mcpilot,
        }
    }
}

fn path<'a>(grammar: &dyn Grammar, section: &'a Section) -> Vec<&'a str> {
    match section {
        Section::Top => grammar.path().to_vec(),
        Section::Folder(folder) => vec!["projects", folder, "mcpServers"],
    }
}

fn read_entry(
    grammar: &dyn Grammar,
    key: &str,
    value: &Value,
) -> Result<(Entry, Vec<Note>), String> {
    let mut fields = Fields::new(key, value, grammar.abilities())?;
    let mut entry = grammar.read(&mut fields)?;
    // Whoever wrote this meant it, also where the product takes it from elsewhere.
    if fields.has("disabled") && !grammar.abilities().disabled {
        entry.disabled |= fields.flag("disabled").unwrap_or_default();
    }
    let notes = fields.finish(grammar.id(), &mut entry);
    Ok((entry, notes))
}
