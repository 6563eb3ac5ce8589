//! Why nobody is asked what a server wants to ask.

/// Why nobody is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAsk {
    /// It does not have the shape that the protocol gives it.
    #[error("{0}")]
    Malformed(String),
    /// It has that shape, but nobody should answer it.
    #[error("{0}")]
    Unsafe(String),
}

impl BadAsk {
    pub(super) fn new_malformed(why: impl Into<String>) -> Self {
        Self::Malformed(why.into())
    }

    pub(super) fn new_unsafe(why: impl Into<String>) -> Self {
        Self::Unsafe(why.into())
    }
}
