//! Servers as processes and connections: started, confined, supervised and stopped.
//!
//! Takes the configuration and publishes a [`Fleet`](switchboard_catalog::Fleet). A keeper process
//! ends a server's process group if Switchboard disappears. This crate never decides about calls.

mod answers;
mod builtin;
mod call_directory;
mod change_listener;
mod completion;
#[cfg(unix)]
mod confine;
mod connect_context;
mod connection;
mod establish;
#[cfg(target_os = "linux")]
mod hide_sockets;
mod inbound;
#[cfg(unix)]
mod keeper;
mod listing;
mod memory_usage;
mod messages;
mod negotiate;
mod open_requests;
mod process;
mod process_group;
mod program;
mod relist;
mod server_sync;
mod stderr;
mod subscriptions;
mod supervisor;

pub use answers::{AnswerFuture, Answers, DeclineAll, ServerRequest, record_on_timeline};
pub use call_directory::{CallDirectory, QuestionOwner};
pub use completion::{Completion, CompletionError, CompletionRequest, CompletionTarget, complete};
#[cfg(unix)]
pub use confine::confine;
pub use connect_context::{ConnectContext, ConnectParts};
pub use establish::untrusted_hint;
#[cfg(unix)]
pub use keeper::keep;
pub use memory_usage::{is_descendant, memory_below};
pub use messages::{ServerMessage, ServerMessageStore, messages_file};
pub use process::{CONFINE_COMMAND, Launch, Process};
pub use program::executable_candidates;
pub use server_sync::can_subscribe;
pub use stderr::{ErrorLog, log_file};
pub use subscriptions::{SubscribeError, Subscription, Subscriptions};
pub use supervisor::{Supervisor, SupervisorCommand};
