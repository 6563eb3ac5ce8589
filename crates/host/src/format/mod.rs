//! What each reader gets of a raw result: a person, a model, or whoever has to shorten it.
//!
//! Nothing here does I/O. A result is looked at with tolerance: what is not understood stays as it
//! is, and only an answer that is no result at all is an error.

mod content;
mod escape;
mod fields;
mod for_model;
mod for_person;
mod media;
mod truncate;

pub use content::{InvalidOutput, Item, Reply};
pub use escape::{escape, escape_line, is_hidden};
pub use for_model::{ForModel, Image, Vision, for_model};
pub use for_person::for_person;
pub use truncate::{Shortened, shorten};
