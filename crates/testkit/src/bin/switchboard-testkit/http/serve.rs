//! Listens on loopback, prints the address, and selects the HTTP stack.

use std::io::{self, Read, Write};
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
use super::raw;
use super::reply::{FixtureReply, FixtureRequest, ReplyBody};
use crate::options::{FixtureOptions, FixtureTransport};
use crate::server::FixtureServer;

pub(crate) async fn serve(server: Arc<FixtureServer>) {
    let options = &server.options;
    let path = if options.transport == FixtureTransport::Sse { "/sse" } else { "/mcp" };
    let listener = listen(options, path).await;
    // Only the hand-written stack can write malformed responses.
    let flaky = server.fault().is_some();
    let endpoint = Arc::new(FixtureEndpoint::new(server));
    if flaky {
        raw::serve(listener, endpoint).await;
    } else {
        serve_axum(listener, endpoint).await;
    }
}

/// Binds a loopback port and prints its URL to standard output.
pub(crate) async fn listen(options: &FixtureOptions, path: &str) -> TcpListener {
    let port = options.port;
    let listener = TcpListener::bind(("127.0.0.1", port)).await;
    let listener = listener.unwrap_or_else(|cause| panic!("port {port}: {cause}"));
    let address = listener.local_addr().expect("a bound listener has an address");
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "listening http://{address}{path}").expect("standard output is open");
    stdout.flush().expect("standard output is open");
    drop(stdout);
    if options.until_stdin_closes {
        std::thread::spawn(end_with_input);
    }
    listener
}

#[expect(clippy::exit, reason = "whoever started this server is gone")]
fn end_with_input() {
    let mut rest = [0; 64];
    while io::stdin().read(&mut rest).is_ok_and(|count| count > 0) {}
    std::process::exit(0);
}

pub(crate) async fn serve_axum(listener: TcpListener, endpoint: Arc<FixtureEndpoint>) {
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
