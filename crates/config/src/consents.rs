//! `Consents`: the user's answers, as far as reading the configuration depends on them.

use std::collections::BTreeSet;
use std::path::Path;

use switchboard_core::ServerId;
use switchboard_document::ConfigError;

/// What the user agreed to earlier.
///
/// The answers are kept by a layer above the configuration, so loading takes them as a parameter.
pub trait Consents {
    /// Returns whether the user approved the entry of this server in this project file as it is:
    /// `digest` is the entry's `approval_digest`.
    fn approves(&self, file: &Path, server: &ServerId, digest: &str) -> bool;

    /// Returns the tools of a server that the user always allows.
    fn always(&self, server: &ServerId) -> BTreeSet<String>;

    /// Returns why the answers cannot be read, if they cannot. Nothing is approved then.
    fn problem(&self) -> Option<&ConfigError>;
}

/// No answers at all: entries of projects wait, and projects always allow nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoConsents;

impl Consents for NoConsents {
    fn approves(&self, _file: &Path, _server: &ServerId, _digest: &str) -> bool {
        false
    }

    fn always(&self, _server: &ServerId) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn problem(&self) -> Option<&ConfigError> {
        None
    }
}
