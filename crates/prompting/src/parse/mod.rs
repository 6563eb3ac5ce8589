//! The parser of model output: a streamed message becomes text and proposed calls.
//!
//! [`MessageParser`] takes a message in chunks of any size and returns [`MessagePiece`]s as soon as
//! they are certain. A call is a `<use_mcp_tool>`, an `<access_mcp_resource>`, or an element named
//! after a registered tool ([`CallDialect::with_tools`]). A malformed call is returned as
//! [`MessagePiece::Refused`], with a reason that a model can act on.
//!
//! [`Assembler`] does the same for calls that a vendor sends outside of the text, and [`cline`]
//! reproduces the blocks of Cline's own parser. [`MistakeCounter`] and [`RepeatDetector`] count
//! malformed and repeated calls over a conversation.

mod arguments;
mod build;
mod call;
pub mod cline;
mod decode;
mod dialect;
mod errors;
mod json_type;
mod mistakes;
mod native;
mod nested;
mod parser;
#[cfg(test)]
mod parser_properties;
mod piece;
mod prose;
mod repair;
mod repair_strings;
mod strings;
mod tag;
mod value;

pub use arguments::{ParsedArguments, read_arguments};
pub use dialect::{CallDialect, ToolShape};
pub use errors::{JsonProblem, ParseError};
pub use mistakes::{MistakeAction, MistakeCounter, RepeatDetector, Repetition};
pub use native::{Assembler, NativeCall};
pub use parser::MessageParser;
pub use piece::{MessagePiece, WrittenCall, WrittenForm, WrittenTarget};
