//! The offers of a fleet as a catalog, and the resolution of calls against it.
//!
//! Takes a [`Fleet`], the data that the supervisor publishes. Returns a [`Catalog`], a [`Lease`]
//! that holds the catalog together with its connections, and [`ResolvedCall`]s with checked
//! arguments. Pure: no I/O and no clock. Never decides whether a call may run.

mod arguments;
mod catalog;
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
mod template;

pub use arguments::{ArgumentCheck, CheckCache};
pub use catalog::{Catalog, CatalogEntry};
pub use coerce::value_from_text;
pub use error::ResolveError;
pub use flagged::{Acceptance, AcceptedFindings, DefinitionVersion, Flagged};
pub use fleet::{Definition, Fleet, Instance, Offers, Server, TaskSupport, Tool, definition};
pub use health::{CallGuard, Health, ServerRun};
pub use lease::{DenyList, Lease, ResolvedCall};
pub use name::{ModelNames, model_name};
pub use problem::{ArgumentProblem, BadArguments};
pub use search::{SearchDocument, SearchHit, SearchIndex, SearchParameter};
pub use signature::signature;
pub use status::{ServerFailure, ServerStatus};
pub use template::fits_template;
