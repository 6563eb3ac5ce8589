//! The server behind every transport: eras, methods, tools, resources and prompts.

mod accept;
mod ask;
mod asker;
mod batch;
mod conformance;
mod content;
mod dispatch;
mod examples;
mod given;
mod hostile;
mod journaled;
mod listen;
mod offers;
mod overlay;
mod pages;
mod protected;
mod run;
mod speech;
mod state;
mod tasks;
mod tools;
mod visit;

pub(crate) use accept::accept;
pub(crate) use batch::batch;
pub(crate) use conformance::news;
pub(crate) use dispatch::answer;
pub(crate) use speech::meta_complaint;
pub(crate) use state::{Exchange, Server};
