//! Responses for unknown paths, which list the paths that are served.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use switchboard_wire::RpcError;

use super::body::error_response;
use super::router::AppState;

/// Further routes on the same listener. They perform their own access checks.
#[derive(Clone, Default)]
pub struct Pages {
    pub router: Router,
    /// Renders the page that a browser gets for an unknown path.
    pub not_found_page: Option<NotFoundPage>,
}

/// Renders the 404 page for a browser; `None` if the request does not accept one.
pub type NotFoundPage = Arc<dyn Fn(&Method, &Uri, &HeaderMap) -> Option<Response> + Send + Sync>;

/// Responds to an unknown path. Callers must be admitted to learn which paths are served; the page
/// for browsers reveals only the console and needs no credentials.
pub(super) async fn not_found(
    State(front): State<Arc<AppState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Response> {
    // First: a foreign page, or a name that was rebound to this machine, learns nothing.
    front.access.check(&uri, &headers).map_err(|refused| *refused)?;
    if let Some(page) = front.not_found_page.as_ref().and_then(|page| page(&method, &uri, &headers))
    {
        return Ok(page);
    }
    front.access.admit(&uri, &headers).await?;
    let console = if front.not_found_page.is_some() { ", the console at `/`" } else { "" };
    let why = format!(
        "not found: MCP is served at `/mcp` (`/sse` for clients of revision 2024-11-05){console}"
    );
    // Clients that probe for the transport parse the body; people with a terminal read it.
    if method == Method::POST || accepts_json(&headers) {
        return Err(error_response(StatusCode::NOT_FOUND, RpcError::METHOD_NOT_FOUND, why));
    }
    Ok((StatusCode::NOT_FOUND, format!("{why}\n")).into_response())
}

fn accepts_json(headers: &HeaderMap) -> bool {
    // Either header shows a program that parses JSON.
    let says = |name: &HeaderName| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.to_ascii_lowercase().contains("application/json"))
    };
    says(&ACCEPT) || says(&CONTENT_TYPE)
}
