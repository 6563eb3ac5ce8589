//! Checks of URLs, IP addresses and requests, shared by everything that connects or listens.
//!
//! The crate takes URLs, hosts, IP addresses and request headers. It returns whether they are well
//! formed, whether an address is within the allowed scope (loopback, private, public), and whether
//! a request is addressed to this listener. It never opens a connection or resolves a name.

mod address_scope;
mod domain;
mod host_policy;
mod url_check;
mod url_parts;

pub use address_scope::{
    AddressScope, BlockedAddress, display_url, ip_literal, is_local, is_local_name, is_loopback,
};
pub use domain::{is_below, is_shared_suffix, registrable_domain};
pub use host_policy::{
    BadHeader, ForeignRequest, HostPolicy, OwnPages, bearer, single_header, split_port,
};
pub use url_check::{check_url, url_without_secrets};
pub use url_parts::{UrlParts, check_host_pattern, host_matches};
