//! HTTP in, HTTP out: one request for every request, headers and body as they came.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::post;
use bytes::Bytes;
use reqwest::{Client, Url};

use crate::error::Result;

struct HttpUpstream {
    client: Client,
    url: Url,
}

/// Everything that is posted goes to that address.
pub(super) fn router(url: &str) -> Result<Router> {
    switchboard_wire::http::prepare_tls();
    let client = Client::builder().tcp_nodelay(true).no_proxy().build()?;
    let upstream = HttpUpstream { client, url: url.parse()? };
    Ok(Router::new()
        .route("/mcp", post(forward))
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state(Arc::new(upstream)))
}

async fn forward(
    State(upstream): State<Arc<HttpUpstream>>,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    for name in [HOST, CONTENT_LENGTH, CONNECTION] {
        headers.remove(name);
    }
    let sent = upstream.client.post(upstream.url.clone()).headers(headers).body(body).send().await;
    let Ok(answer) = sent else { return bad_gateway() };
    let status = answer.status();
    let kind = answer.headers().get(CONTENT_TYPE).cloned();
    let Ok(body) = answer.bytes().await else { return bad_gateway() };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    if let Some(kind) = kind {
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    response
}

fn bad_gateway() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}
