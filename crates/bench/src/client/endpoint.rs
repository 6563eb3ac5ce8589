//! Requests to a gateway over HTTP, in the protocol that it speaks, and the parsing of its answers.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;
use parking_lot::Mutex;

use super::floor::ResultLine;
use super::http_connection::{HttpConnection, HttpReply};
use super::run::INITIALIZE;
use crate::error::{BenchError, Result};
use crate::load::LoadClient;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// The protocol of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EndpointProtocol {
    /// Revision 2026-07-28, which has no sessions.
    Modern,
    /// Revision 2025-11-25, with one session for all connections.
    Legacy,
    /// Revision 2025-11-25, with one session per connection.
    Sessions,
    /// No MCP: the tool is a path, its arguments are the body.
    Plain,
}

pub(crate) struct BenchEndpoint {
    address: String,
    path: String,
    tool: String,
    speech: EndpointProtocol,
    session: Mutex<Option<String>>,
    pool: Mutex<VecDeque<HttpConnection>>,
    next_id: AtomicU64,
}

/// A client that calls one tool with one text.
#[derive(Clone)]
pub(crate) struct EndpointCaller {
    endpoint: Arc<BenchEndpoint>,
    params: Arc<str>,
}

impl BenchEndpoint {
    /// Opens a first connection, and the session if all connections share one.
    pub(crate) async fn open(url: &str, tool: &str, speech: EndpointProtocol) -> Result<Self> {
        let rest = url.strip_prefix("http://").ok_or("the address is not HTTP")?;
        let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
        let endpoint = Self {
            address: address.to_owned(),
            path: format!("/{path}"),
            tool: tool.to_owned(),
            speech,
            session: Mutex::default(),
            pool: Mutex::default(),
            next_id: AtomicU64::new(1),
        };
        let mut connection = HttpConnection::open(&endpoint.address).await?;
        if speech == EndpointProtocol::Legacy {
            let session = endpoint.greet(&mut connection).await?;
            *endpoint.session.lock() = session;
        }
        Ok(endpoint)
    }

    /// Brings the pool to exactly `count` open connections.
    pub(crate) async fn connect(&self, count: usize) -> Result<()> {
        let mut pool = std::mem::take(&mut *self.pool.lock());
        pool.retain(HttpConnection::is_good);
        pool.truncate(count);
        while pool.len() < count {
            let mut connection = HttpConnection::open(&self.address).await?;
            if self.speech == EndpointProtocol::Sessions {
                connection.session = self.greet(&mut connection).await?;
            }
            pool.push_back(connection);
        }
        *self.pool.lock() = pool;
        Ok(())
    }

    /// Makes one request on a new connection and returns the JSON of the result.
    pub(crate) async fn request(&self, method: &str, params: &str) -> Result<String> {
        let mut connection = HttpConnection::open(&self.address).await?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let request = self.message(&connection, Some(id), method, params);
        let reply = connection.exchange(&request).await?;
        let answer = answer_in(&reply, id)?;
        Ok(answer.result.get().to_owned())
    }

    async fn greet(&self, connection: &mut HttpConnection) -> Result<Option<String>> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let request = self.message(connection, Some(id), "initialize", INITIALIZE);
        let reply = connection.exchange(&request).await?;
        answer_in(&reply, id)?;
        let session = reply.session;
        connection.session.clone_from(&session);
        let note = self.message(connection, None, "notifications/initialized", "{}");
        connection.exchange(&note).await?;
        Ok(session)
    }

    fn message(
        &self,
        connection: &HttpConnection,
        id: Option<u64>,
        method: &str,
        params: &str,
    ) -> Vec<u8> {
        let shared = self.session.lock();
        let session = connection.session.as_ref().or(shared.as_ref());
        let Self { address, path, tool, speech, .. } = self;
        let mut body = String::with_capacity(params.len() + 96);
        let mut head = String::with_capacity(params.len() + 512);
        // Writing to a `String` cannot fail.
        match (speech, id) {
            (EndpointProtocol::Plain, _) => body.push_str(params),
            (_, Some(id)) => {
                _ = write!(
                    body,
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
                );
            }
            (_, None) => _ = write!(body, r#"{{"jsonrpc":"2.0","method":"{method}"}}"#),
        }
        _ = write!(
            head,
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n"
        );
        match speech {
            EndpointProtocol::Modern => {
                _ = write!(
                    head,
                    "mcp-protocol-version: {MODERN}\r\nmcp-method: {method}\r\nmcp-name: {tool}\r\n"
                );
            }
            EndpointProtocol::Legacy | EndpointProtocol::Sessions => {
                _ = write!(head, "mcp-protocol-version: {LEGACY}\r\n");
                if let Some(session) = session {
                    _ = write!(head, "mcp-session-id: {session}\r\n");
                }
            }
            EndpointProtocol::Plain => {}
        }
        _ = write!(head, "content-length: {}\r\n\r\n{body}", body.len());
        head.into_bytes()
    }
}

