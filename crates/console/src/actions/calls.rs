//! Actions that call tools, get prompts and read resources as the signed-in person.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use switchboard_core::{Caller, Face, Origin, ProposedCall, Target, random_token};
use switchboard_fleet::{CompletionRequest, CompletionTarget};
use switchboard_host::{Ask, Asker, CallOptions, ReplyFuture};
use switchboard_store::{CallId, Record};
use switchboard_text::REDACTED;
use switchboard_views::ToComplete;
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::body::{ApiResult, fragment_or_json, parse_body};
use crate::console::{ConsoleState, SharedConsole};
use crate::live::Aside;
use crate::reply::ApiError;
use crate::{pages, reply};

/// Arguments of a tool call or a prompt.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WithArguments {
    /// Arguments by name; those of a prompt are strings.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Id chosen by the client, under which events report progress.
    watch: Option<String>,
}

pub(crate) async fn call_tool(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let WithArguments { arguments, watch } = parse_body(&body)?;
    let arguments = Value::Object(arguments);
    let proposed = ProposedCall::tool(&server, &tool, (&arguments).into());
    Ok(run(&console, proposed, watch, &headers).await)
}

pub(crate) async fn get_prompt(
    State(console): ConsoleState,
    Path((server, prompt)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let WithArguments { arguments, watch } = parse_body(&body)?;
    let arguments = Value::Object(arguments);
    let proposed = ProposedCall::prompt(&server, &prompt, (&arguments).into());
    Ok(run(&console, proposed, watch, &headers).await)
}

/// A resource to read.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WhichResource {
    /// Name of the server.
    server: String,
    /// URI of the resource.
    uri: String,
    /// Id chosen by the client, under which events report progress.
    watch: Option<String>,
}

pub(crate) async fn read_resource(
    State(console): ConsoleState,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let WhichResource { server, uri, watch } = parse_body(&body)?;
    Ok(run(&console, ProposedCall::resource(&server, &uri), watch, &headers).await)
}

pub(crate) async fn call_again(
    State(console): ConsoleState,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult {
    let missing = || ApiError::not_found(format!("no call `{id}` is recorded"));
    let number: CallId = id.parse().map_err(|_| missing())?;
    let found = console.host.ledger().show(number).await;
    let call = found.map_err(ApiError::internal)?.ok_or_else(missing)?;
    // The same effect as before, so with the changes of hooks and reviewers.
    let bytes = call.sent_arguments.as_ref().unwrap_or(&call.arguments);
    // The record redacts secrets, and a placeholder must not be sent to a server.
    let arguments: Option<Value> = std::str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains(REDACTED))
        .and_then(|text| serde_json::from_str(text).ok());
    let arguments = arguments.ok_or_else(|| {
        ApiError::unprocessable("the recorded arguments are redacted or incomplete")
            .with_hint("fill them in on the page of the tool")
    })?;
    let call = call.summary;
    let target = Target::new(call.kind, &call.server, &call.target);
    let proposed = ProposedCall { target, arguments: (&arguments).into() };
    Ok(run(&console, proposed, None, &headers).await)
}

/// Runs a call as a person. Dropping the future, as a disconnect does, cancels the call.
async fn run(
    console: &SharedConsole,
    proposed: ProposedCall,
    watch: Option<String>,
    headers: &HeaderMap,
) -> Response {
    let target = proposed.target.clone();
    let progress = watch.map(|watch| publish_progress(console, watch));
    let cancel = CancellationToken::new();
    let given_up = cancel.clone().drop_guard();
    let attention = CallOptions { cancel, progress, ..CallOptions::default() };
    // A separate task: after a disconnect, the cancelled call still runs to its recorded end.
    let calling = tokio::spawn(call(Arc::clone(console), proposed, attention));
    let record = match calling.await {
        Ok(record) => record,
        Err(error) => return ApiError::internal(error).into_response(),
    };
    drop(given_up);
    let ran = switchboard_views::finished_call(&target, record);
    fragment_or_json(headers, || pages::finished_call(&ran), &ran)
}

async fn call(console: SharedConsole, proposed: ProposedCall, attention: CallOptions) -> Record {
    let reference = random_token().map(|word| format!("console-{word}"));
    // Elicitations of this call are answered on the pages, where this person is.
    let _asked = reference
        .as_deref()
        .map(|reference| console.host.answer_for(reference, Arc::new(PageReviewer)));
    let caller =
        Caller { face: Face::Console, origin: Origin::Person, reference, ..Caller::person() };
    console.host.call_with(&console.host.lease(), proposed, &caller, &attention).await
}

fn publish_progress(console: &SharedConsole, watch: String) -> mpsc::Sender<Json> {
    // Bounded: reports of a chatty server are dropped while the feed is busy.
    let (sender, mut reports) = mpsc::channel::<Json>(64);
    let console = Arc::clone(console);
    // Ends with the call, which holds the sender.
    tokio::spawn(async move {
        while let Some(report) = reports.recv().await {
            let report: Value = serde_json::from_str(report.as_str()).unwrap_or_default();
            let number = |name: &str| report.get(name).and_then(Value::as_number).cloned();
            let message = report.get("message").and_then(Value::as_str).map(str::to_owned);
            let told = Aside::Progress {
                watch: watch.clone(),
                progress: number("progress"),
                total: number("total"),
                message,
            };
            console.feed.publish("progress", &told);
        }
    });
    sender
}

/// Leaves questions to the pages: they show the queue, and the answer comes through it.
pub(crate) struct PageReviewer;

impl Asker for PageReviewer {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> ReplyFuture<'a> {
        Box::pin(std::future::pending())
    }
}

pub(crate) async fn complete(State(console): ConsoleState, body: Bytes) -> ApiResult {
    let ToComplete { server, prompt, template, argument, value, context } = parse_body(&body)?;
    let of = match (&prompt, &template) {
        (Some(prompt), None) => CompletionTarget::Prompt(prompt),
        (None, Some(template)) => CompletionTarget::Template(template),
        _ => return Err(ApiError::unprocessable("name either a prompt or a template")),
    };
    let completing =
        CompletionRequest { target: of, argument: &argument, value: &value, context: &context };
    let lease = console.host.lease();
    let completion = console.host.complete(&lease, &server, &completing).await;
    let completion = completion.map_err(ApiError::unprocessable)?;
    Ok(reply::json(&completion))
}
