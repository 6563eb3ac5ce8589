//! What a server may ask of a model, and who has one.

use std::pin::Pin;

use serde_json::Value;

/// An answer of a model on its way, or why there is none.
pub type SampleFuture<'a> = Pin<Box<dyn Future<Output = Result<SampleResult, String>> + Send + 'a>>;

/// Has models, and asks them for servers.
pub trait Sampler: Send + Sync {
    /// The model that these wishes choose, if there is any.
    fn choose(&self, wishes: &ModelPreferences) -> Option<ChosenModel>;

    /// Asks the model of the request. Whoever no longer wants the answer drops the future.
    fn sample<'a>(&'a self, request: &'a SampleRequest) -> SampleFuture<'a>;
}

/// Which model a server would like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelPreferences {
    /// The only profile that may answer, if the configuration names one.
    pub only: Option<String>,
    /// Parts of names, the dearest first.
    pub hints: Vec<String>,
    /// How much a low price counts, from 0 to 1.
    pub cost: Option<f64>,
    /// How much a quick answer counts, from 0 to 1.
    pub speed: Option<f64>,
    /// How much a good answer counts, from 0 to 1.
    pub intelligence: Option<f64>,
}

/// A model that can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenModel {
    /// The name of its profile.
    pub profile: String,
    /// The vendor's name for it; empty if it has none.
    pub model: String,
    /// Whether it can be given tools.
    pub tools: ToolUse,
}

/// Whether a model can be given tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolUse {
    /// It calls them through its API.
    Native,
    None,
}

/// One question for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRequest {
    /// The server that asks.
    pub server: String,
    /// The profile that answers.
    pub profile: String,
    /// What the model is told first.
    pub system: String,
    /// What was said, oldest first.
    pub messages: Vec<SampleMessage>,
    /// The tools that the answer may call; the server runs them itself.
    pub tools: Vec<SampleTool>,
    /// Whether it may, must or must not call one.
    pub tool_choice: SampleToolChoice,
    /// The most tokens that the answer may have.
    pub max_tokens: usize,
    /// How daring the answer may be.
    pub temperature: Option<f64>,
    /// Texts that end the answer.
    pub stop_sequences: Vec<String>,
}

/// One message of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleMessage {
    pub role: SampleRole,
    pub parts: Vec<SamplePart>,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleRole {
    /// The one who asks.
    User,
    Assistant,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplePart {
    Text(String),
    Image(SampleMedia),
    Audio(SampleMedia),
    /// A call that the model asked for.
    Call {
        /// Its name among the calls.
        id: String,
        name: String,
        input: Value,
    },
    /// What came of a call.
    Result {
        id: String,
        /// The result in words.
        text: String,
        /// Pictures of the result.
        images: Vec<SampleMedia>,
        /// Whether it went wrong.
        failed: bool,
    },
}

/// A picture or a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleMedia {
    pub mime: String,
    pub data: String,
}

/// A tool that the server runs itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleTool {
    pub name: String,
    pub description: Option<String>,
    /// The JSON text of the schema of its arguments.
    pub input_schema: Option<String>,
}

/// Whether a tool is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    Required,
    None,
}

/// What a model said.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleResult {
    /// The vendor's name for the model that answered.
    pub model: String,
    pub text: String,
    /// The calls it asks for: name among the calls, tool and arguments.
    pub calls: Vec<(String, String, Value)>,
    pub stop: SampleStop,
    /// What question and answer cost, in tokens.
    pub tokens: usize,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleStop {
    End,
    /// One of the texts that end it came.
    Sequence,
    /// It has as many tokens as it may.
    Length,
    /// Tools are to be called.
    Calls,
}
