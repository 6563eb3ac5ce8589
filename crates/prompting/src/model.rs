//! What a conversation asks of a language model, whoever makes it.

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

/// A language model that can be asked.
///
/// Dropping the future of [`Model::answer`] gives the question up.
pub trait Model: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &ModelInfo;

    /// Asks it, and tells `heard` what comes while it comes. If nobody listens there any more, the
    /// answer is still given whole at the end.
    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        heard: &'a mpsc::Sender<ModelDelta>,
    ) -> ModelAnswerFuture<'a>;

    /// Finds out whether it can be asked, as cheaply as the vendor allows: whether the address
    /// answers, the key is good and the model is there. Gives a sentence for a person.
    fn check(&self) -> ModelCheckFuture<'_>;
}

/// An answer on its way.
pub type ModelAnswerFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ModelAnswer, ModelError>> + Send + 'a>>;

/// A check on its way.
pub type ModelCheckFuture<'a> =
    Pin<Box<dyn Future<Output = Result<String, ModelError>> + Send + 'a>>;

/// What is known of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// The name of its profile.
    pub profile: String,
    /// The vendor, in one word; what it said is kept under this name.
    pub provider: String,
    /// The vendor's name for the model.
    pub model: String,
    /// How it calls tools.
    pub calls: CallMode,
    /// Whether it can look at pictures.
    pub images: bool,
    /// How many tokens it can hold in mind.
    pub window: usize,
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMode {
    /// Through the vendor's API, which is given tool definitions.
    Native(Vendor),
    Text(CallForm),
}

/// What a model is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// What it is told before everything else.
    pub system: String,
    /// What was said so far, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Tool definitions in the vendor's form, as [`crate::prompt::Definitions::request_value`]
    /// gives them; null if there are none.
    pub tools: Value,
    /// How the answer is to be, where that is not left to the vendor.
    pub options: ModelOptions,
}

/// How an answer is to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelOptions {
    /// The most tokens that it may have.
    pub max_tokens: Option<usize>,
    /// How daring it may be.
    pub temperature: Option<f64>,
    /// Texts that end it.
    pub stop: Vec<String>,
    /// Whether a tool is to be called.
    pub tool_choice: ModelToolChoice,
}

/// Whether a tool is to be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    Required,
    None,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    /// What a person said, or what stands for it.
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// What the model said.
    Assistant {
        text: String,
        /// The native calls it asked for; calls in text are part of the words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<RequestedCall>,
        /// The message exactly as the vendor gave it, to be given back to the same vendor.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<VendorMessage>,
    },
    /// The results of the native calls of the message before, one for each.
    Results {
        /// In the order of the calls.
        results: Vec<CallResult>,
    },
}

/// A native call that a model asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedCall {
    /// The vendor's name for the call, or ours where the vendor gives none.
    pub id: String,
    /// The tool's name as it was offered.
    pub name: String,
    /// The text of a JSON object.
    pub arguments: String,
}

/// What came of a native call, for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call that it belongs to.
    pub id: String,
    /// The tool's name as it was offered.
    pub name: String,
    /// The result in words.
    pub text: String,
    /// Pictures of the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whether it went wrong.
    #[serde(default)]
    pub failed: bool,
}

/// A message in the vendor's own form: with signatures of thoughts and whatever else it wants back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VendorMessage {
    /// The vendor whose form it is; see [`ModelInfo::provider`].
    pub provider: String,
    pub content: Value,
}

/// A part of an answer, as it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelDelta {
    /// Words for the person.
    Text(String),
    /// What the model thinks before it speaks.
    Thinking(String),
    /// A native call begins; its arguments follow.
    Call {
        /// The tool's name as it was offered.
        name: String,
    },
    /// The vendor failed in the middle and is asked again: what came so far does not count.
    Restarted { why: String },
    /// The vendor asks for patience before it is tried again.
    Waiting { delay: Duration, why: String },
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelAnswer {
    pub text: String,
    /// The native calls, in order.
    pub calls: Vec<NativeCall>,
    pub stop: StopReason,
    /// What it cost; nothing where the vendor does not say.
    pub usage: TokenUsage,
    /// The message in the vendor's own form, if that holds more than words and calls.
    pub vendor_message: Option<Value>,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ModelStop")]
pub enum StopReason {
    /// Everything was said.
    End,
    /// Tools are to be called.
    Calls,
    /// There was no room for more.
    Length,
    /// The vendor does not want to say it.
    Refused,
    /// In the vendor's own word.
    Other(String),
}

/// What an answer cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ModelUsage")]
pub struct TokenUsage {
    /// What was read, with what came from a cache.
    pub input: u64,
    /// What was written.
    pub output: u64,
    /// What of the input came from a cache.
    #[serde(default)]
    pub cached: u64,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of trouble it is.
    pub kind: ModelErrorKind,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What can be the matter with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ModelTrouble")]
pub enum ModelErrorKind {
    /// The key is missing or wrong.
    BadKey,
    /// There is no such model.
    UnknownModel,
    /// The conversation is too long for it.
    TooLong,
    /// It has too much to do, and waiting did not help.
    Busy,
    /// It does not take the request.
    BadRequest,
    /// It cannot be reached.
    Unreachable,
    /// The answer ended in the middle, or was silent for too long.
    CutOff,
    /// The answer cannot be read.
    Malformed,
    /// The profile is wrong.
    Profile,
}

impl ModelError {
    /// Trouble in one sentence.
    #[must_use]
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl ModelErrorKind {
    /// The trouble in one word.
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
