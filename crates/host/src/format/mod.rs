//! What each reader gets of a raw result: a person, a model, or whoever has to shorten it.
//!
//! Nothing here does I/O. A result is looked at with tolerance: what is not understood stays as it
//! is, and only an answer that is no result at all is an error.

pub use crate::characters::{is_hidden, is_unclear};

mod content;
mod escape;
mod fields;
mod for_model;
mod for_person;
mod media;
mod provenance;
mod truncate;

pub use content::{InvalidOutput, Item, Reply};
pub use escape::{
    coded_json, escape, escape_json, escape_line, escape_prose, escape_prose_line, unescape,
    unescape_line,
};
pub use for_model::{ForModel, Image, Vision, for_model, take_out_smuggled};
pub use for_person::for_person;
pub use provenance::{Suspicion, provenance};
pub use truncate::{Shortened, shorten};
