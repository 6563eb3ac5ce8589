//! `server.json`: a registry's description of a server, parsed leniently.

mod detail;
mod lenient;
mod listed_server;

pub use detail::{
    Icon, KeyValue, PackageArgument, PackageTransport, RegistryPackage, RegistryRemote, Repository,
    ServerDetail, ValueInput,
};
pub use listed_server::{ListedServer, ListingPage, ListingStatus, is_registry_name, short_name};
