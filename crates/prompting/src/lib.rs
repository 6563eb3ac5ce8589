//! What a model is shown of the catalog, and what is read from its answer.
//!
//! In go a lease and a token budget; out come a prompt section or native tool definitions with a stable
//! prefix. The parser turns a streamed answer into text and calls. [`Model`] is the trait that the models
//! crate implements. Pure: no I/O and no clock.

mod for_model;
mod model;
pub mod parse;
pub mod prompt;

pub use for_model::{ForModel, Image, Vision, for_model, take_out_smuggled};
pub use model::{
    About, Answering, AskedCall, CallResult, CallWish, Calls, Checking, Delta, Kept, Message,
    Model, ModelError, Request, Said, Stop, Trouble, Usage, Wishes,
};
pub use parse::ParseError;
pub use parse::Parser;
pub use parse::{Arguments, read_arguments};
pub use parse::{Assembler, NativeCall};
pub use parse::{Dialect, ToolShape};
pub use parse::{Mistakes, Repeats, Repetition, Streak};
pub use parse::{Piece, WrittenCall, WrittenTarget};
pub use prompt::Mode;
pub use prompt::StableOrder;
pub use prompt::estimate;
pub use prompt::own_tools::{ACCESS_RESOURCE, READ_RESULT};
pub use prompt::search_tools::{CALL_TOOL, DESCRIBE_TOOL, FIND_TOOLS};
pub use prompt::section;
pub use prompt::shown;
pub use prompt::{CallForm, Options};
pub use prompt::{Definitions, Vendor, definitions};
pub use prompt::{IndexFile, index_places};
pub use prompt::{Level, Plan, fit, fit_native};
pub use prompt::{ShownServer, ShownTool};
pub use prompt::{describe, sentence};
