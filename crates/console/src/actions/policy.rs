//! Tries calls against the rules, and changed rules against calls of the past.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use switchboard_core::{Caller, Face, Origin, ProposedCall, Target, TargetKind};
use switchboard_host::past::past_call;
use switchboard_policy::{Explained, Past, SessionFacts, broken_example};
use switchboard_rules::{Level, Policies, policy_from_text};
use switchboard_store::{Filter, Full};

use super::body::{Answer, read, refused, wants_piece};
use crate::console::{Console, Shared};
use crate::entry::object;
use crate::reply::Problem;
use crate::shown::{DifferenceShown, WhatIfShown};
use crate::{pages, reply, shown};

/// At most so many calls are looked at.
const CALLS: u32 = 1_000;
const HOURS: u32 = 24;

/// A call that is tried against the rules.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Tried {
    /// The server.
    server: String,
    /// The tool or prompt, or the address of the resource.
    name: String,
    /// `tool`, `resource` or `prompt`; a tool unless told.
    #[serde(default)]
    kind: String,
    /// An object, or the JSON text of one.
    #[serde(default)]
    #[schemars(extend("type" = ["object", "string", "null"]))]
    arguments: Value,
    /// `person`, `model` or `client`; a model unless told.
    #[serde(default)]
    caller: String,
    /// As if something had come from this server before, or from `server/tool`; several with commas
    /// between them.
    #[serde(default)]
    after: String,
}

/// Says what would be decided about a call.
pub(crate) fn explain(
    State(console): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Ready<Answer> {
    ready(tried(&console, &headers, &body))
}

fn tried(console: &Console, headers: &HeaderMap, body: &[u8]) -> Answer {
    let Tried { server, name, kind, arguments, caller, after } = read(body)?;
    let arguments = match arguments {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(serde_json::Map::new()),
        given => Value::Object(object(given)?),
    };
    let kind = match kind.as_str() {
        "" | "tool" => TargetKind::Tool,
        "resource" => TargetKind::Resource,
        "prompt" => TargetKind::Prompt,
        other => return Err(Problem::unusable(format!("`{other}` is no kind of target"))),
    };
    let target = Target::new(kind, server.trim(), name.trim());
    let proposed = ProposedCall { target, arguments: (&arguments).into() };
    let call = console.host.lease().resolve(proposed).map_err(|error| {
        let problem = Problem::unusable(error.to_string());
        match error.hint() {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        }
    })?;
    let mut session = SessionFacts::default();
    let config = console.host.config().load();
    for text in after.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        session.imagine(text, |server| config.servers.contains_key(server));
    }
    let explained = Explained::of(&config, &call, &caller_of(&caller)?, &session);
    let shown = shown::explained(call.target(), &explained);
    Ok(if wants_piece(headers) {
        reply::html(pages::explained(&shown))
    } else {
        reply::json(&shown)
    })
}

fn caller_of(word: &str) -> Result<Caller, Problem> {
    let (face, origin) = match word {
        "person" => return Ok(Caller::person()),
        "" | "model" => (Face::Chat, Origin::Model),
        "client" => (Face::Gateway, Origin::Client),
        other => return Err(Problem::unusable(format!("`{other}` is no caller"))),
    };
    Ok(Caller { face, origin, name: origin.to_string(), reference: None })
}

/// Rules that are tried against calls of the past.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ChangedRules {
    /// The text of the changed rules.
    text: String,
    /// The level whose rules they replace; `user` unless told.
    #[serde(default)]
    level: String,
    /// As many hours are looked back; 24 unless told.
    hours: Option<u32>,
}

/// Says what changed rules would have decided otherwise.
pub(crate) async fn what_if(
    State(console): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let ChangedRules { text, level, hours } = read(&body)?;
    let wanted = if level.is_empty() { Level::User.as_str() } else { level.as_str() };
    let level = Level::ALL.into_iter().find(|level| level.as_str() == wanted);
    let level = level.ok_or_else(|| Problem::unusable(format!("there is no level `{wanted}`")))?;
    let hours = hours.unwrap_or(HOURS).clamp(1, 24 * 31);
    let file = Arc::from(std::path::Path::new("policy.json"));
    let file = policy_from_text(level, &file, &text).map_err(|error| refused(&error))?;
    let alone = Policies { files: vec![file.clone()], broken: None };
    if let Some(problem) = broken_example(&alone) {
        return Err(refused(&problem));
    }
    let calls = recorded(&console, hours).await?;
    let config = console.host.config().load();
    let changed = config.policies.with_file(file);
    let annotations = console.host.annotations();
    let past: Vec<Past> = calls.iter().map(|call| past_call(call, &annotations)).collect();
    let compared = switchboard_policy::what_if(&config, &changed, &past);
    let differences: Vec<DifferenceShown> = calls
        .iter()
        .zip(compared)
        .filter_map(|(call, compared)| Some(shown::difference(call, &compared?)))
        .collect();
    let shown = WhatIfShown { hours, calls: calls.len(), most: CALLS, differences };
    Ok(if wants_piece(&headers) {
        reply::html(pages::what_if(&shown))
    } else {
        reply::json(&shown)
    })
}

/// The newest calls of so many hours, the oldest first.
async fn recorded(console: &Console, hours: u32) -> Result<Vec<Full>, Problem> {
    let age = Duration::from_secs(u64::from(hours) * 3_600);
    let filter = Filter { limit: CALLS, ..Filter::default() }.within(age);
    let calls = console.host.ledger().list_full(filter).await;
    let mut calls = calls.map_err(|error| Problem::trouble(error.to_string()))?;
    calls.reverse();
    Ok(calls)
}
