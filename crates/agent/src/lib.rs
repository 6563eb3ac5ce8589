//! The conversation: a model uses the tools, and a person stays in charge.
//!
//! [`turn`] is the machine: pure, and tested without a model. [`Conversation`] drives it: it shows
//! the model what there is ([`switchboard_host::prompt`]), listens to the answer
//! ([`switchboard_host::parse`]), has every call run along the host's line, and keeps each step
//! before anything follows from it. A process that dies loses nothing, and no call runs twice.

mod compact;
mod conversation;
mod drive;
mod ended;
mod event;
mod export;
mod hear;
mod journal;
mod notices;
mod offer;
mod own;
mod read_from;
mod request;
mod run;
mod system;
pub mod turn;

pub use conversation::{Conversation, OpenError, Opening, Parts, fork, kept_inputs, state_of};
pub use event::Event;
pub use export::{as_json, as_markdown};
pub use journal::Unreadable;
