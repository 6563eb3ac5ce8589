//! The identity of a caller, and the servers and tools that it sees.

use std::sync::{Arc, LazyLock};

use switchboard_rules::Pattern;

/// The identity and name of callers on this machine while no token is required.
pub const LOCAL_IDENTITY: &str = "local";

/// An authenticated caller and its view of the catalog.
#[derive(Clone, Debug)]
pub struct Access {
    /// Distinguishes callers; stable across the requests of a caller.
    pub identity: Arc<str>,
    /// The caller's name in the record.
    pub name: Arc<str>,
    pub view: Arc<View>,
}

impl Access {
    /// Returns the access of any caller on this machine, which sees everything.
    #[must_use]
    pub fn local() -> Self {
        // Shared, because every request without a token needs one.
        static LOCAL_ACCESS: LazyLock<Access> = LazyLock::new(|| Access {
            identity: LOCAL_IDENTITY.into(),
            name: LOCAL_IDENTITY.into(),
            view: Arc::default(),
        });
        LOCAL_ACCESS.clone()
    }
}

/// The part of the catalog that a caller sees: everything, or the targets that patterns cover.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Visible targets; an empty list covers everything.
    pub patterns: Vec<Pattern>,
}

impl View {
    /// Returns whether a tool, resource or prompt of a server is visible.
    #[must_use]
    pub fn shows(&self, server: &str, name: &str) -> bool {
        self.is_unrestricted() || self.patterns.iter().any(|pattern| pattern.covers(server, name))
    }

    /// Returns whether everything is visible.
    #[must_use]
    pub fn is_unrestricted(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns a key that is equal only for equal views.
    #[must_use]
    pub fn key(&self) -> String {
        self.patterns.iter().map(Pattern::as_str).collect::<Vec<_>>().join("\n")
    }
}
