//! Face: the host as a gRPC service for editors and agents.
//!
//! The schema is in `proto/`. A call takes the host's line like everybody's, under the name of
//! whoever made it: the owner over the Unix socket, a guest with a token over a port of this
//! machine. What waits for a person because of it is told on the visitor's streams of events, and
//! answered there or at any other face. [`index`] keeps the catalog as files on disk.

mod answers;
mod callers;
mod calls;
mod clients;
mod descriptors;
mod desk;
mod door;
mod editor;
mod envelope;
mod events;
mod find;
pub mod generated;
mod hub;
pub mod index;
mod known;
mod offerings;
mod outputs;
mod place;
mod resources;
mod results;
mod serve;
mod service;
mod status;
mod tools;
mod values;
mod waiting;

pub use descriptors::DESCRIPTORS;
pub use door::{Admitting, Door, Guest, Tokens};
pub use editor::{Editor, Options};
pub use known::KnownServer;
pub use place::{BadPlace, ListenError, Listener, Place};
pub use serve::serve;
