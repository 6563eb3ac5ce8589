//! Views that need more than the host: entries, registries, conversations, files of results.

mod entries;
mod export;
mod part;
pub(crate) mod registry;
mod sessions;

pub(crate) use entries::{
    EntryShown, Proposal, ProposedServer, discover_installed, entry, entry_digest,
    propose_installed, propose_typed,
};
pub(crate) use export::{export, export_schema};
pub(crate) use part::{call_part, call_result};
pub(crate) use sessions::{SessionRow, SessionShown, Turn, models, session, sessions};
