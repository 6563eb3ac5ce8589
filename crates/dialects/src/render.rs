//! Formats texts, durations and OAuth settings of an entry for a product.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::abilities::{ProductAbilities, TimeLimit, TimeUnit};
use crate::entry::OauthFields;
use crate::fields::OauthNames;
use crate::reduce::without_secrets;
use crate::text::{Syntax, VariableText};

pub(crate) fn text(text: &VariableText, syntax: Syntax) -> Value {
    Value::String(text.render(syntax).0)
}

pub(crate) fn optional(value: Option<&VariableText>, syntax: Syntax) -> Value {
    value.map_or(Value::Null, |value| text(value, syntax))
}

pub(crate) fn list(texts: &[VariableText], syntax: Syntax) -> Value {
    Value::Array(texts.iter().map(|one| text(one, syntax)).collect())
}

pub(crate) fn map(texts: &BTreeMap<String, VariableText>, syntax: Syntax) -> Value {
    let members = texts.iter().map(|(name, one)| (name.clone(), text(one, syntax)));
    Value::Object(members.collect())
}

pub(crate) fn time(milliseconds: Option<u64>, limit: Option<TimeLimit>) -> Value {
    let (Some(milliseconds), Some(limit)) = (milliseconds, limit) else { return Value::Null };
    match limit.unit {
        TimeUnit::Milliseconds => json!(milliseconds),
        TimeUnit::Seconds | TimeUnit::WholeSeconds if milliseconds % 1_000 == 0 => {
            json!(milliseconds / 1_000)
        }
        TimeUnit::Seconds | TimeUnit::WholeSeconds => json!(milliseconds as f64 / 1_000.0),
    }
}

pub(crate) fn oauth(able: &ProductAbilities, oauth: &OauthFields, names: &OauthNames) -> Value {
    let syntax = without_secrets(able.headers);
    let mut object = Map::new();
    let mut insert = |name: &str, value: Value| {
        if !name.is_empty() && !value.is_null() {
            object.insert(name.to_owned(), value);
        }
    };
    if let Some(client) = &oauth.client {
        insert(names.client, text(&client.id, syntax));
        insert(names.secret, optional(client.secret.as_ref(), syntax));
    }
    if !oauth.scopes.is_empty() {
        let scopes = &oauth.scopes;
        insert(names.scopes, if names.joined { json!(scopes.join(" ")) } else { json!(scopes) });
    }
    insert(names.port, oauth.callback_port.map_or(Value::Null, |port| json!(port)));
    Value::Object(object)
}
