//! What the servers offer at one moment, and whether a proposed call fits it.
//!
//! In goes a [`Fleet`], the data that the supervisor publishes; out come a [`Catalog`], a [`Lease`] that
//! holds it together with its connections, and [`ResolvedCall`]s with checked arguments. Pure: no I/O and
//! no clock. Nothing here decides whether a call may run.

mod accepted;
mod arguments;
mod catalog;
mod check_cache;
mod coerce;
mod error;
mod flagged;
mod fleet;
mod health;
mod lease;
mod name;
mod output;
mod problem;
mod schema_bounds;
mod search;
mod search_build;
mod signature;
mod status;
pub mod template;

pub use accepted::{Acceptance, AcceptedFindings, DefinitionVersion};
pub use arguments::ArgumentCheck;
pub use catalog::{Catalog, CatalogEntry};
pub use check_cache::CheckCache;
pub use coerce::value_from_text;
pub use error::ResolveError;
pub use flagged::Flagged;
pub use fleet::{Definition, Fleet, Instance, Offers, Server, TaskSupport, Tool, definition};
pub use health::{CallGuard, Health, ServerRun};
pub use lease::{DenyList, Lease, ResolvedCall};
pub use name::{ModelNames, model_name};
pub use problem::{ArgumentProblem, BadArguments};
pub use search::{SearchDocument, SearchHit, SearchIndex, SearchParameter};
pub use signature::signature;
pub use status::{ServerFailure, ServerStatus};
pub use template::fits;
