//! What a model writes, as a terminal shows it: Markdown, rendered while it arrives.
//!
//! Characters go one by one through three stages: blocks find out what a line is, inline what a
//! span is, and wrap where a line ends. Nothing depends on how the text was cut into chunks.

mod blocks;
mod code;
mod containers;
mod inline;
mod openings;
mod spans;
mod style;
mod table;
mod wrap;

pub use blocks::Markdown;
pub use style::Paint;
