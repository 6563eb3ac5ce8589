//! Face: web pages and a JSON API for people who look, try and approve.
//!
//! [`Console::router`] gives the routes; whoever listens puts them beside its own. Every request
//! passes the `door` (the right `Host`, no foreign `Origin`, a signed-in browser, a token for
//! whatever acts). What is shown is gathered once in `shown`, for the `pages` and for the API alike;
//! `routes` is the one table of both.

mod actions;
mod api;
mod apps;
mod asked;
mod assets;
mod console;
mod door;
mod elsewhere;
mod entry;
mod live;
mod onlookers;
mod openapi;
mod pages;
mod programs;
mod reply;
mod routes;
mod shown;
mod talks;

pub use console::{Address, Console, Options};
pub use elsewhere::{Becomes, Elsewhere, FoundElsewhere, FoundServer, NotFound, UnreadFile};
pub use onlookers::Onlookers;
pub use programs::{CallEnded, Proposer, TaskWanted, Told, WantedCall, Whom};
pub use talks::{NoModel, OpenModel, Talks};
