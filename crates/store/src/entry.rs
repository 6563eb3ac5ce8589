//! Inputs and results of the ledger: a new call, its intent, its record.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use switchboard_core::{Outcome, TargetKind};

use crate::call_id::CallId;
use crate::error::LedgerError;

/// A call as it was proposed.
#[derive(Debug, Clone)]
pub struct NewCall {
    pub face: Arc<str>,
    pub caller: Arc<str>,
    pub server: Arc<str>,
    pub kind: TargetKind,
    /// Name of the tool or prompt, or URI of the resource.
    pub target: Arc<str>,
    /// The JSON text of the arguments, as proposed.
    pub arguments: Bytes,
    /// The caller's own name for the call, by which it can be found again.
    pub reference: Option<Arc<str>>,
}

/// The decision of policy about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerdictWord {
    Allow,
    Ask,
    Deny,
}

/// The announcement that a call is about to be sent to a server.
#[derive(Debug, Clone, Default)]
pub struct Intent {
    /// The process or session of the server that receives the call.
    pub instance: Option<Arc<str>>,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// The arguments to send, if a hook changed them.
    pub arguments: Option<Bytes>,
    /// Why this instance is not the first choice.
    pub fallback: Option<Arc<str>>,
}

/// The outcome of a call, and whether it is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// `None` if the ledger refused the call before it had an id.
    pub id: Option<CallId>,
    pub outcome: Outcome,
    pub created_at: Timestamp,
    /// Time from opening to closing the call.
    pub duration: Duration,
    /// The verdict, and the rule or person that decided; `None` if policy did not run.
    pub verdict: Option<(VerdictWord, Arc<str>)>,
    /// Whether the outcome was committed when the record was returned.
    pub recorded: bool,
    /// The arguments that a reviewer substituted for the proposed ones.
    pub edited: Option<Bytes>,
}

/// A report about opening the ledger: created, quarantined and recovered data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// Whether the file did not exist before.
    pub created: bool,
    /// New path of a damaged file that was found and moved aside.
    pub quarantined: Option<PathBuf>,
    /// Number of calls of dead processes that may have been sent; they are now `unknown`.
    pub recovered_unknown: usize,
    /// Number of calls of dead processes that had not been sent; they are now `not_sent`.
    pub recovered_not_sent: usize,
}

impl Record {
    /// Returns the record of a call that was refused because the ledger cannot be written.
    #[must_use]
    pub fn for_refused(error: &LedgerError) -> Self {
        Self {
            id: None,
            outcome: error.outcome(),
            created_at: Timestamp::now(),
            duration: Duration::ZERO,
            verdict: None,
            recorded: false,
            edited: None,
        }
    }
}

impl VerdictWord {
    /// Returns the word that is stored in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|verdict| verdict.as_str() == word)
    }
}
