//! Face: web pages and a JSON API for people who look, try and approve.
//!
//! [`Console::router`] returns the routes; a listener merges them with its own. Every request
//! passes `auth` (the right `Host`, no foreign `Origin`, a signed-in browser, a token for every
//! action). `views` gathers the data once, for the `pages` and for the API alike; `routes` is the
//! one table of both.

mod actions;
mod api;
mod apps;
mod assets;
mod auth;
mod console;
mod conversations;
mod entry;
mod live;
mod openapi;
mod other_products;
mod pages;
mod presence;
mod programs;
mod reply;
mod routes;
mod views;

pub use console::{Console, ConsoleAddress, ConsoleOptions};
pub use conversations::{Conversations, OpenModel, OpenModelError};
pub use other_products::{
    DiscoveryError, ProductReader, Proposal, ProposedServer, SourceShown, UnreadFile,
};
pub use presence::PagePresence;
