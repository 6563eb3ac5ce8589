//! Step 2: configuration to live connections, published as a [`Fleet`].

mod answers;
mod asked;
mod back_off;
mod builtin;
mod call_answers;
mod changed;
mod clean_environment;
mod completion;
#[cfg(unix)]
mod confine;
mod connection;
#[cfg(target_os = "linux")]
mod cover;
mod establish;
mod family;
mod fleet;
mod health;
mod informing;
#[cfg(unix)]
mod keeper;
mod listening;
mod listing;
mod memory;
mod messages;
mod negotiate;
mod patience;
mod plan;
mod private_folder;
mod process;
mod program;
mod received;
mod status;
mod stderr;
mod subscriptions;
mod supervisor;
mod surroundings;
mod task_news;
mod trust;
mod usage;

pub(crate) use answers::noted;
pub use answers::{Answering, Answers, Asking, Declines};
pub use call_answers::{CallAnswers, Entered};
pub use completion::{Completing, Completion, CompletionOf, NoCompletion, complete};
#[cfg(unix)]
pub use confine::confine;
pub use fleet::{Definition, Fleet, Instance, Offers, Server, TaskSupport, Tool, definition};
pub use health::{Health, InUse, Run};
pub(crate) use informing::can_subscribe;
#[cfg(unix)]
pub use keeper::keep;
pub use messages::{Message, Messages, messages_file};
pub use process::CONFINER;
pub(crate) use process::{Launch, Process};
pub(crate) use program::startable;
pub use status::{Failure, Status};
pub(crate) use stderr::ErrorLog;
pub use stderr::log_file;
pub use subscriptions::{NoSubscription, Subscription, Subscriptions};
pub use supervisor::{Command, Supervisor};
pub use surroundings::{Parts, Surroundings};
pub(crate) use trust::untrusted_hint;
pub use usage::{is_descendant, memory_below};
