//! Checks of addresses and URLs, shared by everything that connects or listens.
//!
//! In go URLs, hosts and IP addresses; out comes whether they are well formed and within the allowed
//! scope (loopback, private, public). Nothing here opens a connection or resolves a name.

mod address_scope;
pub mod url_check;
mod url_parts;

pub use address_scope::{AddressScope, BlockedAddress, display_url};
pub use url_parts::{UrlParts, check_host_pattern, host_matches};
