//! Step 2: configuration to live connections, published as a [`Fleet`].

mod answers;
mod back_off;
mod builtin;
mod call_answers;
mod changed;
mod connection;
mod establish;
mod family;
mod fleet;
mod health;
#[cfg(unix)]
mod keeper;
mod listening;
mod listing;
mod memory;
mod negotiate;
mod patience;
mod process;
mod status;
mod stderr;
mod supervisor;

pub use answers::{Answering, Answers, Asking, Declines};
pub use call_answers::{CallAnswers, Entered};
pub use fleet::{Definition, Fleet, Instance, Offers, Server, Tool, definition};
pub use health::{Health, InUse};
#[cfg(unix)]
pub use keeper::keep;
pub use status::{Failure, Status};
pub use stderr::log_file;
pub use supervisor::{Command, Parts, Supervisor, Surroundings};
