//! Requests of the modern era: each stands alone, with headers that repeat what it says.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::value::RawValue;
use switchboard_wire::envelope::Message;
use switchboard_wire::http::param_headers;
use switchboard_wire::{Json, RpcError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::body::{accepted, events, full, json, refusal};
use super::post::Front;
use crate::access::Access;
use crate::asked::{self, Asked, Params, modern_client};
use crate::client::Out;
use crate::envelope::response;
use crate::gateway::Gateway;
use crate::limits::Pass;
use crate::tasks::task_in;

/// Takes one message.
pub(super) async fn take(
    front: &Arc<Front>,
    headers: &HeaderMap,
    access: &Access,
    message: Message,
) -> Response {
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (id, method, params),
        Message::Notification { .. } => return accepted(),
        Message::Response { .. } => {
            let why = "answers have no place in this revision of the protocol";
            return refusal(StatusCode::BAD_REQUEST, -32_600, why);
        }
    };
    let pass = match front.gateway.enter(&access.identity) {
        Ok(pass) => pass,
        Err(refused) => return full(&id, refused),
    };
    match ask(front, headers, access, (&id, &method, params)) {
        Ok(asked) => answer(&front.gateway, asked, pass).await,
        Err(error) => json(status_of(&error), response(&id, Err(&error))),
    }
}

/// Checks a request against its headers.
fn ask(
    front: &Front,
    headers: &HeaderMap,
    access: &Access,
    (id, method, params): (&Json, &str, Option<Json>),
) -> Result<(Asked, mpsc::Receiver<String>), RpcError> {
    let read = asked::read(params.as_ref())?;
    let meta = read.meta.as_ref();
    let version = meta.and_then(|meta| meta.protocol_version.as_deref());
    same(headers, "mcp-protocol-version", version)?;
    let meta = meta.ok_or_else(|| asked::missing("_meta"))?;
    let client = modern_client(meta, access)?;
    same(headers, "mcp-method", Some(method))?;
    let task = task_in(method, params.as_ref());
    let about = match method {
        "tools/call" | "prompts/get" => read.name.as_deref(),
        "resources/read" => read.uri.as_deref(),
        _ => task.as_deref(),
    };
    if about.is_some() {
        same(headers, "mcp-name", about)?;
    }
    if method == "tools/call" {
        check_mirrored(&front.gateway, headers, access, &read)?;
    }
    let (messages, stream) = mpsc::channel(64);
    let asked = Asked {
        client: Arc::new(client),
        out: Out::Stream { messages, session: None },
        id: id.clone(),
        method: method.to_owned(),
        params,
        read: OnceLock::from(Ok(read)),
        cancel: CancellationToken::new(),
    };
    Ok((asked, stream))
}

/// The answer as JSON, or as the end of a stream where something came before it.
///
/// Whoever closes the response gives the request up: then this future, or the stream, is dropped.
async fn answer(
    gateway: &Gateway,
    (asked, mut messages): (Asked, mpsc::Receiver<String>),
    pass: Pass,
) -> Response {
    let (gateway, id) = (gateway.clone(), asked.id.clone());
    let sender = match &asked.out {
        Out::Stream { messages, .. } => messages.clone(),
        Out::Pipe(_) => return accepted(),
    };
    let mut answering = Box::pin(async move { gateway.answer(&asked).await });
    let first = tokio::select! {
        biased;
        answer = &mut answering => {
            let text = response(&id, answer.as_ref());
            // What was said on the way may be here at the same time.
            let Ok(first) = messages.try_recv() else {
                let status = answer.as_ref().err().map_or(StatusCode::OK, status_of);
                return json(status, text);
            };
            // There is room: one has just been taken out.
            sender.try_send(text).ok();
            return events(Some(first), messages);
        }
        first = messages.recv() => first,
        () = pass.over().cancelled() => {
            return refusal(StatusCode::UNAUTHORIZED, -32_600, "this token no longer counts");
        }
    };
    // The rest is driven by a task that ends when nobody reads the stream any more.
    tokio::spawn(async move {
        let closed = sender.clone();
        tokio::select! {
            answer = answering => {
                sender.send(response(&id, answer.as_ref())).await.ok();
            }
            () = closed.closed() => {}
            () = pass.over().cancelled() => {}
        }
    });
    events(first, messages)
}

fn status_of(error: &RpcError) -> StatusCode {
    match error.code {
        RpcError::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ if error.is_modern() => StatusCode::BAD_REQUEST,
        RpcError::INVALID_PARAMS if error.message.contains("`_meta") => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// A header must repeat what the body says.
fn same(headers: &HeaderMap, name: &str, expected: Option<&str>) -> Result<(), RpcError> {
    if headers.get_all(name).iter().nth(1).is_some() {
        let why = format!("the header `{name}` comes twice");
        return Err(RpcError::new(RpcError::HEADER_MISMATCH, why));
    }
    let given = headers.get(name).and_then(|value| value.to_str().ok()).map(decoded);
    let why = match (given, expected) {
        (Some(Some(given)), Some(expected)) if given == expected => return Ok(()),
        (_, None) => return Ok(()),
        (None, Some(_)) => format!("the header `{name}` is missing"),
        (Some(_), Some(_)) => format!("the header `{name}` is not what the body says"),
    };
    Err(RpcError::new(RpcError::HEADER_MISMATCH, why))
}

/// A header's value; some are in base64.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match inner {
        None => Some(value.trim().into()),
        Some(inner) => Some(String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok()?.into()),
    }
}

/// Arguments that a tool wants repeated in headers must be the same there.
fn check_mirrored(
    gateway: &Gateway,
    headers: &HeaderMap,
    access: &Access,
    params: &Params,
) -> Result<(), RpcError> {
    let listing = gateway.listing(&access.view);
    let Some(target) = params.name.as_deref().and_then(|name| listing.tool(name)) else {
        return Ok(());
    };
    let server = listing.lease.fleet().servers.get(target.server.as_str());
    let tool = server.and_then(|server| server.offers.tool(&target.name));
    let Some(tool) = tool.filter(|tool| tool.facts().has_mirrored_arguments) else {
        return Ok(());
    };
    let schema = tool.definition().input_schema.map(RawValue::get).unwrap_or_default();
    let schema = serde_json::from_str(schema).unwrap_or_default();
    let arguments = params.arguments.as_ref().and_then(|given| given.read().ok());
    let arguments = arguments.unwrap_or_else(|| serde_json::json!({}));
    for (name, value) in param_headers(&schema, &arguments).unwrap_or_default() {
        same(headers, &name.to_ascii_lowercase(), decoded(&value).as_deref())?;
    }
    Ok(())
}
