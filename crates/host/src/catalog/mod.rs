//! Step 3: what the servers of one moment offer, and whether a call fits it (pure).

mod arguments;
mod checks;
mod coerce;
mod error;
mod excerpt;
mod lease;
mod name;
mod problem;
mod schema_bounds;
mod search;
mod search_build;
mod signature;
mod snapshot;
mod strict;
mod suggest;
mod template;
mod words;

pub use arguments::{ArgumentCheck, BadSchema};
pub use checks::Checks;
pub use coerce::value_from_text;
pub use error::ResolveError;
pub use excerpt::{shown_text, shown_value};
pub use lease::{Lease, ResolvedCall};
pub use name::{Names, model_name};
pub use problem::{BadArguments, Problem, ProblemKind};
pub use search::{Document, Hit, Index, Parameter};
pub use signature::signature;
pub use snapshot::{Catalog, Entry};
pub use suggest::nearest;
