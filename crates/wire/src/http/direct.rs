//! A direct HTTP client for servers without TLS and proxy.
//!
//! The request that uses a connection also drives it, so no other task has to be woken for sending
//! or receiving, and the URL is parsed once instead of for every request.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HOST, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use reqwest::Url;
use switchboard_net::is_loopback;
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use super::client::{MAX_REDIRECTS, USER_AGENT_NAME, keeps_body};
use super::direct_body::{DirectBody, decompress};
use super::reply::{ResponseSource, WireResponse};
use crate::error::RequestError;

type RequestBody = Full<Bytes>;

/// Maximum number of idle connections; more are in use only at peaks.
const MAX_IDLE_CONNECTIONS: usize = 256;
/// How long an idle connection may be reused.
const MAX_IDLE_TIME: Duration = Duration::from_secs(90);
/// Environment variables that set a proxy for HTTP.
const PROXY_VARIABLES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];

#[derive(Clone, Copy, Debug)]
pub(super) struct RemoteAddress(pub(super) IpAddr);

/// A client for one URL, with its idle connections.
pub(super) struct DirectClient {
    name: String,
    port: u16,
    host: HeaderValue,
    url: Url,
    target: Uri,
    connect_limit: Duration,
    idle: Mutex<IdlePool>,
}

#[derive(Default)]
struct IdlePool {
    open: Vec<DirectConnection>,
    /// Whether a task that closes expired connections is running.
    is_watched: bool,
}

/// A connection, idle or used by one request.
pub(super) struct DirectConnection {
    sender: SendRequest<RequestBody>,
    connection: Box<Connection<TokioIo<TcpStream>, RequestBody>>,
    address: IpAddr,
    used: Instant,
}

/// A failed request; `unsent` returns it if no byte was sent.
struct SendFailure {
    why: String,
    unsent: Option<Request<RequestBody>>,
}

impl DirectClient {
    /// Creates a client for `url`; returns `None` if it needs TLS, a login or a proxy.
    pub(super) fn for_url(url: &Url, connect_limit: Duration) -> Option<Arc<Self>> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !is_direct(url, is_set) {
            return None;
        }
        let shown = url.host_str()?;
        let host = url.port().map_or_else(|| shown.to_owned(), |port| format!("{shown}:{port}"));
        // An IPv6 address is resolved without its brackets.
        let name = shown.trim_matches(['[', ']']).to_owned();
        Some(Arc::new(Self {
            name,
            port: url.port_or_known_default()?,
            host: HeaderValue::from_str(&host).ok()?,
            target: request_target(url)?,
            url: url.clone(),
            connect_limit,
            idle: Mutex::default(),
        }))
    }

    /// Posts `text`; the error says whether it may have been sent.
    pub(super) async fn post(
        self: &Arc<Self>,
        mut headers: HeaderMap,
        text: &Bytes,
    ) -> Result<WireResponse, RequestError> {
        headers.insert(HOST, self.host.clone());
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT_NAME));
        let mut target = self.target.clone();
        for _ in 0..MAX_REDIRECTS {
            let reply = self.send(request(&target, headers.clone(), text)).await?;
            match self.redirect_target(&reply) {
                Some(next) => target = next,
                None => return Ok(reply),
            }
        }
        self.send(request(&target, headers, text)).await
    }

    fn redirect_target(&self, reply: &WireResponse) -> Option<Uri> {
        if !keeps_body(reply.status()) {
            return None;
        }
        let to = self.url.join(reply.headers().get(LOCATION)?.to_str().ok()?).ok()?;
        if to.origin() == self.url.origin() { request_target(&to) } else { None }
    }

    async fn send(
        self: &Arc<Self>,
        mut request: Request<RequestBody>,
    ) -> Result<WireResponse, RequestError> {
        loop {
            let kept = self.take_idle().await;
            let is_kept = kept.is_some();
            let mut open = match kept {
                Some(open) => open,
                None => self.connect().await?,
            };
            match open.ask(request).await {
                Ok(response) => return self.build_response(response, open).await,
                // The server closed the idle connection; retry, since nothing was sent.
                Err(SendFailure { unsent: Some(again), .. }) if is_kept => request = again,
                Err(SendFailure { why, unsent: Some(_) }) => {
                    return Err(RequestError::NotSent(why));
                }
                Err(SendFailure { why, unsent: None }) => return Err(RequestError::Unknown(why)),
            }
        }
    }

    async fn take_idle(&self) -> Option<DirectConnection> {
        loop {
            // The most recently used one: the others may expire.
            let mut open = self.idle.lock().open.pop()?;
            if open.used.elapsed() < MAX_IDLE_TIME && open.is_alive().await {
                return Some(open);
            }
        }
    }

    async fn connect(&self) -> Result<DirectConnection, RequestError> {
        let connecting = async {
            let stream = TcpStream::connect((self.name.as_str(), self.port)).await?;
            stream.set_nodelay(true)?;
            Ok::<_, std::io::Error>((stream.peer_addr()?.ip(), stream))
        };
        let connected = tokio::time::timeout(self.connect_limit, connecting).await;
        let not_sent = |why: String| RequestError::NotSent(format!("no connection: {why}"));
        let (address, stream) = connected
            .map_err(|_| not_sent("the connection timed out".to_owned()))?
            .map_err(|error| not_sent(error.to_string()))?;
        let shaken = handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| not_sent(error.to_string()))?;
        let connection = Box::new(connection);
        Ok(DirectConnection { sender, connection, address, used: Instant::now() })
    }

    /// Builds the response; its body returns the connection to the pool at the end.
    async fn build_response(
        self: &Arc<Self>,
        response: Response<Incoming>,
        open: DirectConnection,
    ) -> Result<WireResponse, RequestError> {
        let answerer = RemoteAddress(open.address);
        let back = Arc::downgrade(self);
        let mut response = response.map(|incoming| DirectBody::new(incoming, open, back));
        response.extensions_mut().insert(answerer);
        if response.headers().contains_key(CONTENT_ENCODING) {
            return Box::pin(decompress(response)).await;
        }
        Ok(WireResponse(ResponseSource::Direct(response)))
    }

    pub(super) fn return_connection(self: &Arc<Self>, mut open: DirectConnection) {
        open.used = Instant::now();
        let mut idle = self.idle.lock();
        if idle.open.len() < MAX_IDLE_CONNECTIONS {
            idle.open.push(open);
        }
        if !idle.is_watched
            && let Ok(runtime) = Handle::try_current()
        {
            idle.is_watched = true;
            runtime.spawn(close_idle(Arc::downgrade(self)));
        }
    }
}

