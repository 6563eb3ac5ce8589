//! The engine: one call from a configuration file to a durable record, and what keeps servers alive.
//!
//! The folders are the steps of a call, in reading order:
//! *config → login → connect → catalog → prompt → parse → policy → review → hooks → execute → format → record*.
//! A step names only earlier ones. [`call`] is the line through them, [`host`] the handle on them.
//! The host never prints, never reads standard input and never listens.
//!
//! ```no_run
//! use switchboard_host::{Caller, Host, Options, ProposedCall, call::no_arguments};
//! use switchboard_host::config::{Environment, Places};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let environment = Environment::from_process();
//! let places = Places::find(&environment, &[])?;
//! let host = Host::start(Options::new(places, environment))?;
//! host.settled(None).await;
//! let proposed = ProposedCall::tool("builtin", "time_now", no_arguments());
//! let record = host.call(&host.lease(), proposed, &Caller::person()).await;
//! println!("{}", record.outcome.kind.as_str());
//! host.stop().await;
//! # Ok(())
//! # }
//! ```

pub mod builtin;
pub mod caller;
pub mod characters;
pub mod digest;
pub mod download;
pub mod events;
pub mod outcome;
pub mod proposed;
pub mod published;
pub mod redact;
mod secret_reference;
mod secret_shapes;
pub mod server_id;
pub mod tasks;

pub mod catalog;
pub mod config;
pub mod connect;
pub mod execute;
pub mod format;
pub mod hooks;
pub mod login;
pub mod parse;
pub mod policy;
pub mod prompt;
pub mod record;
pub mod review;

mod beside;
pub mod call;
mod deciding;
mod guard;
mod holding;
mod hooking;
pub mod host;
pub mod model;
pub mod options;
mod pinning;
pub mod running;
mod session_answers;

pub use call::Attention;
pub use caller::{Caller, Face, Origin};
pub use catalog::Lease;
pub use host::Host;
pub use model::Model;
pub use options::{Options, Recording, StartError};
pub use outcome::{Outcome, OutcomeKind};
pub use proposed::{ProposedCall, Target, TargetKind};
pub use record::Record;
pub use server_id::ServerId;
