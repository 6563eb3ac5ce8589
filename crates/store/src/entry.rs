//! What goes into the ledger and what comes back: the call, its intent, its record.

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
    /// The face it came through.
    pub face: Arc<str>,
    pub caller: Arc<str>,
    /// The server it is for.
    pub server: Arc<str>,
    /// What kind of thing it names.
    pub kind: TargetKind,
    /// The tool or prompt name, or the resource address.
    pub target: Arc<str>,
    /// The JSON text of the arguments, as proposed.
    pub arguments: Bytes,
    /// The caller's own name for the call, to find it again by.
    pub reference: Option<Arc<str>>,
}

/// What policy said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerdictWord {
    Allow,
    Ask,
    /// It may not run.
    Deny,
}

/// That a call is about to leave for a server.
#[derive(Debug, Clone, Default)]
pub struct Intent {
    /// Which process or session of the server gets it.
    pub instance: Option<Arc<str>>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The arguments that leave, if a hook changed them.
    pub arguments: Option<Bytes>,
    /// Why another way than the first choice is taken.
    pub fallback: Option<Arc<str>>,
}

/// How a call ended and whether that is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The number of the call; none if the ledger could not even be asked for one.
    pub id: Option<CallId>,
    pub outcome: Outcome,
    /// When it was opened.
    pub created_at: Timestamp,
    /// How long it took from opening to closing.
    pub duration: Duration,
    /// What policy said, and which rule or person; none if it was not asked.
    pub verdict: Option<(VerdictWord, Arc<str>)>,
    /// Whether the outcome was committed when this was returned.
    pub recorded: bool,
    /// The arguments that a person put in place of those that were proposed.
    pub edited: Option<Bytes>,
}

/// What happened while the ledger was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// No file was there before.
    pub created: bool,
    /// A damaged file was found and put aside under this name.
    pub quarantined: Option<PathBuf>,
    /// Calls of dead processes that had been sent, now `unknown`.
    pub recovered_unknown: usize,
    /// Calls of dead processes that had not been sent, now `not_sent`.
    pub recovered_not_sent: usize,
}

impl Record {
    /// The record of a call that was not taken because the ledger cannot be written.
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
    /// The word in the ledger.
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
