//! How to start a host.

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

/// How to start a host.
pub struct Options {
    /// Where the files are.
    pub places: Places,
    /// Our own environment, as a value.
    pub environment: Environment,
    /// A program and its first arguments that stays between us and each server we start, so that
    /// nothing outlives us. Without one, servers are ended when the host stops, but not when it is
    /// killed.
    pub keeper: Option<Vec<String>>,
    /// Who is asked where a call needs a person.
    pub reviewer: Arc<dyn Reviewer>,
    /// Who answers what servers ask.
    pub answers: Arc<dyn Answers>,
    /// Where questions wait for other faces as well, if `answers` shares it; or one of its own.
    pub waiting: Option<ReviewQueue>,
    /// Only these servers, if any are named.
    pub only: Option<Vec<ServerId>>,
    /// Whether calls are recorded.
    pub record: Recording,
    /// How long a server may take to start.
    pub start_limit: Duration,
    /// What models may call without a question, as long as this host runs.
    pub allow: Vec<Pattern>,
    /// Who logs in to servers without being told to. Nobody, if there is none.
    pub visitor: Option<Arc<dyn Visitor>>,
    /// The folders of this run, in place of those of the settings; none leaves them as they are.
    pub roots: Vec<PathBuf>,
    /// Servers that are part of this program; [`Options::with_server`] adds one.
    pub in_process: BTreeMap<ServerId, Arc<InProcess>>,
    /// What servers may offer, in place of what was approved here; anything else is held.
    pub lock: Option<LockFile>,
    /// Whether servers that nobody has approved yet are put before people.
    pub first_use: FirstUseAsks,
    /// Whether a person is there who can be asked about a server that is new, before it is used.
    pub presence: Presence,
}

/// Whether a server that waits for its first approval waits in the queue of what people are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstUseAsks {
    /// As long as the host runs, for every face.
    InQueue,
    /// It is only held; for a host that runs for a moment.
    Nobody,
}

/// Whether calls are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// In the ledger; a call that cannot be recorded is refused.
    On,
    Off,
}

impl Options {
    /// The usual way: everything that is configured, recorded, with nobody to ask.
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

/// Why a host does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The ledger cannot be used.
    #[error("calls cannot be recorded: {0}")]
    Ledger(#[from] LedgerError),
    /// Rules cannot be read, so nobody knows what is allowed.
    #[error("the rules cannot be read: {0}")]
    Policy(ConfigError),
}
