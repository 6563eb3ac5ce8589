//! What the terminal shows.

pub(crate) mod ask;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod starting;
pub(crate) mod table;
