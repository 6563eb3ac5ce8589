//! Renders Markdown from a model for a terminal while it arrives.
//!
//! `stream` parses the blocks that may still change and decides how much of them is final, `render`
//! converts the events of that part to lines, `wrap` breaks lines, and `table` aligns columns.

mod render;
mod stream;
mod table;
mod wrap;

pub use render::Paint;
pub use stream::Markdown;
