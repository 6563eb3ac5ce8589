//! Server files of thirteen other products, converted to and from one kind of entry, and links.
//!
//! This crate never touches a file, the environment or the network. [`ProductDialect::read`] takes
//! the text of a file, [`ProductDialect::write`] also the entries to write into it; both report
//! settings that cannot be converted as [`Note`]s. [`ServerEntry::to_ours`] and
//! [`ServerEntry::from_ours`] convert to and from an entry of our own configuration.

mod abilities;
mod dialect;
mod entry;
mod fields;
mod files;
mod grammar;
mod guess;
mod link;
mod locations;
mod note;
mod ours;
mod products;
mod project_folder;
mod reduce;
mod render;
mod text;
mod text_parse;

pub use abilities::{CarriedNames, OauthParts, ProductAbilities, TimeLimit, TimeUnit};
pub use dialect::{ParsedServers, ProductDialect, WrittenFile};
pub use entry::{
    EntryHttpKind, EntryTransport, OauthClientEntry, OauthFields, ProductExtras, ServerEntry,
    ToolRules,
};
pub use link::{LinkError, cursor_link, is_link, read_link, vscode_link};
pub use locations::{FileScope, FileSection, Location, OperatingSystem, UserFolders};
pub use note::{DialectError, Note, NoteWeight};
pub use ours::read_ours;
pub use text::{KnownFolder, VariablePiece, VariableText};
