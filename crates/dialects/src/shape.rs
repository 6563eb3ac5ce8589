//! The members that most products share.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::abilities::{Abilities, Unit};
use crate::entry::{HttpKind, Oauth, Reach};
use crate::fields::{Fields, OauthNames};
use crate::grammar::{Members, push};
use crate::reduce::open;
use crate::text::{Syntax, Text};

/// A reach of the usual members: `command` and its company, or `url` and `headers`, where the type
/// is one of `kinds` and `untyped` counts without one.
pub(crate) fn reach(
    fields: &mut Fields<'_>,
    kinds: &[(&str, HttpKind)],
    untyped: HttpKind,
) -> Result<Reach, String> {
    let kind = fields.words("type")?;
    let (has_command, has_url) = (fields.has("command"), fields.has("url"));
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
pub(crate) fn address(fields: &mut Fields<'_>, key: &str, kind: HttpKind) -> Result<Reach, String> {
    let able = fields.able;
    let url = fields.text(key, able.address)?.unwrap_or_default();
    if url == Text::default() {
        return Err("has an empty address".to_owned());
    }
    let headers = fields.map("headers", able.headers)?;
    Ok(Reach::Http { kind, url, headers })
}

/// The usual members of a reach, with the type in the product's own words; an empty word is none.
pub(crate) fn reach_members(
    able: &Abilities,
    reach: &Reach,
    (stdio, kinds): (&str, &[(&str, HttpKind)]),
) -> Members {
    let mut members = Members::new();
    match reach {
        Reach::Stdio { command, args, env, env_file, cwd } => {
            if !stdio.is_empty() {
                push(&mut members, "type", stdio);
            }
            push(&mut members, "command", written(command, able.program));
            push(&mut members, "args", list(args, able.program));
            push(&mut members, "env", map(env, able.env));
            push(&mut members, "envFile", optional(env_file.as_ref(), able.program));
            push(&mut members, "cwd", optional(cwd.as_ref(), able.program));
        }
        Reach::Http { kind, url, headers } => {
            let word = kinds.iter().find(|(_, other)| other == kind).map_or("", |(word, _)| word);
            if !word.is_empty() {
                push(&mut members, "type", word);
            }
            push(&mut members, "url", written(url, able.address));
            push(&mut members, "headers", map(headers, able.headers));
        }
    }
    members
}

/// A text in the words of the product.
pub(crate) fn written(text: &Text, syntax: Syntax) -> Value {
    Value::String(text.render(syntax).0)
}

pub(crate) fn optional(text: Option<&Text>, syntax: Syntax) -> Value {
    text.map_or(Value::Null, |text| written(text, syntax))
}

pub(crate) fn list(texts: &[Text], syntax: Syntax) -> Value {
    Value::Array(texts.iter().map(|text| written(text, syntax)).collect())
}

pub(crate) fn map(texts: &BTreeMap<String, Text>, syntax: Syntax) -> Value {
    let members = texts.iter().map(|(name, text)| (name.clone(), written(text, syntax)));
    Value::Object(members.collect())
}

/// A time in the unit of the product.
pub(crate) fn time(milliseconds: Option<u64>, unit: Unit) -> Value {
    let Some(milliseconds) = milliseconds else { return Value::Null };
    match unit {
        Unit::Milliseconds => json!(milliseconds),
        Unit::Seconds | Unit::WholeSeconds if milliseconds % 1_000 == 0 => {
            json!(milliseconds / 1_000)
        }
        Unit::Seconds | Unit::WholeSeconds => json!(milliseconds as f64 / 1_000.0),
    }
}

/// The object of a login, with scopes in a list.
pub(crate) fn oauth(able: &Abilities, oauth: &Oauth, names: &OauthNames) -> Value {
    let syntax = open(able.headers);
    let mut object = Map::new();
    let mut insert = |name: &str, value: Value| {
        if !name.is_empty() && !value.is_null() {
            object.insert(name.to_owned(), value);
        }
    };
    if let Some(client) = &oauth.client {
        insert(names.client, written(&client.id, syntax));
        insert(names.secret, optional(client.secret.as_ref(), syntax));
    }
    if !oauth.scopes.is_empty() {
        insert(names.scopes, json!(oauth.scopes));
    }
    insert(names.port, oauth.callback_port.map_or(Value::Null, |port| json!(port)));
    Value::Object(object)
}
