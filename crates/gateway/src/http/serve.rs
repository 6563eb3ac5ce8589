//! The HTTP server: accepts connections, and drains calls in flight when it stops.
//!
//! Connections are accepted here because `axum::serve` has no timeout for headers.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::router::http_router;
use super::{AccessControl, Pages};
use crate::gateway::Gateway;

/// Maximum open connections; further ones wait in the accept queue.
const MAX_CONNECTIONS: usize = 10_000;
/// Retry delay after a failed accept, for example when file descriptors have run out.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Interval between checks for revoked callers.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Interval between checks for the end of the last call.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The connection preface of HTTP/2.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves connections until `stop` is cancelled; then accepts no more and drains calls in flight.
/// The routes of `pages` perform their own access checks.
pub async fn serve_http(
    gateway: Gateway,
    door: AccessControl,
    pages: Pages,
    listener: TcpListener,
    stop: CancellationToken,
) -> io::Result<()> {
    let connections = TaskTracker::new();
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let served = ConnectionServer {
        router: http_router(gateway.clone(), door.clone(), pages),
        read_limit: gateway.inner.options.read_limit,
        stop: stop.clone(),
    };
    tokio::spawn(enforce_revocation(gateway.clone(), door, stop.clone()));
    while let Some(stream) = stop.run_until_cancelled(accept(&listener, &room)).await {
        let (stream, held) = stream?;
        let served = served.clone();
        connections.spawn(async move {
            served.serve_connection(stream).await;
            // The permit counts until the connection is closed.
            drop(held);
        });
    }
    // From here on, connection attempts are refused.
    drop(listener);
    gateway.end_streams();
    connections.close();
    // Calls of a legacy client continue after it has disconnected.
    let all = async {
        connections.wait().await;
        while gateway.is_busy() {
            sleep(DRAIN_POLL_INTERVAL).await;
        }
    };
    // Requests that outlast the drain end when the gateway and its host stop.
    _ = tokio::time::timeout(gateway.inner.options.drain, all).await;
    Ok(())
}

type ConnectionPermit = tokio::sync::OwnedSemaphorePermit;

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, ConnectionPermit)> {
    let held = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Ok((stream, held)),
            // A connection that was reset while it was queued does not affect the others.
            Err(error) if is_connection_error(&error) => {}
            // For example, too many open files: closing connections will free some.
            Err(_) => sleep(ACCEPT_RETRY_DELAY).await,
        }
    }
}

fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

#[derive(Clone)]
struct ConnectionServer {
    router: Router,
    read_limit: Duration,
    stop: CancellationToken,
}

impl ConnectionServer {
    async fn serve_connection(self, stream: TcpStream) {
        // Without it, small answers are delayed; a failure to set it is harmless.
        _ = stream.set_nodelay(true);
        let speaks = tokio::time::timeout(self.read_limit, detect_http_version(&stream));
        let Some(Ok(Some(spoken))) = self.stop.run_until_cancelled(speaks).await else { return };
        let mut builder = Builder::new(TokioExecutor::new());
        builder = match spoken {
            HttpVersion::Http1 => builder.http1_only(),
            HttpVersion::Http2 => builder.http2_only(),
        };
        builder.http1().timer(TokioTimer::new()).header_read_timeout(self.read_limit);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(self.read_limit);
        let service = TowerToHyperService::new(self.router);
        // hyper limits how long a client may take to send, but not how long it may take to read.
        let stream = WriteTimeoutStream::new(stream, self.read_limit);
        let serving = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(serving);
        if self.stop.run_until_cancelled(serving.as_mut()).await.is_none() {
            serving.as_mut().graceful_shutdown();
            // The connection is closing; an error has no receiver.
            _ = serving.await;
        }
    }
}

enum HttpVersion {
    Http1,
    Http2,
}

/// Peeks at the first bytes of a connection; `None` if it is closed before they arrive.
async fn detect_http_version(stream: &TcpStream) -> Option<HttpVersion> {
    let mut bytes = [0; HTTP2_PREFACE.len()];
    loop {
        let count = stream.peek(&mut bytes).await.ok().filter(|count| *count > 0)?;
        let seen = bytes.get(..count)?;
        if seen == HTTP2_PREFACE {
            return Some(HttpVersion::Http2);
        }
        if !HTTP2_PREFACE.starts_with(seen) {
            return Some(HttpVersion::Http1);
        }
        // The rest of the preface has not arrived yet. Peeking leaves the bytes in the socket,
        // which therefore stays readable and cannot be waited for.
        sleep(Duration::from_millis(5)).await;
    }
}

/// Periodically ends the calls of revoked callers, and the streams of expired credentials.
async fn enforce_revocation(gateway: Gateway, door: AccessControl, stop: CancellationToken) {
    let Some(keys) = door.authenticator else { return };
    while stop.run_until_cancelled(sleep(POLL_INTERVAL)).await.is_some() {
        gateway.end_revoked_callers(|identity| keys.is_still_valid(identity));
        gateway.end_expired_streams(|identity| keys.is_current(identity));
    }
}

/// A connection that fails if a write makes no progress for too long. Unread answers would
/// otherwise be kept in memory forever.
struct WriteTimeoutStream {
    stream: TcpStream,
    limit: Duration,
    /// Set while a write is blocked.
    stall_timer: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeoutStream {
    pub(super) const fn new(stream: TcpStream, limit: Duration) -> Self {
        Self { stream, limit, stall_timer: None }
    }

    fn fail_if_stalled(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        // Any progress restarts the limit: a slow reader of a long answer is not stalled.
        if written.is_ready() {
            self.stall_timer = None;
            return written;
        }
        let limit = self.limit;
        let stuck = self.stall_timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        stuck.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeoutStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for WriteTimeoutStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.fail_if_stalled(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.fail_if_stalled(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
