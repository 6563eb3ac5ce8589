//! Sampling: requests of servers to a model, and the trait that runs them.

use std::pin::Pin;

use serde_json::Value;

/// A pending answer of a model; the error says why there is none.
pub type SampleFuture<'a> = Pin<Box<dyn Future<Output = Result<SampleResult, String>> + Send + 'a>>;

/// Runs sampling requests of servers on models.
pub trait Sampler: Send + Sync {
    /// Chooses a model for these preferences, if there is one.
    fn choose(&self, wishes: &ModelPreferences) -> Option<ChosenModel>;

    /// Sends the request to its model. Dropping the future cancels it.
    fn sample<'a>(&'a self, request: &'a SampleRequest) -> SampleFuture<'a>;
}

/// The model preferences of a sampling request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelPreferences {
    /// The only profile that may answer, if the configuration names one.
    pub only: Option<String>,
    /// Substrings of model names, the most preferred first.
    pub hints: Vec<String>,
    /// The priority of a low price, from 0 to 1.
    pub cost: Option<f64>,
    /// The priority of a fast answer, from 0 to 1.
    pub speed: Option<f64>,
    /// The priority of a capable model, from 0 to 1.
    pub intelligence: Option<f64>,
}

/// The model chosen for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenModel {
    pub profile: String,
    /// The vendor's name of the model, or empty.
    pub model: String,
    pub tools: ToolUse,
}

/// Whether a model supports tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolUse {
    Native,
    None,
}

/// A server's request for an answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRequest {
    /// The server that sent the request.
    pub server: String,
    pub profile: String,
    pub system: String,
    /// The messages, the oldest first.
    pub messages: Vec<SampleMessage>,
    /// The tools that the model may call; the server runs them.
    pub tools: Vec<SampleTool>,
    pub tool_choice: SampleToolChoice,
    pub max_tokens: usize,
    pub temperature: Option<f64>,
    pub stop_sequences: Vec<String>,
}

/// One message of a sampling request.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleMessage {
    pub role: SampleRole,
    pub parts: Vec<SamplePart>,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleRole {
    User,
    Assistant,
}

/// One content block of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplePart {
    Text(String),
    Image(SampleMedia),
    Audio(SampleMedia),
    Call { id: String, name: String, input: Value },
    Result { id: String, text: String, images: Vec<SampleMedia>, failed: bool },
}

/// An image or audio recording, as base64 data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleMedia {
    pub mime: String,
    pub data: String,
}

/// A tool that the requesting server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleTool {
    pub name: String,
    pub description: Option<String>,
    /// The schema of the arguments, as JSON text.
    pub input_schema: Option<String>,
}

/// Whether the model may, must or must not call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleToolChoice {
    #[default]
    Auto,
    Required,
    None,
}

/// The answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleResult {
    /// The model that answered, as its vendor names it.
    pub model: String,
    pub text: String,
    /// The tool calls: id, tool name and arguments.
    pub calls: Vec<(String, String, Value)>,
    pub stop: SampleStop,
    /// The tokens used by request and answer.
    pub tokens: usize,
}

/// The reason that an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleStop {
    End,
    Sequence,
    Length,
    Calls,
}
