//! Step 5: what a model wrote, to text and proposed calls.
//!
//! [`Parser`] takes a message in chunks of any size and gives back [`Piece`]s as soon as they are
//! certain. A call may be written in three forms: `<use_mcp_tool>`, `<access_mcp_resource>`, and an
//! element named like a registered tool ([`Dialect::with_tools`]). What was plainly meant as a call
//! but cannot be one comes back as [`Piece::Refused`], with a reason that a model can act on.
//!
//! [`Assembler`] does the same for calls that a vendor sends outside of the text, [`cline`]
//! reproduces the blocks of Cline's own parser, and [`Mistakes`] and [`Repeats`] count what goes
//! wrong along a conversation.

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
