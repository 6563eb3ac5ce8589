//! Routes of the HTTP listener, era detection, and the registry API of the directory.

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
use switchboard_access::Access;
use switchboard_net::single_header;
use switchboard_wire::{Json, Message, NotAMessage, Revision};

use super::body::{bad_request, error_response, json_response, read_body};
use super::not_found::{NotFoundPage, Pages, not_found};
use super::{AccessControl, cors, legacy, modern, sse};
use crate::client_request;
use crate::gateway::Gateway;

// Parsed once: a lookup by string validates the name every time.
pub(super) static PROTOCOL_VERSION_HEADER: HeaderName =
    HeaderName::from_static("mcp-protocol-version");
pub(super) static SESSION_ID_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// State shared by the handlers.
pub(super) struct AppState {
    pub(super) gateway: Gateway,
    pub(super) access: AccessControl,
    pub(super) not_found_page: Option<NotFoundPage>,
}

/// The path of the protected-resource metadata (RFC 9728).
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// Routes for `/mcp`, for `/sse` (clients of the first revision), and for `pages`.
pub fn http_router(gateway: Gateway, door: AccessControl, pages: Pages) -> Router {
    let other_origins = (!door.policy.origins.is_empty()).then(|| door.clone());
    let front = Arc::new(AppState { gateway, access: door, not_found_page: pages.not_found_page });
    let own = Router::new()
        .route(
            "/mcp",
            method_not_allowed("POST,GET,HEAD,DELETE")
                .post(handle_post)
                .get(legacy::open_stream)
                .delete(legacy::delete_session),
        )
        .route("/sse", method_not_allowed("GET,HEAD").get(sse::open_stream))
        .route("/messages", method_not_allowed("POST").post(sse::handle_post))
        .route(METADATA_PATH, method_not_allowed("GET,HEAD").get(serve_metadata))
        .route(
            &format!("{METADATA_PATH}/{{*path}}"),
            method_not_allowed("GET,HEAD").get(serve_metadata),
        )
        .fallback(not_found)
        .with_state(front);
    let own = match other_origins {
        Some(door) => own.layer(from_fn_with_state(door, cors::cors_middleware)),
        None => own,
    };
    own.merge(pages.router)
}

/// Responds to other methods with 405 and the `Allow` header.
fn method_not_allowed(allowed: &'static str) -> MethodRouter<Arc<AppState>> {
    any(async move |State(front): State<Arc<AppState>>, uri: Uri, headers: HeaderMap| {
        front.access.method_not_allowed(allowed, &uri, &headers)
    })
}

