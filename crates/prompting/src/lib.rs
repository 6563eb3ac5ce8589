//! What a model is shown of the catalog, and what is read from its answer.
//!
//! In go a lease and a token budget; out come a prompt section or native tool definitions with a stable
//! prefix. The parser turns a streamed answer into text and calls. [`Model`] is the trait that the models
//! crate implements. Pure: no I/O and no clock.

mod for_model;
mod model;
pub mod parse;
pub mod prompt;

pub use for_model::{Image, ModelContent, Vision, for_model, strip_smuggled};
pub use model::{
    CallMode, CallResult, ChatMessage, Model, ModelAnswer, ModelAnswerFuture, ModelCheckFuture,
    ModelDelta, ModelError, ModelErrorKind, ModelInfo, ModelOptions, ModelRequest, ModelToolChoice,
    RequestedCall, StopReason, TokenUsage, VendorMessage,
};
pub use parse::MessageParser;
pub use parse::ParseError;
pub use parse::{Assembler, NativeCall};
pub use parse::{CallDialect, ToolShape};
pub use parse::{MessagePiece, WrittenCall, WrittenTarget};
pub use parse::{MistakeAction, MistakeCounter, RepeatDetector, Repetition};
pub use parse::{ParsedArguments, read_arguments};
pub use prompt::PromptMode;
pub use prompt::StableOrder;
pub use prompt::estimate_tokens;
pub use prompt::own_tools::{ACCESS_RESOURCE, READ_RESULT};
pub use prompt::search_tools::{CALL_TOOL, DESCRIBE_TOOL, FIND_TOOLS};
pub use prompt::section;
pub use prompt::with_shown_servers;
pub use prompt::{CallForm, PromptOptions};
pub use prompt::{Definitions, Vendor, definitions};
pub use prompt::{DetailLevel, FittedPrompt, fit, fit_native};
pub use prompt::{IndexFile, index_places};
pub use prompt::{ShownServer, ShownTool};
pub use prompt::{describe_tool, tool_line};
