//! What is told of the servers themselves, beside the MCP endpoint and behind the same door.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use axum::routing::any;

use super::AccessControl;
use super::body::json_response;
use crate::access::Access;

/// Answers as a registry of servers does.
pub trait Directory: Send + Sync {
    /// The status and the JSON for a path with its query, for somebody who was let in.
    fn answer(&self, access: &Access, path: &str, query: &str) -> (u16, String);
}

struct DirectoryState {
    access: AccessControl,
    directory: Arc<dyn Directory>,
}

/// The registry's API below `/v0.1`.
pub fn directory(door: AccessControl, directory: Arc<dyn Directory>) -> Router {
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
) -> Response {
    let access = match shown.access.admit(&uri, &headers).await {
        Ok(access) => access,
        Err(refused) => return refused,
    };
    let query = uri.query().unwrap_or_default();
    let (status, text) = shown.directory.answer(&access, uri.path(), query);
    json_response(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), text)
}
