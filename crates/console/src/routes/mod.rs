//! Everything that can be asked for: pages, the API, and what each asks of a caller.

mod calls;
mod decisions;
mod imports;
mod offers;
mod pages;
mod route;
mod schemas;
mod servers;
mod sessions;

pub(crate) use route::{ConsoleRoute, RequiredAuth, ResponseKind, all};
pub(crate) use schemas::SchemaFn;
