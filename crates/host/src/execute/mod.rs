//! Step 8: a permitted call to a raw result: where it goes, how long it may take, what may be repeated.

mod choose;
mod meaning;
mod message;
mod rounds;
mod run;

pub use run::{Announce, Reach, run};
