//! `EntryFields`: extracts the known members of one product entry, and keeps the rest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::abilities::{ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::{EntryHttpKind, EntryTransport, OauthClientEntry, OauthFields, ServerEntry};
use crate::note::{Note, NoteWeight};
use crate::text::{Syntax, VariableText};

pub(crate) struct EntryFields<'a> {
    pub(crate) name: &'a str,
    pub(crate) able: &'static ProductAbilities,
    map: &'a Map<String, Value>,
    used: BTreeSet<String>,
    kept: Map<String, Value>,
    notes: Vec<Note>,
}

impl<'a> EntryFields<'a> {
    pub(crate) fn new(
        name: &'a str,
        value: &'a Value,
        able: &'static ProductAbilities,
    ) -> Result<Self, String> {
        let Value::Object(map) = value else {
            return Err(format!("must be an object, not {}", kind(value)));
        };
        Ok(Self { name, able, map, used: BTreeSet::new(), kept: Map::new(), notes: Vec::new() })
    }

    /// Returns the value of a key unless it is absent or null, and marks the key as read.
    pub(crate) fn value(&mut self, key: &str) -> Option<&'a Value> {
        self.used.insert(key.to_owned());
        // Null counts as absent, as in our own configuration.
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Returns whether there is such a key, without marking it as read.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn note(&mut self, key: &str, weight: NoteWeight, message: impl Into<String>) {
        self.notes.push(Note::new(self.name, key, weight, message));
    }

