//! Face: web pages and a JSON API with which people watch the host, try tools and approve requests.
//!
//! [`Console::router`] returns the routes; a listener merges them with its own. Every request
//! passes `auth`, which checks the host and the origin, requires a signed-in browser or a program
//! with the API key, and requires a CSRF token for every action. The `pages` and the API share view
//! models; `routes` is the table of both.

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
