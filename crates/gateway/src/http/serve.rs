//! Serves clients over HTTP until told to end, then lets calls finish.
//!
//! The loop is our own because `axum::serve` waits for headers for ever.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::patient::Patient;
use super::post::router;
use super::{Door, Pages};
use crate::gateway::Gateway;

/// As many connections are open at once; beyond, new ones wait to be taken.
const CONNECTIONS: usize = 10_000;
/// How long to wait when the system has no room for another connection.
const OUT_OF_ROOM: Duration = Duration::from_millis(100);
/// How soon whoever may no longer call is noticed.
const LOOK: Duration = Duration::from_millis(500);
/// How soon the end of the last call is noticed.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// What a connection of HTTP/2 begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves whoever connects, until `stop`; then takes no more and waits for what runs. What else is
/// served at the same address, `pages`, checks for itself who is let in.
///
/// # Errors
/// When connections can no longer be taken.
pub async fn serve(
    gateway: Gateway,
    door: Door,
    pages: Pages,
    listener: TcpListener,
    stop: CancellationToken,
) -> io::Result<()> {
    let connections = TaskTracker::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let served = Served {
        router: router(gateway.clone(), door.clone(), pages),
        read_limit: gateway.options().read_limit,
        stop: stop.clone(),
    };
    tokio::spawn(look_after(gateway.clone(), door, stop.clone()));
    while let Some(stream) = stop.run_until_cancelled(next(&listener, &room)).await {
        let (stream, held) = stream?;
        let served = served.clone();
        connections.spawn(async move {
            served.connection(stream).await;
            drop(held);
        });
    }
    // From here on nobody can connect.
    drop(listener);
    gateway.end_streams();
    connections.close();
    // A client of the legacy era that hung up still has its calls.
    let all = async {
        connections.wait().await;
        while gateway.is_busy() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    // What is still there then is ended by whoever stops the gateway and its host.
    tokio::time::timeout(gateway.options().drain, all).await.ok();
    Ok(())
}

type Held = tokio::sync::OwnedSemaphorePermit;

async fn next(listener: &TcpListener, room: &Arc<Semaphore>) -> io::Result<(TcpStream, Held)> {
    let held = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Ok((stream, held)),
            // One that was given up while it waited says nothing about the others.
            Err(error) if is_of_one(&error) => {}
            // Too many open files, for example: connections that end make room.
            Err(_) => tokio::time::sleep(OUT_OF_ROOM).await,
        }
    }
}

fn is_of_one(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// What every connection is served with.
#[derive(Clone)]
struct Served {
    router: Router,
    read_limit: Duration,
    stop: CancellationToken,
}

impl Served {
    async fn connection(self, stream: TcpStream) {
        // Without it small answers wait for more to send; a connection that refuses is as good.
        stream.set_nodelay(true).ok();
        let speaks = tokio::time::timeout(self.read_limit, spoken(&stream));
        let Some(Ok(Some(spoken))) = self.stop.run_until_cancelled(speaks).await else { return };
        let mut builder = Builder::new(TokioExecutor::new());
        builder = match spoken {
            Spoken::One => builder.http1_only(),
            Spoken::Two => builder.http2_only(),
        };
        builder.http1().timer(TokioTimer::new()).header_read_timeout(self.read_limit);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(self.read_limit);
        let service = TowerToHyperService::new(self.router);
        let stream = Patient::new(stream, self.read_limit);
        let serving = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(serving);
        // A connection that breaks has nobody left to be told.
        if self.stop.run_until_cancelled(serving.as_mut()).await.is_none() {
            serving.as_mut().graceful_shutdown();
            serving.await.ok();
        }
    }
}

/// Which HTTP a connection speaks.
enum Spoken {
    One,
    Two,
}

/// Looks at the first bytes without taking them; nothing if the connection ends before.
async fn spoken(stream: &TcpStream) -> Option<Spoken> {
    let mut bytes = [0; PREFACE.len()];
    loop {
        let count = stream.peek(&mut bytes).await.ok().filter(|count| *count > 0)?;
        let seen = bytes.get(..count)?;
        if seen == PREFACE {
            return Some(Spoken::Two);
        }
        if !PREFACE.starts_with(seen) {
            return Some(Spoken::One);
        }
        // The rest of them is on its way.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Ends what belongs to callers who were let in and no longer would be, and streams whose proof has
/// run out.
async fn look_after(gateway: Gateway, door: Door, stop: CancellationToken) {
    let Some(keys) = door.keys else { return };
    while stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_some() {
        gateway.dismiss(|identity| keys.holds(identity));
        gateway.hang_up(|identity| keys.is_current(identity));
    }
}
