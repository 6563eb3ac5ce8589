//! The routes of the pages and the API, with the authentication that each requires.

mod route;
mod table;

pub(crate) use route::{ConsoleRoute, RequiredAuth, ResponseKind, SchemaFn};
pub(crate) use table::all;
