//! Puts the endpoint behind axum, for servers that behave.

use std::sync::Arc;

use axum::Router;
use axum::body::Body as AxumBody;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::serve::ListenerExt;
use futures_util::stream;
use tokio::net::TcpListener;

use super::endpoint::FixtureEndpoint;
use super::reply::{FixtureReply, FixtureRequest, ReplyBody};

pub(crate) async fn serve(listener: TcpListener, endpoint: Arc<FixtureEndpoint>) {
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let router = Router::new().fallback(handle).with_state(endpoint);
    axum::serve(listener, router).await.expect("a loopback listener goes on accepting");
}

async fn handle(State(endpoint): State<Arc<FixtureEndpoint>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
        return response(FixtureReply::empty(400));
    };
    let asked = FixtureRequest {
        verb: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
        body,
    };
    response(endpoint.handle(asked).await)
}

fn response(reply: FixtureReply) -> Response {
    let body = match reply.body {
        ReplyBody::Full(text) => AxumBody::from(text),
        ReplyBody::Stream(pieces) => {
            AxumBody::from_stream(stream::unfold(pieces, async |mut pieces| {
                let piece = pieces.recv().await?;
                Some((Ok::<_, std::convert::Infallible>(piece), pieces))
            }))
        }
        ReplyBody::Wire(_) => panic!("faults are not served by this stack"),
    };
    let status = StatusCode::from_u16(reply.status).expect("replies have a status");
    let mut response = Response::builder().status(status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(body).expect("replies have headers that fit")
}
