//! Actions that explain the verdict on a call, and replay recorded calls against changed rules.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_core::{Caller, Face, Origin, ProposedCall, Target, TargetKind};
use switchboard_host::past_call;
use switchboard_host::policy::{Explanation, PastCall, SessionFacts, check_examples};
use switchboard_rules::{Policies, PolicyLevel, policy_from_text};
use switchboard_store::{Filter, FullCall};
use switchboard_views::{DifferenceShown, WhatIfShown};

use super::body::{ApiResult, config_error, fragment_or_json, parse_body};
use crate::console::{Console, ConsoleState};
use crate::entry::parse_object;
use crate::pages;
use crate::reply::ApiError;

/// Maximum number of recorded calls per replay, which happens while the page waits.
const MAX_CALLS: u32 = 1_000;
const DEFAULT_HOURS: u32 = 24;

/// A hypothetical call to explain.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Tried {
    /// Name of the server.
    server: String,
    /// Name of the tool or prompt, or URI of the resource.
    name: String,
    /// Kind of the target: `tool` (default), `resource` or `prompt`.
    #[serde(default)]
    kind: String,
    /// Arguments: an object, or its JSON text.
    #[serde(default)]
    #[schemars(extend("type" = ["object", "string", "null"]))]
    arguments: Value,
    /// Caller: `person`, `model` (default) or `client`.
    #[serde(default)]
    caller: String,
    /// Servers or `server/tool`s assumed to be read before, separated by commas.
    #[serde(default)]
    after: String,
}

/// Explains the verdict on a call, without running it.
pub(crate) fn explain(
    State(console): ConsoleState,
    headers: HeaderMap,
    body: Bytes,
) -> Ready<ApiResult> {
    ready(explain_call(&console, &headers, &body))
}

fn explain_call(console: &Console, headers: &HeaderMap, body: &[u8]) -> ApiResult {
    let Tried { server, name, kind, arguments, caller, after } = parse_body(body)?;
    let arguments = match arguments {
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        given => Value::Object(parse_object(given)?),
    };
    let kind = match kind.as_str() {
        "" | "tool" => TargetKind::Tool,
        "resource" => TargetKind::Resource,
        "prompt" => TargetKind::Prompt,
        other => return Err(ApiError::unprocessable(format!("unknown kind `{other}`"))),
    };
    let target = Target::new(kind, server.trim(), name.trim());
    let proposed = ProposedCall { target, arguments: (&arguments).into() };
    let call = console.host.lease().resolve(proposed);
    let call = call.map_err(|error| ApiError::unprocessable(&error).maybe_hint(error.hint()))?;
    let mut session = SessionFacts::default();
    let config = console.host.config().load();
    for text in after.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        session.assume_untrusted_read(text, |server| config.servers.contains_key(server));
    }
    let explained = Explanation::new(&config, &call, &parse_caller(&caller)?, &session);
    let shown = switchboard_views::explanation(call.target(), &explained);
    Ok(fragment_or_json(headers, || pages::explanation(&shown), &shown))
}

fn parse_caller(word: &str) -> Result<Caller, ApiError> {
    let (face, origin) = match word {
        "person" => return Ok(Caller::person()),
        "" | "model" => (Face::Chat, Origin::Model),
        "client" => (Face::Gateway, Origin::Client),
        other => return Err(ApiError::unprocessable(format!("unknown caller `{other}`"))),
    };
    Ok(Caller { face, origin, name: origin.to_string(), reference: None })
}

/// Changed rules to replay recorded calls with.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ChangedRules {
    /// Text of the changed policy file.
    text: String,
    /// Level whose rules they replace; `user` by default.
    #[serde(default)]
    level: String,
    /// Number of hours to replay; 24 by default.
    hours: Option<u32>,
}

/// Returns the recorded calls on which changed rules would have decided differently.
pub(crate) async fn what_if(
    State(console): ConsoleState,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let ChangedRules { text, level, hours } = parse_body(&body)?;
    let wanted = if level.is_empty() { PolicyLevel::User.as_str() } else { level.as_str() };
    let level = PolicyLevel::ALL.into_iter().find(|level| level.as_str() == wanted);
    let unknown = || ApiError::unprocessable(format!("unknown level `{wanted}`"));
    let level = level.ok_or_else(unknown)?;
    let hours = hours.unwrap_or(DEFAULT_HOURS).clamp(1, 24 * 31);
    let file = Arc::from(std::path::Path::new("policy.json"));
    let file = policy_from_text(level, &file, &text).map_err(|error| config_error(&error))?;
    // A policy file with failing examples would be rejected on load, so it is rejected here too.
    let alone = Policies { files: vec![file.clone()], broken: None };
    if let Some(problem) = check_examples(&alone) {
        return Err(config_error(&problem));
    }
    let calls = recent_calls(&console, hours).await?;
    let config = console.host.config().load();
    let changed = config.policies.with_file(file);
    let annotations = console.host.annotations();
    let past: Vec<PastCall> = calls.iter().map(|call| past_call(call, &annotations)).collect();
    let compared = switchboard_host::policy::what_if(&config, &changed, &past);
    let differences: Vec<DifferenceShown> = calls
        .iter()
        .zip(compared)
        .filter_map(|(call, compared)| Some(switchboard_views::difference(call, &compared?)))
        .collect();
    let shown = WhatIfShown { hours, calls: calls.len(), most: MAX_CALLS, differences };
    Ok(fragment_or_json(&headers, || pages::what_if(&shown), &shown))
}

/// Returns the newest calls of the last `hours`, oldest first.
async fn recent_calls(console: &Console, hours: u32) -> Result<Vec<FullCall>, ApiError> {
    let age = Duration::from_secs(u64::from(hours) * 3_600);
    let filter = Filter { limit: MAX_CALLS, ..Filter::default() }.within(age);
    let mut calls = console.host.ledger().list_full(filter).await.map_err(ApiError::internal)?;
    // Taint depends on what was read before, so calls are replayed in order.
    calls.reverse();
    Ok(calls)
}
