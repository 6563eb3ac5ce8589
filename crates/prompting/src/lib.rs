//! Prompts for models, and parsing of their answers.
//!
//! Takes a lease and a token budget, and returns a prompt section or native tool definitions with a
//! stable prefix. The parser turns a streamed answer into text and calls. [`Model`] is the trait
//! that the models crate implements. Pure: no I/O and no clock.

mod for_model;
mod model;
mod parse;
mod prompt;

pub use for_model::{Image, ModelContent, Vision, for_model, strip_smuggled};
pub use model::{
    CallMode, CallResult, ChatMessage, Model, ModelAnswer, ModelAnswerFuture, ModelCheckFuture,
    ModelDelta, ModelError, ModelErrorKind, ModelInfo, ModelOptions, ModelRequest, ModelToolChoice,
    RequestedCall, StopReason, TokenUsage, VendorMessage,
};
pub use parse::{
    Assembler, CallDialect, JsonProblem, MessageParser, MessagePiece, MistakeAction,
    MistakeCounter, NativeCall, ParseError, ParsedArguments, RepeatDetector, Repetition, ToolShape,
    WrittenCall, WrittenForm, WrittenTarget, cline, read_arguments,
};
pub use prompt::{
    ACCESS_RESOURCE, CALL_TOOL, CallForm, DESCRIBE_TOOL, Definitions, DetailLevel, FIND_TOOLS,
    FittedPrompt, IndexFile, IndexPlaces, PromptMode, PromptOptions, READ_RESULT, RenamedKey,
    ShownArgument, ShownPrompt, ShownResource, ShownServer, ShownTemplate, ShownTool, StableOrder,
    Vendor, conversation_tools, definitions, describe_tool, estimate_tokens, fit, fit_native,
    index_files, index_places, search_tools, section, tool_line, with_shown_servers,
};
