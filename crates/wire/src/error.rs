//! Why a request has no result, told so that the caller knows whether it may have run.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Json;
use crate::http::Distrust;

/// Why a request has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    /// The server answered with an error.
    #[error("{0}")]
    Rpc(RpcError),
    /// Not one byte of the request left us.
    #[error("nothing was sent: {0}")]
    NotSent(String),
    /// Not one byte of the request left us: who answers cannot prove to be the server.
    #[error("nothing was sent: {0}")]
    Untrusted(Distrust),
    /// The request left us, wholly or in part, and no valid answer came.
    #[error("{0}")]
    Unknown(String),
    /// No answer within the time that was given; the request had left us.
    #[error("no answer within {}", seconds(.0))]
    TimedOut(Duration),
    /// An answer came that is not an answer by the protocol's rules.
    #[error("the answer breaks the protocol: {0}")]
    Protocol(String),
    /// The HTTP server turned the request down.
    #[error("HTTP status {status}{}", note(.message))]
    Http {
        status: u16,
        /// What the server said, cut short.
        message: String,
        /// The value of `Retry-After`.
        retry_after: Option<String>,
        /// The value of `WWW-Authenticate`.
        challenge: Option<String>,
    },
}

/// An error as JSON-RPC spells it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct RpcError {
    /// The number that says what kind of error it is.
    pub code: i64,
    /// A sentence, cut at 4 KiB.
    pub message: String,
    /// Anything else that the server added, if it is small enough to keep.
    pub data: Option<Json>,
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CloseReason(pub String);

impl RpcError {
    /// The method is not known there.
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// The parameters were refused.
    pub const INVALID_PARAMS: i64 = -32_602;
    /// Something went wrong on the side that was asked.
    pub const INTERNAL_ERROR: i64 = -32_603;
    /// Headers and body of a modern HTTP request disagree.
    pub const HEADER_MISMATCH: i64 = -32_020;
    /// The server needs a capability that the client did not declare.
    pub const MISSING_CAPABILITY: i64 = -32_021;
    /// The revision is not spoken there.
    pub const UNSUPPORTED_REVISION: i64 = -32_022;

    /// An error with a code and a sentence.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Whether only a server of the modern era sends this code.
    #[must_use]
    pub fn is_modern(&self) -> bool {
        matches!(
            self.code,
            Self::HEADER_MISMATCH | Self::MISSING_CAPABILITY | Self::UNSUPPORTED_REVISION
        )
    }

    /// Whether the code proves that nothing was executed.
    #[must_use]
    pub fn proves_not_run(&self) -> bool {
        self.is_modern()
            || matches!(
                self.code,
                -32_700 | -32_600 | Self::METHOD_NOT_FOUND | Self::INVALID_PARAMS
            )
    }

    /// Reads the `error` member of a message; what does not fit is replaced, never refused.
    pub(crate) fn parse(text: &str) -> Self {
        #[derive(Deserialize)]
        struct ErrorMembers<'a> {
            code: Option<serde_json::Number>,
            message: Option<String>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
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

/// The first `limit` bytes of `text`, on a character boundary, with a note of what is missing.
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
