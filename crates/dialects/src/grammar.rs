//! `Grammar`: how a product stores its servers, as data with functions for the unusual parts.

use serde_json::{Map, Value, json};

use crate::abilities::ProductAbilities;
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry};
use crate::fields::{EntryFields, OauthNames};
use crate::files::is_empty;
use crate::locations::{Location, UserFolders};
use crate::note::NoteWeight;
use crate::render;

/// The members of an entry, in the order in which they are written.
pub(crate) type Members = Vec<(String, Value)>;

pub(crate) struct Grammar {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) format: FileFormat,
    pub(crate) path: &'static [&'static str],
    pub(crate) abilities: ProductAbilities,
    /// The keys besides `settings` that are removed if they no longer apply.
    pub(crate) keys: &'static [&'static str],
    /// The `type` of a program; empty if none is written.
    pub(crate) stdio: &'static str,
    /// The `type`s of HTTP transports; the first one of a kind is written.
    pub(crate) kinds: &'static [(&'static str, EntryHttpKind)],
    /// The transport of a URL without a `type`.
    pub(crate) untyped: EntryHttpKind,
    /// The settings besides the transport, by key, in the order in which they are written.
    pub(crate) settings: &'static [(&'static str, Setting)],
    /// Reads one entry; the error is the reason why it is left out.
    pub(crate) read: fn(&'static Self, &mut EntryFields<'_>) -> Result<ServerEntry, String>,
    /// Returns the members of an entry that was reduced to this product.
    pub(crate) write: fn(&'static Self, &ServerEntry) -> Members,
    pub(crate) locations: fn(&UserFolders) -> Vec<Location>,
    /// Returns the key of an entry, which may differ from its name.
    pub(crate) key: fn(&str) -> String,
    /// Extra keys of an entry that are stored elsewhere in the file.
    pub(crate) outside_keys: &'static [&'static str],
    /// Reads the settings of an entry from the rest of the file.
    pub(crate) read_outside: fn(&Value, &mut ServerEntry),
    /// Returns the changes that entries need in the rest of the file.
    pub(crate) write_outside: fn(&Value, &[ServerEntry]) -> Vec<OutsideChange>,
}

/// A common setting of an entry, under a key specific to the product.
pub(crate) enum Setting {
    Timeout,
    StartupTimeout,
    Disabled,
    Enabled,
    Approved,
    ApproveAll,
    Allowed,
    /// Like `Allowed`, but an empty list allows no tool.
    AllowedOrNone,
    Denied,
    Oauth(OauthNames),
}

impl Grammar {
    pub(crate) const USUAL: Self = Self {
        id: "",
        title: "",
        format: FileFormat::Json,
        path: &["mcpServers"],
        abilities: ProductAbilities::MINIMAL,
        keys: &[],
        stdio: "",
        kinds: &[],
        untyped: EntryHttpKind::Auto,
        settings: &[],
        read: Self::read_usual,
        write: Self::write_usual,
        locations: |_| Vec::new(),
        key: str::to_owned,
        outside_keys: &[],
        read_outside: |_, _| {},
        write_outside: |_, _| Vec::new(),
    };

    pub(crate) fn read_usual(
        &'static self,
        fields: &mut EntryFields<'_>,
    ) -> Result<ServerEntry, String> {
        let reach = self.read_reach(fields)?;
        self.read_settings(fields, reach)
    }

    /// Reads the usual members of a transport: `command` with its options, or `url` and `headers`.
    pub(crate) fn read_reach(
        &self,
        fields: &mut EntryFields<'_>,
    ) -> Result<EntryTransport, String> {
        let kind = fields.words("type")?;
        let has_command = fields.has("command");
        let has_url = fields.has("url");
        if has_command && has_url {
            // Products disagree about which one wins, so neither is chosen.
            return Err("has both a command and a URL".to_owned());
        }
        match kind {
            Some("stdio") | None if has_command => return fields.program("env"),
            Some("stdio") => return Err("has type `stdio` but no command".to_owned()),
            Some(kind) if has_command => {
                return Err(format!("has type `{kind}` but a command"));
            }
            _ => {}
        }
        if !has_url {
            return Err("has neither a command nor a URL".to_owned());
        }
        let kind = match kind {
            None => self.untyped,
            Some(word) => self
                .kinds
                .iter()
                .find(|(name, _)| *name == word)
                .map(|(_, kind)| *kind)
                .ok_or_else(|| format!("has the unknown type `{word}`"))?,
        };
        fields.address("url", kind)
    }

