//! The proxy. A test may change its certificate, its upstream and its network conditions.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::streams::{Farewell, narrow, turn_away};
use super::weather::{Weather, carry};
use crate::background::BackgroundServer;
use crate::certificates::ServerCertificate;

/// A running proxy, stopped when the value is dropped.
pub struct ProxyFront {
    state: Arc<FrontState>,
    server: BackgroundServer,
}

struct FrontState {
    leads_to: Mutex<String>,
    shown: Mutex<Option<(ServerCertificate, Vec<&'static str>)>>,
    weather: Arc<Mutex<Weather>>,
    farewells: Mutex<Vec<Farewell>>,
    streams: Mutex<Option<u32>>,
    accepted: AtomicUsize,
    /// Closes the open connections when cancelled.
    open: Mutex<CancellationToken>,
}

impl ProxyFront {
    /// Starts a plain-text proxy in front of the server at `origin`: `http://` and an address.
    pub fn start(origin: &str) -> Self {
        let state = Arc::new(FrontState {
            leads_to: Mutex::new(origin_address(origin)),
            shown: Mutex::default(),
            weather: Arc::default(),
            farewells: Mutex::default(),
            streams: Mutex::default(),
            accepted: AtomicUsize::new(0),
            open: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        Self { state, server: BackgroundServer::start(move |listener| serve(listener, shared)) }
    }

    /// Starts a TLS proxy with this certificate, for HTTP/1.1 and HTTP/2.
    pub fn secure(origin: &str, certificate: &ServerCertificate) -> Self {
        let front = Self::start(origin);
        front.show(certificate, &["h2", "http/1.1"]);
        front
    }

    /// URL of the MCP server behind the proxy, with a host name or IP address of this machine.
    pub fn url(&self, host: &str) -> String {
        let scheme = if lock(&self.state.shown).is_some() { "https" } else { "http" };
        format!("{scheme}://{host}:{}/mcp", self.server.address.port())
    }

    /// Sets the certificate and the ALPN protocols of new connections.
    pub fn show(&self, certificate: &ServerCertificate, protocols: &[&'static str]) {
        *lock(&self.state.shown) = Some((certificate.clone(), protocols.to_vec()));
    }

    /// Sets the upstream of new connections.
    pub fn lead_to(&self, origin: &str) {
        *lock(&self.state.leads_to) = origin_address(origin);
    }

    /// Sets the network conditions, also of open connections.
    pub fn weather(&self, weather: Weather) {
        *lock(&self.state.weather) = weather;
    }

    /// Makes the next HTTP/2 connections refuse their requests, one farewell each, in this order.
    pub fn turn_away(&self, farewells: &[Farewell]) {
        // Reversed, because connections take theirs from the end.
        *lock(&self.state.farewells) = farewells.iter().rev().copied().collect();
    }

    /// Limits the concurrent streams of new HTTP/2 connections.
    pub fn narrow(&self, streams: u32) {
        *lock(&self.state.streams) = Some(streams);
    }

    /// Closes the open connections.
    pub fn cut(&self) {
        std::mem::take(&mut *lock(&self.state.open)).cancel();
    }

    /// Number of connections that were accepted so far.
    pub fn accepted_connections(&self) -> usize {
        self.state.accepted.load(Ordering::SeqCst)
    }
}

async fn serve(listener: TcpListener, state: Arc<FrontState>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let number = state.accepted.fetch_add(1, Ordering::SeqCst);
        let cut = lock(&state.open).clone();
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            // Both endpoints see how the connection ends, so the result is not needed here.
            cut.run_until_cancelled(connect(stream, &state, number as u64)).await;
        });
    }
}

async fn connect(stream: TcpStream, state: &FrontState, seed: u64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let shown = lock(&state.shown).clone();
    let Some((certificate, protocols)) = shown else {
        return between(stream, state, seed, None).await;
    };
    let acceptor = TlsAcceptor::from(certificate.server(&protocols));
    let stream = acceptor.accept(stream).await?;
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    if !is_http2 {
        return between(stream, state, seed, None).await;
    }
    let farewell = lock(&state.farewells).pop();
    match farewell {
        Some(farewell) => turn_away(stream, farewell).await,
        None => {
            let streams = *lock(&state.streams);
            between(stream, state, seed, streams).await
        }
    }
}

/// Forwards bytes in both directions; `streams` limits the concurrent streams of HTTP/2.
async fn between<S>(
    client: S,
    state: &FrontState,
    seed: u64,
    streams: Option<u32>,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let server = upstream(state).await?;
    let (from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, to_server) = server.into_split();
    let weather = || Arc::clone(&state.weather);
    let up = carry(from_client, to_server, weather(), seed);
    let down = async {
        if let Some(streams) = streams {
            narrow(&mut from_server, &mut to_client, streams).await?;
        }
        // Another seed, so that the two directions do not lose the same pieces.
        carry(from_server, to_client, weather(), seed.rotate_left(17)).await
    };
    tokio::try_join!(up, down).map(|_| ())
}

async fn upstream(state: &FrontState) -> io::Result<TcpStream> {
    let address = lock(&state.leads_to).clone();
    let server = TcpStream::connect(address).await?;
    server.set_nodelay(true)?;
    Ok(server)
}

fn origin_address(origin: &str) -> String {
    origin.strip_prefix("http://").unwrap_or(origin).trim_end_matches('/').to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}
