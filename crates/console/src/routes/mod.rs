//! Everything that can be asked for: pages, the API, and what each asks of a caller.

mod route;
mod table;

pub(crate) use route::{ConsoleRoute, RequiredAuth, ResponseKind, SchemaFn};
pub(crate) use table::all;
