//! Says how the value of an argument may go on, as its server knows.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use switchboard_host::connect::{Completing, CompletionOf};

use super::body::{Answer, read};
use crate::console::Shared;
use crate::reply::{self, Problem};

#[derive(Deserialize)]
struct Begun {
    server: String,
    prompt: Option<String>,
    template: Option<String>,
    argument: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    context: BTreeMap<String, String>,
}

/// Values that begin like what is written.
pub(crate) async fn complete(State(console): State<Shared>, body: Bytes) -> Answer {
    let Begun { server, prompt, template, argument, value, context } = read(&body)?;
    let of = match (&prompt, &template) {
        (Some(prompt), None) => CompletionOf::Prompt(prompt),
        (None, Some(template)) => CompletionOf::Template(template),
        _ => return Err(Problem::unusable("name a prompt or a template")),
    };
    let completing = Completing { of, argument: &argument, value: &value, context: &context };
    let lease = console.host.lease();
    let completion = console.host.complete(&lease, &server, &completing).await;
    let completion = completion.map_err(|error| Problem::unusable(error.to_string()))?;
    Ok(reply::json(&json!({
        "values": completion.values,
        "total": completion.total,
        "has_more": completion.has_more,
    })))
}
