//! Options for starting a host.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_builtin::InProcess;
use switchboard_config::{Environment, Places};
use switchboard_core::ServerId;
use switchboard_document::ConfigError;
use switchboard_fleet::{Answers, DeclineAll};
use switchboard_oauth::Visitor;
use switchboard_rules::Pattern;
use switchboard_store::LedgerError;
use switchboard_trust::{LockFile, Presence};

use crate::review::{NobodyThere, ReviewQueue, Reviewer};

/// Options for starting a host.
pub struct Options {
    /// The locations of the configuration and state files.
    pub places: Places,
    /// The environment of this process, as a value.
    pub environment: Environment,
    /// A program with its first arguments that runs between this process and each server. Without
    /// one, servers end when the host stops, but not when it is killed.
    pub keeper: Option<Vec<String>>,
    /// Reviews calls whose verdict is *ask*.
    pub reviewer: Arc<dyn Reviewer>,
    /// Answers requests of servers.
    pub answers: Arc<dyn Answers>,
    /// The queue in which other faces see questions; must be the one of `answers`, if that has one.
    /// `None` creates a queue.
    pub waiting: Option<ReviewQueue>,
    /// The only servers to start, if given.
    pub only: Option<Vec<ServerId>>,
    pub record: Recording,
    /// How long a server may take to start.
    pub start_limit: Duration,
    /// Targets that may be called without review while this host runs.
    pub allow: Vec<Pattern>,
    /// Logs in to servers automatically; without one, logins have to be started explicitly.
    pub visitor: Option<Arc<dyn Visitor>>,
    /// Roots that override those of the settings, if not empty.
    pub roots: Vec<PathBuf>,
    /// In-process servers; [`Options::with_server`] adds one.
    pub in_process: BTreeMap<ServerId, Arc<InProcess>>,
    /// The lock file that replaces local approvals; definitions not in it are quarantined.
    pub lock: Option<LockFile>,
    /// Whether unapproved servers are added to the review queue.
    pub first_use: FirstUseAsks,
    /// Whether a person is present who can approve a new server before it is used.
    pub presence: Presence,
}

/// Whether a server that waits for its first approval is added to the review queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstUseAsks {
    /// Added to the queue while the host runs, visible to every face.
    InQueue,
    /// Only quarantined, for a short-lived host.
    Nobody,
}

/// Whether calls are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Calls are recorded in the ledger; a call that cannot be recorded is refused.
    On,
    Off,
}

impl Options {
    /// Returns the default options: all configured servers, recording on, no reviewer.
    #[must_use]
    pub fn new(places: Places, environment: Environment) -> Self {
        Self {
            places,
            environment,
            keeper: None,
            reviewer: Arc::new(NobodyThere),
            answers: Arc::new(DeclineAll),
            waiting: None,
            only: None,
            record: Recording::On,
            start_limit: Duration::from_secs(30),
            allow: Vec::new(),
            visitor: None,
            roots: Vec::new(),
            in_process: BTreeMap::new(),
            lock: None,
            first_use: FirstUseAsks::InQueue,
            presence: Presence::Nobody,
        }
    }
}

/// Why a host cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("calls cannot be recorded: {0}")]
    Ledger(#[from] LedgerError),
    #[error("the rules cannot be read: {0}")]
    Policy(ConfigError),
}