/// Serves the protected-resource metadata; clients read it before they have credentials.
async fn serve_metadata(
    State(front): State<Arc<AppState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Response> {
    front.access.check(&uri, &headers).map_err(|refused| *refused)?;
    Ok(match front.access.authenticator.as_ref().and_then(|keys| keys.metadata()) {
        Some(text) => json_response(StatusCode::OK, text.to_owned()),
        None => StatusCode::NOT_FOUND.into_response(),
    })
}

async fn handle_post(
    State(front): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let access = front.access.admit(&parts.uri, &parts.headers).await?;
    if let Some(refused) = reject_non_json(&parts.headers) {
        return Err(refused);
    }
    if parts.headers.contains_key(TRANSFER_ENCODING) && parts.headers.contains_key(CONTENT_LENGTH) {
        // Request smuggling: a proxy may have used the other length and seen a second request.
        let mut refused =
            bad_request("`Content-Length` and `Transfer-Encoding` exclude each other");
        refused.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return Err(refused);
    }
    let body = read_body(body, &front.gateway.inner.options).await?;
    handle_body(&front, &parts.headers, access, &body).await
}

async fn handle_body(
    front: &Arc<AppState>,
    headers: &HeaderMap,
    access: Access,
    body: &Bytes,
) -> Result<Response, Response> {
    if Message::is_batch(body) {
        return Ok(legacy::handle_batch(front, headers, &access, body));
    }
    let message = Message::parse_strict(body).map_err(|error| {
        let (code, why) = match error {
            NotAMessage::NotJson => (-32_700, "the body is not JSON"),
            NotAMessage::NotRpc | NotAMessage::Batch => {
                (-32_600, "the body is not a JSON-RPC message")
            }
            NotAMessage::BadId => (-32_600, "`id` must be a string or a number"),
        };
        error_response(StatusCode::BAD_REQUEST, code, why)
    })?;
    if is_modern(headers, &message) {
        modern::handle_message(front, headers, &access, message).await
    } else {
        legacy::handle_message(front, headers, &access, message).await
    }
}

/// Returns whether a request declares the modern era, in `_meta` or in its header.
fn is_modern(headers: &HeaderMap, message: &Message) -> bool {
    let (method, params) = match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            (method.as_str(), params.as_ref())
        }
        Message::Response { .. } => ("", None),
    };
    let named = headers.get(&PROTOCOL_VERSION_HEADER).and_then(|value| value.to_str().ok());
    let legacy_header =
        named.and_then(Revision::parse).is_some_and(|revision| revision <= Revision::NEWEST_LEGACY);
    let says_so = |params: &Json| {
        client_request::parse_params(Some(params)).is_ok_and(|read| {
            read.meta.is_some_and(|meta| {
                meta.protocol_version.is_some() || meta.client_capabilities.is_some()
            })
        })
    };
    match method {
        "server/discover" => true,
        // A modern request declares its revision and needs no handshake.
        "initialize" => params.is_some_and(says_so),
        // Responses belong to sessions: modern clients receive no requests.
        "" if headers.contains_key(&SESSION_ID_HEADER) => false,
        // In a session the header repeats the negotiated revision; `require_session` rejects
        // unknown ones.
        _ if headers.contains_key(&SESSION_ID_HEADER)
            && named != Some(Revision::NEWEST.as_str()) =>
        {
            params.is_some_and(says_so)
        }
        // The header is checked first, so that long parameters are not parsed needlessly.
        _ => named.is_some() && !legacy_header || params.is_some_and(says_so),
    }
}

/// Rejects bodies that are not JSON: a foreign page can post plain text without a preflight, but
/// not JSON. Rejects compressed bodies too: a few bytes could expand to very many.
pub(super) fn reject_non_json(headers: &HeaderMap) -> Option<Response> {
    let kind = single_header(headers, CONTENT_TYPE).ok().flatten().unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    let refused =
        |why: &str| Some(error_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32_600, why));
    if !kind.eq_ignore_ascii_case("application/json") {
        return refused("the `Content-Type` must be `application/json`");
    }
    let all_are = |name: HeaderName, plain: &[u8]| {
        headers.get_all(name).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(plain))
    };
    let is_plain = all_are(CONTENT_ENCODING, b"identity") && all_are(TRANSFER_ENCODING, b"chunked");
    if is_plain { None } else { refused("compressed bodies are not accepted") }
}

/// Serves the API of an MCP registry.
pub trait Directory: Send + Sync {
    /// Returns the status and JSON body for a path and query, as an admitted caller sees them.
    fn answer(&self, access: &Access, path: &str, query: &str) -> (u16, String);
}

struct DirectoryState {
    access: AccessControl,
    directory: Arc<dyn Directory>,
}

/// Routes for the registry API below `/v0.1`.
pub fn directory_router(door: AccessControl, directory: Arc<dyn Directory>) -> Router {
    let shown = Arc::new(DirectoryState { access: door, directory });
    let otherwise =
        async |State(shown): State<Arc<DirectoryState>>, uri: Uri, headers: HeaderMap| {
            shown.access.method_not_allowed("GET,HEAD", &uri, &headers)
        };
    Router::new().route("/v0.1/{*path}", any(otherwise).get(serve_directory)).with_state(shown)
}

async fn serve_directory(
    State(shown): State<Arc<DirectoryState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let access = shown.access.admit(&uri, &headers).await?;
    let query = uri.query().unwrap_or_default();
    let (status, text) = shown.directory.answer(&access, uri.path(), query);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok(json_response(status, text))
}
