//! The server behind every transport: eras, methods, tools, resources and prompts.

mod accept;
mod ask;
mod asker;
mod batch;
mod conformance;
mod content;
mod dispatch;
mod examples;
mod file_server;
mod hostile;
mod journaled;
mod listen;
mod message_era;
mod offers;
mod overlay;
mod pages;
mod protected;
mod run;
mod state;
mod tasks;
mod tools;
mod visit;

pub(crate) use accept::accept;
pub(crate) use batch::batch;
pub(crate) use conformance::watch_changes;
pub(crate) use dispatch::answer;
pub(crate) use message_era::meta_complaint;
pub(crate) use state::{Exchange, FixtureServer};
