//! Static checks of a server's command line, before it runs.
//!
//! The crate takes a command, its arguments and its environment. It returns findings (shell
//! evaluation, unpinned packages, foreign package sources, dangerous variables) and the packages
//! that the command fetches. It is pure: it never executes, reads or looks up anything.

mod containers;
mod env_names;
mod findings;
mod interpreters;
mod launchers;
mod package_sources;
mod packages;
pub use env_names::{is_header_name, is_header_value, is_variable_name};
pub use findings::{EntryFinding, FOREIGN_SOURCE, FindingWeight, UNPINNED_PACKAGE, entry_findings};
pub use packages::{FetchedPackage, command_packages};
