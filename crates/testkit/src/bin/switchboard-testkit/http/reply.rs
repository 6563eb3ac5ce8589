//! HTTP requests and replies in the form that both HTTP stacks of the fixture share.

use axum::http::{HeaderMap, Method};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::exchange::WireStep;
use crate::message::RpcAnswer;

#[derive(Debug)]
pub(crate) struct FixtureRequest {
    pub(crate) verb: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl FixtureRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns the request as JSON for a trace or a journal.
    pub(crate) fn record(&self, body: Value) -> Value {
        let headers: serde_json::Map<String, Value> = self
            .headers
            .iter()
            .map(|(name, value)| {
                (name.to_string(), json!(String::from_utf8_lossy(value.as_bytes())))
            })
            .collect();
        json!({
            "verb": self.verb.as_str(), "path": self.path, "query": self.query,
            "headers": headers, "body": body,
        })
    }
}

#[derive(Debug)]
pub(crate) enum ReplyBody {
    Full(String),
    /// Pieces of a stream, until the sender is dropped.
    Stream(mpsc::Receiver<Bytes>),
    /// The whole response, from the status line on, as raw steps.
    Wire(Vec<WireStep>),
}

#[derive(Debug)]
pub(crate) struct FixtureReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: ReplyBody,
}

impl FixtureReply {
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: ReplyBody::Full(String::new()) }
    }

    pub(crate) fn json(status: u16, text: String) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { status, headers, body: ReplyBody::Full(text) }
    }

    /// Returns a JSON-RPC error with the id null.
    pub(crate) fn refuse(status: u16, code: i64, message: &str) -> Self {
        Self::json(status, RpcAnswer::refuse(code, message).render(&Value::Null))
    }

    pub(crate) fn stream(pieces: mpsc::Receiver<Bytes>) -> Self {
        let headers = vec![
            ("content-type", "text/event-stream".to_owned()),
            ("cache-control", "no-store".to_owned()),
            ("x-accel-buffering", "no".to_owned()),
        ];
        Self { status: 200, headers, body: ReplyBody::Stream(pieces) }
    }

    pub(crate) fn wire(steps: Vec<WireStep>) -> Self {
        Self { status: 200, headers: Vec::new(), body: ReplyBody::Wire(steps) }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Encodes a message as a server-sent event.
pub(crate) fn event(id: Option<&str>, text: &str) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!("{id}event: message\ndata: {text}\n\n"))
}
