//! The server behind every transport: eras, methods, tools, resources and prompts.

mod accept;
mod asker;
mod conformance;
mod content;
mod dispatch;
mod examples;
mod file_server;
mod hostile;
mod journaled;
mod lists;
mod message_era;
mod offers;
mod run;
mod state;
mod tasks;
mod tools;

pub(crate) use accept::{accept, batch};
pub(crate) use dispatch::answer;
pub(crate) use message_era::meta_complaint;
use state::ServerCall;
pub(crate) use state::{Exchange, FixtureServer};