impl EndpointCaller {
    pub(crate) fn new(endpoint: Arc<BenchEndpoint>, bytes: usize) -> Self {
        let params = params(&endpoint.tool, endpoint.speech, bytes).into();
        Self { endpoint, params }
    }
}

impl LoadClient for EndpointCaller {
    async fn call(&self) -> Result<usize> {
        let endpoint = &self.endpoint;
        let waiting = endpoint.pool.lock().pop_front();
        let mut connection = waiting.ok_or("there are fewer connections than calls in flight")?;
        let id = endpoint.next_id.fetch_add(1, Ordering::Relaxed);
        let request = endpoint.message(&connection, Some(id), "tools/call", &self.params);
        let reply = connection.exchange(&request).await?;
        let length = match endpoint.speech {
            EndpointProtocol::Plain if reply.status == 200 => reply.body.len(),
            EndpointProtocol::Plain => return Err(refusal_error(&reply)),
            EndpointProtocol::Modern | EndpointProtocol::Legacy | EndpointProtocol::Sessions => {
                answer_in(&reply, id)?.result.get().len()
            }
        };
        endpoint.pool.lock().push_back(connection);
        Ok(length)
    }
}

/// Returns the parameters of a call with `bytes` of text.
pub(crate) fn params(tool: &str, speech: EndpointProtocol, bytes: usize) -> String {
    let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(bytes));
    match speech {
        EndpointProtocol::Plain => arguments,
        EndpointProtocol::Legacy | EndpointProtocol::Sessions => {
            format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#)
        }
        EndpointProtocol::Modern => {
            let meta = meta();
            format!(r#"{{"_meta":{meta},"name":"{tool}","arguments":{arguments}}}"#)
        }
    }
}

/// Returns the `_meta` of a modern request.
pub(crate) fn meta() -> String {
    format!(
        concat!(
            r#"{{"io.modelcontextprotocol/protocolVersion":"{}","#,
            r#""io.modelcontextprotocol/clientInfo":{{"name":"load","version":"1"}},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{{}}}}"#
        ),
        MODERN
    )
}

fn answer_in(reply: &HttpReply, id: u64) -> Result<ResultLine<'_>> {
    let body: &[u8] = &reply.body;
    let lines = body.split(|byte| *byte == b'\n');
    let events = lines.filter_map(|line| line.strip_prefix(b"data:"));
    let whole = body.starts_with(b"{").then_some(body);
    for text in whole.into_iter().chain(events) {
        if let Ok(answer) = serde_json::from_slice::<ResultLine<'_>>(text)
            && answer.id == id
        {
            let text = answer.result.get();
            // A gateway may refuse a call with a result instead of an error.
            if memchr::memmem::find(text.as_bytes(), br#""isError":true"#).is_some() {
                return Err(refusal_error(reply));
            }
            return Ok(answer);
        }
    }
    Err(refusal_error(reply))
}

fn refusal_error(reply: &HttpReply) -> BenchError {
    let text = String::from_utf8_lossy(&reply.body);
    let text: String = text.chars().take(300).collect();
    format!("status {}: {text}", reply.status).into()
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::{HttpReply, answer_in};

    #[test]
    fn an_answer_is_found_in_json_and_in_events() {
        let event =
            "event: message\ndata: {\"method\":\"x\"}\n\ndata: {\"id\":3,\"result\":{}}\n\n";
        for (body, expected) in [
            (r#"{"id":3,"result":{}}"#, true),
            (r#"{"id":4,"result":{}}"#, false),
            (r#"{"id":3,"result":{"isError":true}}"#, false),
            (event, true),
            ("", false),
        ] {
            let reply = HttpReply { status: 200, session: None, body: BytesMut::from(body) };
            assert_eq!(answer_in(&reply, 3).is_ok(), expected, "{body}");
        }
    }
}
