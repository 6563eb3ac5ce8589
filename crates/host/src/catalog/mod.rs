//! Step 3: what the servers of one moment offer, and whether a call fits it (pure).

mod accepted;
mod arguments;
mod canonical;
mod checks;
mod coerce;
mod error;
mod excerpt;
mod flagged;
mod held;
mod lease;
mod name;
mod output;
mod pin_diff;
mod pins;
mod problem;
pub mod scan;
mod schema_bounds;
mod screening;
mod search;
mod search_build;
mod signature;
mod snapshot;
mod strict;
mod suggest;
mod template;
mod turned;
mod visible;
mod words;

pub use accepted::{Acceptance, Accepted, DefinitionVersion};
pub use arguments::{ArgumentCheck, BadSchema};
pub use checks::Checks;
pub use coerce::value_from_text;
pub use error::ResolveError;
pub use excerpt::{shown_text, shown_value};
pub use flagged::Flagged;
pub use held::{Held, HeldBack, HeldServer, Quarantine, Why};
pub use lease::{Lease, ResolvedCall, Unlisted};
pub use name::{Names, model_name};
pub(crate) use pins::unlisted;
pub use pins::{
    Screened, book_of, hold_all, json_diff, offered, pin_digest, screen, screen_locked, told,
    waiting,
};
pub use problem::{BadArguments, Problem, ProblemKind};
pub use screening::{Screen, Visible};
pub use search::{Document, Hit, Index, Parameter};
pub use signature::signature;
pub use snapshot::{Catalog, Entry};
pub(crate) use strict::read as read_strictly;
pub use suggest::nearest;
pub use template::fits as fits_template;
pub use turned::{findings_in, hold_turned, kind_of};
