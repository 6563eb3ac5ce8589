//! What the command line of a server would do, told before it runs.
//!
//! In go a command, its arguments and its environment; out come findings (shell evaluation, unpinned
//! packages, foreign package sources, dangerous variables) and the packages it names. Pure: nothing is
//! run, read or looked up.

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
