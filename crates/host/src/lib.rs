//! The engine of Switchboard: supervises the servers, and runs and records their calls.
//!
//! A program that embeds it gets every configured MCP server behind one handle, [`Host`]. The host
//! starts, supervises and stops the servers. Every call is checked, allowed by rules or by a
//! person, run once and recorded with exactly one outcome.
//!
//! ```
//! use serde_json::json;
//! use switchboard_host::{Caller, Host, Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! // `Options::for_user()` uses the configuration of the user, `standalone` reads no file.
//! let host = Host::start(Options::standalone(folder.path()))?;
//! host.wait_settled(None).await;
//! let given = json!({"time": "09:30", "from": "Europe/Berlin", "to": "Asia/Tokyo"});
//! let reply = host.call_for_content(&Caller::person(), "builtin", "time_convert", &given).await?;
//! assert_eq!(reply.items.len(), 1);
//! host.stop().await;
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Overview
//!
//! - Start and stop: [`Options`], [`Host::start`], [`Host::wait_settled`], [`Host::stop`].
//! - List what can be called, and keep the list stable: [`Host::lease`], [`Lease`].
//! - Call: [`Host::call`] with a [`ProposedCall`]; [`Host::call_with`] to watch, answer or cancel.
//! - Call with Rust types: [`Host::call_for`], [`Host::call_for_content`];
//!   `switchboard generate rust` writes the functions.
//! - Identify the caller to rules: [`Caller::person`], [`Caller::program`], [`Caller::model`].
//! - Decide calls: [`Reviewer`]; a function from a question to an answer is one.
//! - Answer questions of servers: [`Asker`]; a function from a question to a reply is one.
//!   [`Host::answer_for`] sets one for a single call.
//! - Answer pending reviews and questions from elsewhere: [`Host::reviews`], [`Host::answer`].
//! - Observe: [`Host::events`], [`Host::fleet`], [`Host::config`].
//! - Read the record: [`Host::ledger`].
//! - Add your own tools: [`InProcess`], a server whose tools are functions.
//! - Add your own model: `switchboard_prompting::Model` for conversations,
//!   `switchboard_core::Sampler` for servers that sample.
//!
//! The examples of this crate and of `switchboard-agent` show each in a few lines.
//! `docs/reference/library.md` says which parts of the API are stable.
//!
//! # Approval of calls
//!
//! No call runs without an approval. A call of a [`Caller::person`] was requested by a person,
//! which is its approval unless a rule denies it. A call of a [`Caller::program`] or of a
//! [`Caller::model`] needs a rule, `autoApprove` in the entry of its server, [`Options::allow`], or
//! a reviewer's approval. Without any of these it does not run, and its outcome says so.
//!
//! ```
//! use switchboard_host::Options;
//! use switchboard_host::policy::{Answer, Question};
//!
//! # let folder = std::path::Path::new("/nowhere");
//! let options = Options::standalone(folder).with_reviewer(|question: &Question| {
//!     match question.call().target().name.as_str() {
//!         "time_now" => Answer::Run,
//!         _ => Answer::Reject("only the time, please".to_owned()),
//!     }
//! });
//! ```
//!
//! # Limits
//!
//! The host never prints, never reads standard input and never listens. It has no global state: two
//! hosts in one process are independent. There is one deliberate exception: the list of secrets to
//! redact is shared, so that no host writes down a secret of another.
//!
//! # Structure
//!
//! `call/` is the pipeline that every call takes; `review/`, `hooks/` and `first_use/` ask people
//! and programs on its way; `host.rs` wires the crates below into one handle. See ARCHITECTURE.md.

mod call;
mod config_watch;
mod embedding;
mod first_use;
mod hooks;
mod host;
mod leases;
mod options;
pub mod policy;
mod review;
mod subscriptions;
mod typed;

pub use call::execute::TaskMode;
pub use call::in_flight::{Registration, WhichCall};
pub use call::pipeline::{CallOptions, SessionScope, no_arguments};
pub use call::task_calls::{TaskCalls, TaskError};
pub use first_use::new_definition::NewDefinition;
pub use first_use::new_server::{FirstAnswer, FirstUse, NewServer};
pub use hooks::{
    Hook, HookEvent, HookFile, HookFileState, HookInput, HookOutcome, HookRules, HookRunner,
    HookSet, HookSource, ServerLocation,
};
pub use host::{Host, ledger_file};
pub use options::{FirstUseAsks, Options, Recording, StartError};
pub use policy::past_call;
pub use review::{
    Ask, AskKind, Asker, BadAsk, Choice, DEFAULT_REVIEW_LIMIT, FaceAnswers, Field, FieldKind,
    FieldProblem, Form, NobodyThere, NobodyToAsk, NumberKind, QuestionUpdate, QueueWatch,
    ReplyFuture, ReviewFuture, ReviewQueue, Reviewer, SamplingAsk, TextFormat, Unanswered, UrlAsk,
    ask_matter, restore_ask, review_matter,
};
pub use typed::CallError;

// Re-exports of the lower crates that an embedding program needs.
pub use switchboard_builtin::InProcess;
pub use switchboard_catalog::Lease;
pub use switchboard_core::{
    Answer, Caller, Face, Item, Origin, Outcome, OutcomeKind, ProposedCall, Reply, ServerId,
    Target, TargetKind,
};
pub use switchboard_fleet::Answers;
pub use switchboard_json::Json;
pub use switchboard_policy::Question;
pub use switchboard_store::Record;

/// The path of [`Reply`] in modules that `switchboard generate rust` wrote before 0.2.
#[doc(hidden)]
pub mod format {
    pub use switchboard_core::Reply;
}

/// The guide for embedding programs, whose code is compiled with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/library.md")]
struct Guide;
