//! The members that most products share.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::abilities::{ProductAbilities, TimeUnit};
use crate::entry::{EntryHttpKind, EntryTransport, OauthFields};
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{Members, push};
use crate::reduce::without_secrets;
use crate::text::{Syntax, VariableText};

/// A reach of the usual members: `command` and its company, or `url` and `headers`, where the type
/// is one of `kinds` and `untyped` counts without one.
pub(crate) fn reach(
    fields: &mut EntryFields<'_>,
    kinds: &[(&str, EntryHttpKind)],
    untyped: EntryHttpKind,
) -> Result<EntryTransport, String> {
    let kind = fields.words("type")?;
    let has_command = fields.has("command");
    let has_url = fields.has("url");
    if has_command && has_url {
        return Err("has both a command and an address".to_owned());
    }
    match kind {
        Some("stdio") | None if has_command => return fields.program("env"),
        Some("stdio") => return Err("is of type `stdio` and has no command".to_owned()),
        Some(kind) if has_command => return Err(format!("is of type `{kind}` and has a command")),
        _ => {}
    }
    if !has_url {
        return Err("has neither a command nor an address".to_owned());
    }
    let kind = match kind {
        None => untyped,
        Some(word) => kinds
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, kind)| *kind)
            .ok_or_else(|| format!("is of type `{word}`, which is not known"))?,
    };
    address(fields, "url", kind)
}

/// A reach by an address.
pub(crate) fn address(
    fields: &mut EntryFields<'_>,
    key: &str,
    kind: EntryHttpKind,
) -> Result<EntryTransport, String> {
    let able = fields.able;
    let url = fields.text(key, able.address)?.unwrap_or_default();
    if url == VariableText::default() {
        return Err("has an empty address".to_owned());
    }
    let headers = fields.map("headers", able.headers)?;
    Ok(EntryTransport::Http { kind, url, headers })
}

/// The usual members of a reach, with the type in the product's own words; an empty word is none.
pub(crate) fn reach_members(
    able: &ProductAbilities,
    reach: &EntryTransport,
    stdio: &str,
    kinds: &[(&str, EntryHttpKind)],
) -> Members {
    let mut members = Members::new();
    match reach {
        EntryTransport::Stdio { command, args, env, env_file, cwd } => {
            if !stdio.is_empty() {
                push(&mut members, "type", stdio);
            }
            push(&mut members, "command", render_text(command, able.program));
            push(&mut members, "args", list(args, able.program));
            push(&mut members, "env", map(env, able.env));
            push(&mut members, "envFile", optional(env_file.as_ref(), able.program));
            push(&mut members, "cwd", optional(cwd.as_ref(), able.program));
        }
        EntryTransport::Http { kind, url, headers } => {
            let word = kinds.iter().find(|(_, other)| other == kind).map_or("", |(word, _)| word);
            if !word.is_empty() {
                push(&mut members, "type", word);
            }
            push(&mut members, "url", render_text(url, able.address));
            push(&mut members, "headers", map(headers, able.headers));
        }
    }
    members
}

/// A text in the words of the product.
pub(crate) fn render_text(text: &VariableText, syntax: Syntax) -> Value {
    Value::String(text.render(syntax).0)
}

pub(crate) fn optional(text: Option<&VariableText>, syntax: Syntax) -> Value {
    text.map_or(Value::Null, |text| render_text(text, syntax))
}

pub(crate) fn list(texts: &[VariableText], syntax: Syntax) -> Value {
    Value::Array(texts.iter().map(|text| render_text(text, syntax)).collect())
}

pub(crate) fn map(texts: &BTreeMap<String, VariableText>, syntax: Syntax) -> Value {
    let members = texts.iter().map(|(name, text)| (name.clone(), render_text(text, syntax)));
    Value::Object(members.collect())
}

/// A time in the unit of the product.
pub(crate) fn time(milliseconds: Option<u64>, unit: TimeUnit) -> Value {
    let Some(milliseconds) = milliseconds else { return Value::Null };
    match unit {
        TimeUnit::Milliseconds => json!(milliseconds),
        TimeUnit::Seconds | TimeUnit::WholeSeconds if milliseconds % 1_000 == 0 => {
            json!(milliseconds / 1_000)
        }
        TimeUnit::Seconds | TimeUnit::WholeSeconds => json!(milliseconds as f64 / 1_000.0),
    }
}

/// The object of a login, with scopes in a list.
pub(crate) fn oauth(able: &ProductAbilities, oauth: &OauthFields, names: &OauthNames) -> Value {
    let syntax = without_secrets(able.headers);
    let mut object = Map::new();
    let mut insert = |name: &str, value: Value| {
        if !name.is_empty() && !value.is_null() {
            object.insert(name.to_owned(), value);
        }
    };
    if let Some(client) = &oauth.client {
        insert(names.client, render_text(&client.id, syntax));
        insert(names.secret, optional(client.secret.as_ref(), syntax));
    }
    if !oauth.scopes.is_empty() {
        insert(names.scopes, json!(oauth.scopes));
    }
    insert(names.port, oauth.callback_port.map_or(Value::Null, |port| json!(port)));
    Value::Object(object)
}
