//! Errors of building a view.

use switchboard_store::{LedgerError, QueueError};

/// Why a view cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error("{0}")]
    NotFound(String),
    #[error("{message}")]
    Query { message: String, hint: Option<String> },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Queue(#[from] QueueError),
}

impl ViewError {
    pub(crate) fn query(message: String, hint: Option<String>) -> Self {
        Self::Query { message, hint }
    }
}