impl DirectConnection {
    async fn is_alive(&mut self) -> bool {
        poll_fn(|context| {
            let is_over = Pin::new(&mut self.connection).poll(context).is_ready();
            Poll::Ready(!is_over && self.sender.is_ready())
        })
        .await
    }

    /// Sends a request and waits for the head of the response.
    async fn ask(
        &mut self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, SendFailure> {
        let Self { sender, connection, .. } = self;
        let mut answer = pin!(sender.try_send_request(request));
        let mut is_over = false;
        let answered = poll_fn(|context| {
            // If the connection fails, the response future carries the error.
            is_over = is_over || Pin::new(&mut *connection).poll(context).is_ready();
            answer.as_mut().poll(context)
        });
        answered.await.map_err(|mut failed| {
            let unsent = failed.take_message();
            SendFailure { why: error_causes(failed.error()), unsent }
        })
    }

    /// Drives the connection; returns whether it has ended.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> bool {
        Pin::new(&mut self.connection).poll(context).is_ready()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }
}

/// Returns whether the URL is plain HTTP without a login and no proxy applies.
fn is_direct(url: &Url, is_set: impl Fn(&str) -> bool) -> bool {
    let has_login = !url.username().is_empty() || url.password().is_some();
    if url.scheme() != "http" || has_login || PROXY_VARIABLES.iter().any(|name| is_set(name)) {
        return false;
    }
    // On other systems, a proxy may be set in the system settings.
    cfg!(target_os = "linux") || is_loopback(url)
}

fn request(target: &Uri, headers: HeaderMap, text: &Bytes) -> Request<RequestBody> {
    let mut request = Request::new(Full::new(text.clone()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = target.clone();
    *request.headers_mut() = headers;
    request
}

fn request_target(url: &Url) -> Option<Uri> {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}{query}", url.path()).parse().ok()
}

/// Closes expired connections until none is left.
async fn close_idle(direct: Weak<DirectClient>) {
    loop {
        tokio::time::sleep(MAX_IDLE_TIME / 3).await;
        let Some(direct) = direct.upgrade() else { return };
        let mut idle = direct.idle.lock();
        idle.open.retain(|open| open.used.elapsed() < MAX_IDLE_TIME);
        // Ends with the last connection, so that an unused server costs no timer.
        if idle.open.is_empty() {
            idle.is_watched = false;
            return;
        }
    }
}

pub(super) fn error_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
