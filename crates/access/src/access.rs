//! Who a caller is, and which servers and tools it sees.

use std::sync::{Arc, LazyLock};

use switchboard_rules::Pattern;

/// The identity and name of callers on this machine while no token is required.
pub const LOCAL_IDENTITY: &str = "local";

/// A caller that proved who it is.
#[derive(Clone, Debug)]
pub struct Access {
    /// Tells callers apart, and is the same for every request of a caller.
    pub identity: Arc<str>,
    /// The name in the record.
    pub name: Arc<str>,
    /// The part of the catalog that it sees.
    pub view: Arc<View>,
}

impl Access {
    /// Returns the access of any caller on this machine, which sees everything.
    #[must_use]
    pub fn local() -> Self {
        // Shared, because every request without a token asks for it.
        static LOCAL_ACCESS: LazyLock<Access> = LazyLock::new(|| Access {
            identity: LOCAL_IDENTITY.into(),
            name: LOCAL_IDENTITY.into(),
            view: Arc::default(),
        });
        LOCAL_ACCESS.clone()
    }
}

/// The part of the catalog that a caller sees: everything, or what some patterns cover.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Without any pattern, everything is seen.
    pub patterns: Vec<Pattern>,
}

impl View {
    /// Whether a tool, resource or prompt of a server is seen.
    #[must_use]
    pub fn shows(&self, server: &str, name: &str) -> bool {
        self.is_unrestricted() || self.patterns.iter().any(|pattern| pattern.covers(server, name))
    }

    /// Whether everything is seen.
    #[must_use]
    pub fn is_unrestricted(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns a text that only equal views have.
    #[must_use]
    pub fn key(&self) -> String {
        let words: Vec<&str> = self.patterns.iter().map(Pattern::as_str).collect();
        words.join("\n")
    }
}
