//! Requests of the modern era: each stands alone, with headers that repeat what it says.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::value::RawValue;
use switchboard_wire::envelope::Message;
use switchboard_wire::http::param_headers;
use switchboard_wire::{Json, RpcError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::body::{accepted, counted, events, full, json, refusal};
use super::post::{Front, PROTOCOL_VERSION};
use crate::access::Access;
use crate::answer::Reply;
use crate::asked::{self, Asked, Params, modern_client};
use crate::client::Out;
use crate::envelope::response;
use crate::gateway::Gateway;
use crate::limits::Pass;
use crate::tasks::task_in;

static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

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
        // Whatever is wrong with what a request says of itself, nothing of it was begun.
        Err(error) => json(StatusCode::BAD_REQUEST, response(&id, Err(&error))),
    }
}

/// Checks what a request says of itself, and that its headers say the same.
fn ask(
    front: &Front,
    headers: &HeaderMap,
    access: &Access,
    (id, method, params): (&Json, &str, Option<Json>),
) -> Result<(Box<Asked>, Option<mpsc::Receiver<String>>), RpcError> {
    let read = asked::read(params.as_ref())?;
    let meta = read.meta.as_ref();
    let version = meta.and_then(|meta| meta.protocol_version.as_deref());
    same(headers, &PROTOCOL_VERSION, version)?;
    let meta = meta.ok_or_else(|| asked::missing("_meta"))?;
    let client = modern_client(meta, access)?;
    same(headers, &METHOD, Some(method))?;
    let task = task_in(method, params.as_ref());
    let about = match method {
        "tools/call" | "prompts/get" => read.name.as_deref(),
        "resources/read" => read.uri.as_deref(),
        _ => task.as_deref(),
    };
    if about.is_some() {
        same(headers, &NAME, about)?;
    }
    if method == "tools/call" {
        check_mirrored(&front.gateway, headers, access, &read)?;
    }
    // Most requests are answered, and that is all.
    let wants_more = meta.progress_token.is_some()
        || meta.log_level.is_some()
        || method == "subscriptions/listen";
    let (messages, stream) = wants_more.then(|| mpsc::channel(64)).unzip();
    let out = messages.map_or(Out::Nowhere, |messages| Out::Stream { messages, session: None });
    let asked = Asked {
        client: Arc::new(client),
        out,
        id: id.clone(),
        method: method.to_owned(),
        params,
        read: OnceLock::from(Ok(read)),
        cancel: CancellationToken::new(),
    };
    // Boxed: it is handed on a few times, and is no small thing.
    Ok((Box::new(asked), stream))
}

/// The answer as JSON, or as the end of a stream where something came before it.
///
/// Whoever closes the response gives the request up: then this future, or the stream, is dropped.
async fn answer(
    gateway: &Gateway,
    (asked, messages): (Box<Asked>, Option<mpsc::Receiver<String>>),
    pass: Pass,
) -> Response {
    let revoked = || refusal(StatusCode::UNAUTHORIZED, -32_600, "this token no longer counts");
    let (Out::Stream { messages: sender, .. }, Some(mut messages)) = (asked.out.clone(), messages)
    else {
        return tokio::select! {
            biased;
            answer = gateway.answer(&asked) => answered(&asked.id, &answer, pass),
            () = pass.over().cancelled() => revoked(),
        };
    };
    let (gateway, id) = (gateway.clone(), asked.id.clone());
    let mut answering = Box::pin(async move { gateway.answer(&asked).await });
    let first = tokio::select! {
        biased;
        answer = &mut answering => {
            // What was said on the way may be here at the same time.
            let Ok(first) = messages.try_recv() else { return answered(&id, &answer, pass) };
            // There is room: one has just been taken out.
            sender.try_send(response(&id, answer.as_ref())).ok();
            return events(Some(first), messages);
        }
        first = messages.recv() => first,
        () = pass.over().cancelled() => return revoked(),
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

fn answered(id: &Json, answer: &Result<Reply, RpcError>, pass: Pass) -> Response {
    let status = answer.as_ref().err().map_or(StatusCode::OK, status_of);
    counted(status, response(id, answer.as_ref()), pass)
}

fn status_of(error: &RpcError) -> StatusCode {
    match error.code {
        RpcError::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ if error.is_modern() => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// A header must repeat what the body says.
fn same(headers: &HeaderMap, name: &HeaderName, expected: Option<&str>) -> Result<(), RpcError> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        let why = format!("the header `{name}` comes twice");
        return Err(RpcError::new(RpcError::HEADER_MISMATCH, why));
    }
    let given = first.and_then(|value| value.to_str().ok()).map(decoded);
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
        let name = HeaderName::try_from(name)
            .map_err(|error| RpcError::new(RpcError::HEADER_MISMATCH, error.to_string()))?;
        same(headers, &name, decoded(&value).as_deref())?;
    }
    Ok(())
}
