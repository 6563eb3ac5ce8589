//! Says how the value of an argument may go on, as its server knows.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_fleet::{CompletionRequest, CompletionTarget};

use super::body::{ApiResult, parse_body};
use super::responses::Completion;
use crate::console::SharedConsole;
use crate::reply;
use crate::reply::ApiError;

/// What is to be completed.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ToComplete {
    /// The server.
    server: String,
    /// The prompt that has the argument.
    prompt: Option<String>,
    /// Or the template that has it.
    template: Option<String>,
    /// Its name.
    argument: String,
    /// What is written of it.
    #[serde(default)]
    value: String,
    /// The other arguments.
    #[serde(default)]
    context: BTreeMap<String, String>,
}

/// Values that begin like what is written.
pub(crate) async fn complete(State(console): State<SharedConsole>, body: Bytes) -> ApiResult {
    let ToComplete { server, prompt, template, argument, value, context } = parse_body(&body)?;
    let of = match (&prompt, &template) {
        (Some(prompt), None) => CompletionTarget::Prompt(prompt),
        (None, Some(template)) => CompletionTarget::Template(template),
        _ => return Err(ApiError::unprocessable("name a prompt or a template")),
    };
    let completing =
        CompletionRequest { target: of, argument: &argument, value: &value, context: &context };
    let lease = console.host.lease();
    let completion = console.host.complete(&lease, &server, &completing).await;
    let completion = completion.map_err(|error| ApiError::unprocessable(error.to_string()))?;
    Ok(reply::json(&Completion {
        values: completion.values,
        total: completion.total,
        has_more: completion.has_more,
    }))
}
