//! Markdown as a model writes it, rendered for a terminal while it arrives.
//!
//! `stream` parses the blocks that may still change and decides how much of them is final,
//! `render` turns the events of that part into lines, `wrap` breaks lines, `table` aligns columns.

mod render;
mod stream;
mod table;
mod wrap;

pub use render::Paint;
pub use stream::Markdown;
