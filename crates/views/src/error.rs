//! Errors of building a view.

use switchboard_store::{LedgerError, QueueError};

/// Why a view cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error("{0}")]
    NotFound(String),
    /// The query cannot be used.
    #[error("{message}")]
    Query { message: String, hint: Option<String> },
    /// The record cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The review queue cannot be read.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

impl ViewError {
    pub(crate) fn query(message: String, hint: Option<String>) -> Self {
        Self::Query { message, hint }
    }
}
