//! View models that need more than the host: entries, registries, conversations and downloads.

mod downloads;
mod entries;
pub(crate) mod registry;
mod sessions;

pub(crate) use downloads::{call_part, call_result, export, export_schema};
pub(crate) use entries::{
    EntryShown, discover_installed, entry, entry_digest, propose_installed, propose_typed,
};
pub(crate) use sessions::{SessionRow, SessionShown, Turn, models, session, sessions};
