//! Errors of a request, by whether the request may have run.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Json;
use crate::http::Distrust;

/// The reason why a request has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    #[error("{0}")]
    Rpc(RpcError),
    /// No byte of the request was sent.
    #[error("nothing was sent: {0}")]
    NotSent(String),
    /// No byte of the request was sent, because the server's certificate is not trusted.
    #[error("nothing was sent: {0}")]
    Untrusted(Distrust),
    /// The request was sent, at least in part, and no valid answer arrived.
    #[error("{0}")]
    Unknown(String),
    /// The request was sent, and no answer arrived before the deadline.
    #[error("no answer within {}", seconds(.0))]
    TimedOut(Duration),
    #[error("the answer violates the protocol: {0}")]
    Protocol(String),
    /// The server refused the request with an HTTP status.
    #[error("HTTP status {status}{}", note(.message))]
    Http {
        status: u16,
        /// The server's message, truncated.
        message: String,
        retry_after: Option<String>,
        /// All values of `WWW-Authenticate`.
        challenge: Option<String>,
    },
}

/// A JSON-RPC error, sent or received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct RpcError {
    pub code: i64,
    /// The message, truncated to 4 KiB.
    pub message: String,
    /// Additional data, if it has at most 16 KiB.
    pub data: Option<Json>,
}

/// The reason why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CloseReason(pub String);

impl RpcError {
    /// The receiver does not know the method.
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// The receiver rejected the parameters.
    pub const INVALID_PARAMS: i64 = -32_602;
    /// An internal error of the receiver.
    pub const INTERNAL_ERROR: i64 = -32_603;
    /// The headers of a modern HTTP request do not match its body.
    pub const HEADER_MISMATCH: i64 = -32_020;
    /// The server needs a capability that the client did not declare.
    pub const MISSING_CAPABILITY: i64 = -32_021;
    /// The receiver does not support the protocol revision.
    pub const UNSUPPORTED_REVISION: i64 = -32_022;

    /// Creates an error without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Returns whether only modern servers send this code.
    #[must_use]
    pub fn is_modern(&self) -> bool {
        matches!(
            self.code,
            Self::HEADER_MISMATCH | Self::MISSING_CAPABILITY | Self::UNSUPPORTED_REVISION
        )
    }

    /// Returns whether the code proves that nothing was executed.
    #[must_use]
    pub fn proves_not_run(&self) -> bool {
        self.is_modern()
            || matches!(
                self.code,
                -32_700 | -32_600 | Self::METHOD_NOT_FOUND | Self::INVALID_PARAMS
            )
    }

    /// Parses the `error` member of a message; invalid parts are replaced by defaults.
    pub(crate) fn parse(text: &str) -> Self {
        #[derive(Deserialize)]
        struct ErrorMembers<'a> {
            code: Option<serde_json::Number>,
            message: Option<String>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        // Even a malformed error settles its request, so none is rejected.
        match serde_json::from_str::<ErrorMembers<'_>>(text) {
            Ok(shape) => Self {
                code: shape.code.and_then(|code| code.as_i64()).unwrap_or(0),
                message: truncate(&shape.message.unwrap_or_default(), 4_096),
                data: shape.data.filter(|data| data.get().len() <= 16_384).map(Json::from),
            },
            Err(_) => Self::new(0, truncate(text, 4_096)),
        }
    }
}

/// Truncates `text` to `limit` bytes at a character boundary and notes the original length.
pub(crate) fn truncate(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
    format!("{head}… ({} bytes in all)", text.len())
}

fn seconds(duration: &Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds.fract() == 0.0 { format!("{seconds:.0} s") } else { format!("{seconds:.1} s") }
}

fn note(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