    pub(crate) fn read_settings(
        &self,
        fields: &mut EntryFields<'_>,
        reach: EntryTransport,
    ) -> Result<ServerEntry, String> {
        let mut entry = ServerEntry::new(fields.name, reach);
        for (key, setting) in self.settings {
            match setting {
                Setting::Timeout => entry.timeout_ms = fields.time(key, self.abilities.timeout),
                Setting::StartupTimeout => {
                    entry.startup_timeout_ms = fields.time(key, self.abilities.startup_timeout);
                }
                Setting::Disabled => entry.disabled |= fields.flag(key).unwrap_or_default(),
                Setting::Enabled => entry.disabled |= !fields.flag(key).unwrap_or(true),
                Setting::Approved => entry.tools.approved = fields.names(key),
                Setting::ApproveAll => {
                    entry.tools.approve_all = fields.flag(key).unwrap_or_default();
                }
                Setting::Allowed => entry.tools.allowed = fields.names(key),
                Setting::AllowedOrNone => {
                    let allowed = fields.value(key).and_then(Value::as_array);
                    if allowed.is_some_and(Vec::is_empty) {
                        // With us, an empty list allows all tools, the opposite of what is meant.
                        let message = "allows no tool, so the server is disabled";
                        fields.note(key, NoteWeight::Changed, message);
                        entry.disabled = true;
                    }
                    entry.tools.allowed = fields.names(key);
                }
                Setting::Denied => entry.tools.denied = fields.names(key),
                Setting::Oauth(names) => entry.oauth = fields.oauth(key, names)?,
            }
        }
        Ok(entry)
    }

    pub(crate) fn write_usual(&'static self, entry: &ServerEntry) -> Members {
        let mut members = self.write_reach(&entry.reach);
        self.write_settings(entry, &mut members);
        members
    }

    /// Returns the usual members of a transport, with the product's name for the type.
    pub(crate) fn write_reach(&self, reach: &EntryTransport) -> Members {
        let able = &self.abilities;
        let mut members = Members::new();
        match reach {
            EntryTransport::Stdio { command, args, env, env_file, cwd } => {
                if !self.stdio.is_empty() {
                    push(&mut members, "type", self.stdio);
                }
                push(&mut members, "command", render::text(command, able.program));
                push(&mut members, "args", render::list(args, able.program));
                push(&mut members, "env", render::map(env, able.env));
                push(&mut members, "envFile", render::optional(env_file.as_ref(), able.program));
                push(&mut members, "cwd", render::optional(cwd.as_ref(), able.program));
            }
            EntryTransport::Http { kind, url, headers } => {
                if let Some((word, _)) = self.kinds.iter().find(|(_, other)| other == kind) {
                    push(&mut members, "type", *word);
                }
                push(&mut members, "url", render::text(url, able.address));
                push(&mut members, "headers", render::map(headers, able.headers));
            }
        }
        members
    }

    pub(crate) fn write_settings(&self, entry: &ServerEntry, members: &mut Members) {
        let able = &self.abilities;
        // A default is not written, so that entries stay as short as people write them.
        let set = |flag: bool, value: bool| if flag { json!(value) } else { Value::Null };
        for (key, setting) in self.settings {
            let value = match setting {
                Setting::Timeout => render::time(entry.timeout_ms, able.timeout),
                Setting::StartupTimeout => {
                    render::time(entry.startup_timeout_ms, able.startup_timeout)
                }
                Setting::Disabled => set(entry.disabled, true),
                Setting::Enabled => set(entry.disabled, false),
                Setting::Approved => json!(entry.tools.approved),
                Setting::ApproveAll => set(entry.tools.approve_all, true),
                Setting::Allowed | Setting::AllowedOrNone => json!(entry.tools.allowed),
                Setting::Denied => json!(entry.tools.denied),
                Setting::Oauth(names) => render::oauth(able, &entry.oauth, names),
            };
            push(members, key, value);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Json,
    Toml,
    Yaml,
}

/// A change of a list elsewhere in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutsideChange {
    pub(crate) path: &'static [&'static str],
    pub(crate) add: Vec<Value>,
    pub(crate) remove: Vec<Value>,
}

/// Adds a member unless its value is null or empty.
pub(crate) fn push(members: &mut Members, key: &str, value: impl Into<Value>) {
    let value = value.into();
    if !is_empty(&value) {
        members.push((key.to_owned(), value));
    }
}

/// Adds the members that are absent, also inside nested objects.
pub(crate) fn add_extra(members: &mut Members, extra: &Map<String, Value>) {
    for (key, value) in extra {
        match members.iter_mut().find(|(name, _)| name == key) {
            // Converted values win: the kept ones may be older.
            Some((_, there)) => merge(there, value),
            None => members.push((key.clone(), value.clone())),
        }
    }
}

fn merge(there: &mut Value, more: &Value) {
    if let (Value::Object(there), Value::Object(more)) = (there, more) {
        for (key, value) in more {
            match there.get_mut(key) {
                Some(inside) => merge(inside, value),
                None => drop(there.insert(key.clone(), value.clone())),
            }
        }
    }
}
