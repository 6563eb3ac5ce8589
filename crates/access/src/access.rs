//! Who may call, by what they can prove.

use std::sync::{Arc, LazyLock};

use crate::view::View;

/// Whoever is on this machine, while no token is asked for.
pub const LOCAL_IDENTITY: &str = "local";

/// What somebody who may call is known as, and what they see.
#[derive(Clone, Debug)]
pub struct Access {
    /// What they proved: tells them from everybody else, and is the same with every request.
    pub identity: Arc<str>,
    /// What the record calls them.
    pub name: Arc<str>,
    /// What they see.
    pub view: Arc<View>,
}

impl Access {
    /// Anybody on this machine, who sees everything.
    #[must_use]
    pub fn local() -> Self {
        // Shared: every request of theirs asks for it.
        static LOCAL_ACCESS: LazyLock<Access> = LazyLock::new(|| Access {
            identity: LOCAL_IDENTITY.into(),
            name: LOCAL_IDENTITY.into(),
            view: Arc::default(),
        });
        LOCAL_ACCESS.clone()
    }
}
