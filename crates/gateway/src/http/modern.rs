//! Requests of the modern era: self-contained, with headers that must match the body.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::value::RawValue;
use switchboard_access::Access;
use switchboard_wire::{Json, Message, RpcError, param_headers};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::body::{
    accepted_response, bad_request, error_response, event_stream, json_response, json_with_permit,
    too_many_requests,
};
use super::router::{AppState, PROTOCOL_VERSION_HEADER};
use crate::client::ReplyChannel;
use crate::client_request;
use crate::client_request::{ClientRequest, ClientRequestParams, modern_client};
use crate::gateway::Gateway;
use crate::limits::RequestPermit;
use crate::reply::{ClientReply, response};
use crate::tasks::requested_task_id;

static METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
static NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

pub(super) async fn handle_message(
    front: &Arc<AppState>,
    headers: &HeaderMap,
    access: &Access,
    message: Message,
) -> Result<Response, Response> {
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (id, method, params),
        Message::Notification { .. } => return Ok(accepted_response()),
        Message::Response { .. } => {
            return Err(bad_request("this revision does not accept responses from clients"));
        }
    };
    let pass = front.gateway.admit_request(&access.identity);
    let pass = pass.map_err(|refused| too_many_requests(&id, refused))?;
    match parse_request(front, headers, access, &id, &method, params) {
        Ok((asked, messages)) => Ok(respond(&front.gateway, asked, messages, pass).await),
        // No call has started, so every error here is a 400.
        Err(error) => Err(json_response(StatusCode::BAD_REQUEST, response(&id, Err(&error)))),
    }
}

/// Checks the request's `_meta`, and its headers against its body.
fn parse_request(
    front: &AppState,
    headers: &HeaderMap,
    access: &Access,
    id: &Json,
    method: &str,
    params: Option<Json>,
) -> Result<(Box<ClientRequest>, Option<mpsc::Receiver<String>>), RpcError> {
    let read = client_request::parse_params(params.as_ref())?;
    let meta = read.meta.as_ref();
    let version = meta.and_then(|meta| meta.protocol_version.as_deref());
    check_header(headers, &PROTOCOL_VERSION_HEADER, version)?;
    let meta = meta.ok_or_else(|| client_request::missing_param("_meta"))?;
    let client = modern_client(meta, access)?;
    check_header(headers, &METHOD_HEADER, Some(method))?;
    let task = requested_task_id(method, params.as_ref());
    let about = match method {
        "tools/call" | "prompts/get" => read.name.as_deref(),
        "resources/read" => read.uri.as_deref(),
        _ => task.as_deref(),
    };
    if about.is_some() {
        check_header(headers, &NAME_HEADER, about)?;
    }
    if method == "tools/call" {
        check_param_headers(&front.gateway, headers, access, &read)?;
    }
    // A channel is needed only for requests that may get messages before their answer.
    let wants_more = meta.progress_token.is_some()
        || meta.log_level.is_some()
        || method == "subscriptions/listen";
    let (messages, stream) = wants_more.then(|| mpsc::channel(64)).unzip();
    let out = messages
        .map_or(ReplyChannel::Discard, |messages| ReplyChannel::Stream { messages, session: None });
    let asked = ClientRequest {
        client: Arc::new(client),
        out,
        id: id.clone(),
        method: method.to_owned(),
        params,
        parsed_params: OnceLock::from(Ok(read)),
        cancel: CancellationToken::new(),
    };
    // Boxed because it is large and moved several times.
    Ok((Box::new(asked), stream))
}

/// Responds with JSON, or with an event stream if messages came before the answer.
///
/// Closing the response cancels the request: this future, or the stream, is dropped.
async fn respond(
    gateway: &Gateway,
    asked: Box<ClientRequest>,
    messages: Option<mpsc::Receiver<String>>,
    pass: RequestPermit,
) -> Response {
    let revoked = || error_response(StatusCode::UNAUTHORIZED, -32_600, "this token was revoked");
    let (ReplyChannel::Stream { messages: sender, .. }, Some(mut messages)) =
        (asked.out.clone(), messages)
    else {
        return tokio::select! {
            biased;
            answer = gateway.answer(&asked) => answer_response(&asked.id, &answer, pass),
            () = pass.revoked_token().cancelled() => revoked(),
        };
    };
    let gateway = gateway.clone();
    let id = asked.id.clone();
    let mut answering = Box::pin(async move { gateway.answer(&asked).await });
    let first = tokio::select! {
        biased;
        answer = &mut answering => {
            // Messages may have arrived at the same time as the answer; they come first.
            let Ok(first) = messages.try_recv() else { return answer_response(&id, &answer, pass) };
            // Cannot be full: a message has just been received.
            _ = sender.try_send(response(&id, answer.as_ref()));
            return event_stream(Some(first), messages);
        }
        first = messages.recv() => first,
        () = pass.revoked_token().cancelled() => return revoked(),
    };
    // A task drives the rest; it ends when the client closes the stream.
    tokio::spawn(async move {
        let closed = sender.clone();
        tokio::select! {
            answer = answering => {
                // A failed send means that the client has closed the stream.
                _ = sender.send(response(&id, answer.as_ref())).await;
            }
            () = closed.closed() => {}
            () = pass.revoked_token().cancelled() => {}
        }
    });
    event_stream(first, messages)
}

fn answer_response(
    id: &Json,
    answer: &Result<ClientReply, RpcError>,
    pass: RequestPermit,
) -> Response {
    let status = answer.as_ref().err().map_or(StatusCode::OK, status_code);
    json_with_permit(status, response(id, answer.as_ref()), pass)
}

fn status_code(error: &RpcError) -> StatusCode {
    match error.code {
        RpcError::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ if error.is_modern() => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn check_header(
    headers: &HeaderMap,
    name: &HeaderName,
    expected: Option<&str>,
) -> Result<(), RpcError> {
    let mut values = headers.get_all(name).iter();
    let given = values.next().and_then(|value| value.to_str().ok()).map(decode_header);
    let is_duplicate = values.next().is_some();
    let why = match (given, expected) {
        // A proxy may have decided by the other one.
        _ if is_duplicate => format!("duplicate header `{name}`"),
        (Some(Some(given)), Some(expected)) if given == expected => return Ok(()),
        (_, None) => return Ok(()),
        (None, Some(_)) => format!("missing header `{name}`"),
        (Some(_), Some(_)) => format!("the header `{name}` does not match the body"),
    };
    Err(RpcError::new(RpcError::HEADER_MISMATCH, why))
}

/// Decodes a header value; text outside of ASCII comes in base64.
fn decode_header(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match inner {
        None => Some(value.trim().into()),
        Some(inner) => Some(String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok()?.into()),
    }
}

/// Checks the headers that must repeat arguments of the tool.
fn check_param_headers(
    gateway: &Gateway,
    headers: &HeaderMap,
    access: &Access,
    params: &ClientRequestParams,
) -> Result<(), RpcError> {
    let listing = gateway.catalog_view(&access.view);
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
        check_header(headers, &name, decode_header(&value).as_deref())?;
    }
    Ok(())
}
