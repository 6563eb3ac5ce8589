//! What the command line of a server would do, told before it runs.
//!
//! In go a command, its arguments and its environment; out come findings (shell evaluation, unpinned
//! packages, foreign package sources, dangerous variables) and the packages it names. Pure: nothing is
//! run, read or looked up.

mod containers;
pub mod env_names;
pub mod findings;
mod interpreters;
mod launchers;
mod package_sources;
pub mod packages;

pub use findings::EntryFinding;
pub use packages::FetchedPackage;
