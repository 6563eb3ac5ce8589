//! The interface of a conversation to a language model, independent of the vendor.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::for_model::Image;
use crate::parse::NativeCall;
use crate::prompt::{CallForm, Vendor};

/// A language model. Dropping the future of [`Model::answer`] cancels the request.
pub trait Model: Send + Sync {
    /// Returns the properties of the model.
    fn info(&self) -> &ModelInfo;

    /// Sends a request and streams the answer to `heard`. The complete answer is returned at the
    /// end even if the receiver is dropped.
    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        heard: &'a mpsc::Sender<ModelDelta>,
    ) -> ModelAnswerFuture<'a>;

    /// Checks that the address responds, the key is valid and the model exists, as cheaply as the
    /// vendor allows. Returns a sentence for a person.
    fn check(&self) -> ModelCheckFuture<'_>;
}

/// The future of [`Model::answer`].
pub type ModelAnswerFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ModelAnswer, ModelError>> + Send + 'a>>;

/// The future of [`Model::check`].
pub type ModelCheckFuture<'a> =
    Pin<Box<dyn Future<Output = Result<String, ModelError>> + Send + 'a>>;

/// The properties of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    pub profile: String,
    /// The vendor, in one word. Vendor messages are stored under this name.
    pub provider: String,
    pub model: String,
    pub calls: CallMode,
    pub images: bool,
    /// Size of the context window, in tokens.
    pub window: usize,
}

/// The way in which a model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMode {
    /// Through the vendor's API, with tool definitions.
    Native(Vendor),
    Text(CallForm),
}

/// A request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    pub system: String,
    /// The conversation so far, oldest message first.
    pub messages: Vec<ChatMessage>,
    /// Result of [`crate::prompt::Definitions::request_value`]; null without tools.
    pub tools: Value,
    pub options: ModelOptions,
}

/// Options of an answer. Unset options are left to the vendor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelOptions {
    pub max_tokens: Option<usize>,
    pub temperature: Option<f64>,
    pub stop: Vec<String>,
    pub tool_choice: ModelToolChoice,
}

/// Whether the model should call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelToolChoice {
    #[default]
    Auto,
    Required,
    None,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    /// Written by the user, or generated on the user's behalf.
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    Assistant {
        text: String,
        /// Native calls. Calls that are written as text are part of `text`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<RequestedCall>,
        /// The message as the vendor sent it, to be returned to the same vendor.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<VendorMessage>,
    },
    /// The results of the native calls in the previous message, in the order of the calls.
    Results { results: Vec<CallResult> },
}

/// A native call requested by a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedCall {
    /// The vendor's id of the call, or ours if the vendor does not assign one.
    pub id: String,
    /// The tool's name as it was offered.
    pub name: String,
    /// The text of a JSON object.
    pub arguments: String,
}

/// The result of a native call, for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    pub id: String,
    pub name: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(default)]
    pub failed: bool,
}

/// A message in the vendor's own format, with data that it expects back, such as signatures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VendorMessage {
    /// The vendor of this format; see [`ModelInfo::provider`].
    pub provider: String,
    pub content: Value,
}

/// A part of a streamed answer. Native calls are announced here; their arguments follow at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelDelta {
    Text(String),
    // Not part of the answer's text: vendors that want it back get it in a `VendorMessage`.
    Thinking(String),
    Call { name: String },
    // The vendor failed and the request is retried, so all earlier parts are void.
    Restarted { why: String },
    // The vendor requested a delay before the retry (`Retry-After`).
    Waiting { delay: Duration, why: String },
}

/// An answer after the end of its stream.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelAnswer {
    pub text: String,
    pub calls: Vec<NativeCall>,
    pub stop: StopReason,
    /// Zero if the vendor does not report it.
    pub usage: TokenUsage,
    /// The message in the vendor's format, if it contains more than text and calls.
    pub vendor_message: Option<Value>,
}

/// The reason why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ModelStop")]
pub enum StopReason {
    /// The model finished its answer.
    End,
    /// The model requested tool calls.
    Calls,
    /// The token limit was reached.
    Length,
    /// The vendor refused to answer.
    Refused,
    /// A reason in the vendor's own word.
    Other(String),
}

/// Token usage of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ModelUsage")]
pub struct TokenUsage {
    /// Input tokens, including those read from a cache.
    pub input: u64,
    /// Output tokens, as the vendor counts them.
    pub output: u64,
    /// Input tokens that were read from a cache.
    #[serde(default)]
    pub cached: u64,
}

/// An error of a model request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub message: String,
    pub hint: Option<String>,
}

/// The kind of a model error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ModelTrouble")]
pub enum ModelErrorKind {
    /// The API key is missing or invalid.
    BadKey,
    /// The vendor does not know the model.
    UnknownModel,
    /// The conversation exceeds the context window.
    TooLong,
    /// The vendor is overloaded or rate-limits us, and retries did not help.
    Busy,
    /// The vendor rejected the request.
    BadRequest,
    /// The vendor's address cannot be reached.
    Unreachable,
    /// The answer broke off, or the stream was silent for too long.
    CutOff,
    /// The answer is not in the vendor's format.
    Malformed,
    /// The model profile is invalid.
    Profile,
}

impl ModelError {
    /// Creates an error from one sentence.
    #[must_use]
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// Adds a remedy for the user.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl ModelErrorKind {
    /// Returns the error kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadKey => "bad_key",
            Self::UnknownModel => "unknown_model",
            Self::TooLong => "too_long",
            Self::Busy => "busy",
            Self::BadRequest => "bad_request",
            Self::Unreachable => "unreachable",
            Self::CutOff => "cut_off",
            Self::Malformed => "malformed",
            Self::Profile => "profile",
        }
    }
}

impl fmt::Display for ModelErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
