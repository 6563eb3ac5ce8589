//! `server.json`: what a registry knows about a server, read leniently.

mod detail;
mod lenient;
mod listed;
mod name;

pub use detail::{
    Argument, Icon, Input, KeyValue, Package, Remote, Repository, ServerDetail, Transport,
};
pub use listed::{Listed, Page, Status};
pub use name::{is_registry_name, short_name};
