//! A conversation as it is kept: what it begins with, what a list shows, its steps.

use std::path::PathBuf;

use bytes::Bytes;
use jiff::Timestamp;

use crate::sessions::id::SessionId;

/// A conversation that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// What its owner calls it.
    pub name: Option<String>,
    /// The model it is held with.
    pub model: String,
    /// The folder it is about.
    pub folder: PathBuf,
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// What its owner calls it.
    pub name: Option<String>,
    /// The model it is held with.
    pub model: String,
    /// The folder it is about.
    pub folder: PathBuf,
    /// When it began.
    pub created_at: Timestamp,
    /// When its last step was added.
    pub changed_at: Timestamp,
    /// How many steps it has.
    pub steps: u64,
    /// The conversation it was forked from and the last step taken from there. That conversation
    /// may have been deleted since.
    pub parent: Option<(SessionId, u64)>,
    /// Its first words, as the face set them.
    pub opening: Option<String>,
}

/// One step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStep {
    /// Its place, from 1.
    pub number: u64,
    /// When it was added.
    pub at: Timestamp,
    /// What kind of step it is, in the words of the face.
    pub kind: String,
    /// The JSON text of it.
    pub body: Bytes,
}
