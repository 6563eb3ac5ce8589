//! Where HTTP requests arrive, and which era each of them belongs to.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, any};
use switchboard_wire::envelope::{self, Message};
use switchboard_wire::{Json, Revision};

use super::body::{json, read, refusal};
use super::door::only;
use super::nowhere::{Nowhere, Pages, nothing};
use super::{Door, elsewhere, legacy, modern, sse};
use crate::access::Access;
use crate::asked;
use crate::gateway::Gateway;

// Names made once: to look for one as text is to check its letters again each time.
pub(super) static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// What requests are answered with.
pub(super) struct Front {
    pub(super) gateway: Gateway,
    pub(super) door: Door,
    /// What a browser is shown where there is nothing.
    pub(super) nowhere: Option<Nowhere>,
}

/// Where is told how to get in.
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The endpoint `/mcp`, and `/sse` for clients of the first revision; beside it these pages.
pub fn router(gateway: Gateway, door: Door, pages: Pages) -> Router {
    let other_origins = (!door.origins.is_empty()).then(|| door.clone());
    let front = Arc::new(Front { gateway, door, nowhere: pages.nowhere });
    let own = Router::new()
        .route(
            "/mcp",
            ways("POST,GET,HEAD,DELETE").post(posted).get(legacy::listen).delete(legacy::leave),
        )
        .route("/sse", ways("GET,HEAD").get(sse::open))
        .route("/messages", ways("POST").post(sse::posted))
        .route(METADATA, ways("GET,HEAD").get(metadata))
        .route(&format!("{METADATA}/{{*path}}"), ways("GET,HEAD").get(metadata))
        .fallback(nothing)
        .with_state(front);
    let own = match other_origins {
        Some(door) => own.layer(from_fn_with_state(door, elsewhere::told)),
        None => own,
    };
    own.merge(pages.router)
}

/// Says to whoever asks in another way which ones there are.
fn ways(allowed: &'static str) -> MethodRouter<Arc<Front>> {
    any(async move |State(front): State<Arc<Front>>, uri: Uri, headers: HeaderMap| {
        front.door.only_in(allowed, &uri, &headers)
    })
}

/// Says how to get in, to whoever is not in yet.
async fn metadata(State(front): State<Arc<Front>>, uri: Uri, headers: HeaderMap) -> Response {
    if let Err(refused) = front.door.check(&uri, &headers) {
        return *refused;
    }
    match front.door.keys.as_ref().and_then(|keys| keys.metadata()) {
        Some(text) => json(StatusCode::OK, text.to_owned()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn posted(State(front): State<Arc<Front>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let access = match front.door.admit(&parts.uri, &parts.headers).await {
        Ok(access) => access,
        Err(refused) => return refused,
    };
    if let Some(refused) = not_json(&parts.headers) {
        return refused;
    }
    if parts.headers.contains_key(TRANSFER_ENCODING) && parts.headers.contains_key(CONTENT_LENGTH) {
        // Whoever is in between may have believed the other one, and taken the rest for a request.
        let mut refused =
            refusal(StatusCode::BAD_REQUEST, -32_600, "the body has two different lengths");
        refused.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return refused;
    }
    let body = match read(body, front.gateway.options()).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    take(&front, &parts.headers, access, &body).await
}

async fn take(front: &Arc<Front>, headers: &HeaderMap, access: Access, body: &Bytes) -> Response {
    if envelope::is_batch(body) {
        return legacy::batch(front, headers, &access, body);
    }
    let message = match envelope::read_strictly(body) {
        Ok(message) => message,
        Err(envelope::NotAMessage::NotJson) => {
            return refusal(StatusCode::BAD_REQUEST, -32_700, "the body is not JSON");
        }
        Err(envelope::NotAMessage::NotRpc | envelope::NotAMessage::Batch) => {
            return refusal(StatusCode::BAD_REQUEST, -32_600, "the body is no JSON-RPC message");
        }
        Err(envelope::NotAMessage::BadId) => {
            return refusal(StatusCode::BAD_REQUEST, -32_600, "an `id` is a string or a number");
        }
    };
    if is_modern(headers, &message) {
        modern::take(front, headers, &access, message).await
    } else {
        legacy::take(front, headers, &access, message).await
    }
}

/// A request that says which revision it speaks is of the modern era; so is one whose header does.
fn is_modern(headers: &HeaderMap, message: &Message) -> bool {
    let (method, params) = match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            (method.as_str(), params.as_ref())
        }
        Message::Response { .. } => ("", None),
    };
    let named = headers.get(&PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
    let legacy_header =
        named.and_then(Revision::parse).is_some_and(|revision| revision <= Revision::NEWEST_LEGACY);
    let says_so = |params: &Json| {
        asked::read(Some(params)).is_ok_and(|read| {
            read.meta.is_some_and(|meta| {
                meta.protocol_version.is_some() || meta.client_capabilities.is_some()
            })
        })
    };
    match method {
        "server/discover" => true,
        // A request that says which revision it speaks has no use for a handshake.
        "initialize" => params.is_some_and(says_so),
        // Answers belong to sessions: nobody is asked outside of one in the modern era.
        "" if headers.contains_key(&SESSION_ID) => false,
        // Within a session the header is to say what was agreed on; one that is not known is
        // refused there.
        _ if headers.contains_key(&SESSION_ID) && named != Some(Revision::NEWEST.as_str()) => {
            params.is_some_and(says_so)
        }
        // The header is looked at first: long parameters are not walked through for nothing.
        _ => named.is_some() && !legacy_header || params.is_some_and(says_so),
    }
}

/// A page of somebody else can post text without being asked, but no JSON. What is packed is not
/// unpacked: a few bytes could become very many.
pub(super) fn not_json(headers: &HeaderMap) -> Option<Response> {
    let kind = only(headers, &CONTENT_TYPE).ok().flatten().unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    let refused = |why: &str| Some(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32_600, why));
    if !kind.eq_ignore_ascii_case("application/json") {
        return refused("the `Content-Type` must be `application/json`");
    }
    let all_are = |name: HeaderName, plain: &[u8]| {
        headers.get_all(name).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(plain))
    };
    let is_plain = all_are(CONTENT_ENCODING, b"identity") && all_are(TRANSFER_ENCODING, b"chunked");
    if is_plain { None } else { refused("the body must not be packed") }
}
