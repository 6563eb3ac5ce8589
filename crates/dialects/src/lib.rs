//! The server files of other products: thirteen dialects, read into one kind of entry and written
//! from it, and links that install a server.
//!
//! Nothing here touches a file, the environment or the network. [`Dialect::read`] takes the text of
//! a file, [`Dialect::write`] the text and the entries that are to be in it; both say in [`Note`]s
//! what could not be taken over. [`Entry::to_ours`] and [`Entry::from_ours`] are the way to and from
//! an entry of our own configuration.

mod abilities;
mod dialect;
mod entry;
mod error;
mod fields;
mod files;
mod grammar;
mod guess;
mod link;
mod note;
mod ours;
mod pin;
mod places;
mod products;
mod reduce;
mod shape;
mod text;
mod text_parse;

pub use abilities::{Abilities, Carries, Limit, OauthParts, Unit};
pub use dialect::{Dialect, Read, Written};
pub use entry::{Client, Entry, Extra, HttpKind, Oauth, Reach, Tools};
pub use error::DialectError;
pub use link::{LinkError, cursor_link, is_link, read_link, vscode_link};
pub use note::{Note, Weight};
pub use ours::read_ours;
pub use places::{Location, Scope, Section, Surroundings, System};
pub use text::{Folder, Piece, Text};