    pub(crate) fn words(&mut self, key: &str) -> Result<Option<&'a str>, String> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("`{key}` must be a string, not {}", kind(other))),
        }
    }

    pub(crate) fn text(
        &mut self,
        key: &str,
        syntax: Syntax,
    ) -> Result<Option<VariableText>, String> {
        let words = self.words(key)?;
        Ok(words.map(|words| self.parse(key, words, syntax)))
    }

    pub(crate) fn parse(&mut self, key: &str, words: &str, syntax: Syntax) -> VariableText {
        let text = VariableText::parse(words, syntax);
        if text.looks_variable() {
            // Kept as text: a guess could insert another value than the product does.
            let message = "contains an unsupported variable, which is kept as text";
            self.note(key, NoteWeight::Changed, message);
        }
        text
    }

    pub(crate) fn texts(&mut self, key: &str, syntax: Syntax) -> Result<Vec<VariableText>, String> {
        let wrong =
            |other: &Value| format!("`{key}` must be a list of strings, not {}", kind(other));
        let items = match self.value(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong(other)),
        };
        let mut texts = Vec::new();
        for item in items {
            let Some(words) = scalar(item) else { return Err(wrong(item)) };
            texts.push(self.parse(key, &words, syntax));
        }
        Ok(texts)
    }

    pub(crate) fn map(
        &mut self,
        key: &str,
        syntax: Syntax,
    ) -> Result<BTreeMap<String, VariableText>, String> {
        let mut texts = BTreeMap::new();
        for (name, value) in self.object(key)?.into_iter().flatten() {
            let inner = format!("{key}.{name}");
            match value {
                Value::Null => self.note(&inner, NoteWeight::Lost, "is null and is ignored"),
                value => {
                    let words = scalar(value).ok_or_else(|| {
                        format!("`{inner}` must be a string, not {}", kind(value))
                    })?;
                    let text = self.parse(&inner, &words, syntax);
                    texts.insert(name.clone(), text);
                }
            }
        }
        Ok(texts)
    }

    pub(crate) fn object(&mut self, key: &str) -> Result<Option<&'a Map<String, Value>>, String> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(format!("`{key}` must be an object, not {}", kind(other))),
        }
    }

    /// Returns a list of tool names. Any other value is noted and ignored.
    pub(crate) fn names<L: FromIterator<String>>(&mut self, key: &str) -> L {
        let names = match self.value(key) {
            None => return L::from_iter([]),
            Some(Value::Array(items)) => items.iter().map(|item| item.as_str()).collect(),
            Some(_) => None::<Vec<&str>>,
        };
        match names {
            Some(names) => names.into_iter().map(str::to_owned).collect(),
            None => {
                self.note(key, NoteWeight::Lost, "is not a list of names");
                L::from_iter([])
            }
        }
    }

    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        let value = self.value(key)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.note(key, NoteWeight::Lost, "is neither true nor false");
        }
        flag
    }

    /// Returns a duration in milliseconds, clamped to its range; notes an invalid one.
    pub(crate) fn time(&mut self, key: &str, limit: Option<TimeLimit>) -> Option<u64> {
        let value = self.value(key)?;
        let limit = limit?;
        let Some(number) = value.as_f64().filter(|number| *number >= 0.0) else {
            self.note(key, NoteWeight::Lost, "is not a duration; the default is used");
            return None;
        };
        let milliseconds = match limit.unit {
            TimeUnit::Seconds | TimeUnit::WholeSeconds => number * 1_000.0,
            TimeUnit::Milliseconds => number,
        };
        // The conversion saturates, and the result is clamped to the range.
        let milliseconds = milliseconds.round() as u64;
        let inside = milliseconds.clamp(limit.least_ms, limit.most_ms);
        if inside != milliseconds {
            self.note(key, NoteWeight::Changed, format!("is out of range; {inside} ms is used"));
        }
        Some(inside)
    }

    /// Reads OAuth settings from the object at `key`, with scopes as a list or as one text.
    pub(crate) fn oauth(&mut self, key: &str, names: &OauthNames) -> Result<OauthFields, String> {
        let syntax = crate::reduce::without_secrets(self.able.headers);
        let Some(map) = self.object(key)? else { return Ok(OauthFields::default()) };
        let mut oauth = OauthFields::default();
        let mut rest = map.clone();
        // An empty name means that the product has no such key.
        let mut take = |name: &str| rest.remove(name).filter(|_| !name.is_empty());
        let id = take(names.client);
        let secret = take(names.secret);
        let scopes = take(names.scopes);
        let port = take(names.port);
        if !rest.is_empty() {
            self.kept.insert(key.to_owned(), Value::Object(rest));
        }
        let secret = secret.as_ref().and_then(Value::as_str);
        match (id.as_ref().and_then(Value::as_str), secret) {
            (Some(id), secret) => {
                let inner = format!("{key}.{}", names.secret);
                let secret = secret.map(|secret| self.parse(&inner, secret, syntax));
                let inner = format!("{key}.{}", names.client);
                oauth.client =
                    Some(OauthClientEntry { id: self.parse(&inner, id, syntax), secret });
            }
            (None, Some(_)) => self.note(key, NoteWeight::Lost, "has a secret but no client id"),
            (None, None) => {}
        }
        oauth.scopes = match scopes {
            Some(Value::String(scopes)) => scopes.split_whitespace().map(str::to_owned).collect(),
            Some(Value::Array(scopes)) => {
                scopes.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let port = port.as_ref().and_then(Value::as_u64);
        oauth.callback_port = port.and_then(|port| u16::try_from(port).ok());
        Ok(oauth)
    }

    pub(crate) fn program(&mut self, env_key: &str) -> Result<EntryTransport, String> {
        let able = self.able;
        let command = self.text("command", able.program)?.unwrap_or_default();
        if command == VariableText::default() {
            return Err("has neither a command nor a URL".to_owned());
        }
        let args = self.texts("args", able.program)?;
        let env = self.map(env_key, able.env)?;
        let env_file = if able.env_file { self.text("envFile", able.program)? } else { None };
        let cwd = self.text("cwd", able.program)?;
        Ok(EntryTransport::Stdio { command, args, env, env_file, cwd })
    }

    pub(crate) fn address(
        &mut self,
        key: &str,
        kind: EntryHttpKind,
    ) -> Result<EntryTransport, String> {
        let url = self.text(key, self.able.address)?.unwrap_or_default();
        if url == VariableText::default() {
            return Err("has an empty URL".to_owned());
        }
        let headers = self.map("headers", self.able.headers)?;
        Ok(EntryTransport::Http { kind, url, headers })
    }

    pub(crate) fn keep(&mut self, key: &str, value: Value) {
        self.kept.insert(key.to_owned(), value);
    }

    /// Stores all unread members with the entry, and returns the notes.
    pub(crate) fn finish(self, id: &str, entry: &mut ServerEntry) -> Vec<Note> {
        // Unknown members survive a round trip through our configuration.
        let mut kept = self.kept;
        for (key, value) in self.map.iter().filter(|(key, _)| !self.used.contains(*key)) {
            kept.insert(key.clone(), value.clone());
        }
        if !kept.is_empty() {
            entry.extra.insert(id.to_owned(), kept);
        }
        self.notes
    }
}

/// The keys of OAuth settings; an empty key is not supported.
pub(crate) struct OauthNames {
    pub(crate) client: &'static str,
    pub(crate) secret: &'static str,
    pub(crate) scopes: &'static str,
    pub(crate) port: &'static str,
    /// Whether scopes are written as one string instead of a list.
    pub(crate) joined: bool,
}

impl OauthNames {
    pub(crate) const NONE: Self =
        Self { client: "", secret: "", scopes: "", port: "", joined: false };
    pub(crate) const CAMEL: Self = Self {
        client: "clientId",
        secret: "clientSecret",
        scopes: "scopes",
        port: "callbackPort",
        joined: false,
    };
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        // People write ports and flags without quotes, and the products accept that.
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a Boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
