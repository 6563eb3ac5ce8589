//! Why what waits for a person could not be listed, found or answered.

/// Why what waits could not be listed, found or answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// There is no such entry.
    #[error("nothing that waits is called `{0}`")]
    Unknown(String),
    /// Somebody was faster, or it is too late.
    #[error("`{id}` does not wait any more: {how}")]
    Over {
        /// The entry.
        id: String,
        /// How it ended.
        how: String,
    },
    /// The answer is to something else than what waits.
    #[error("the digest is not that of `{id}`: the answer was meant for something else")]
    OtherDigest {
        /// The entry.
        id: String,
    },
    /// The answer is none to what was asked.
    #[error("that is no answer to it: {0}")]
    DoesNotFit(String),
    /// The file cannot be used.
    #[error("what waits for a person cannot be kept: {reason}")]
    Store {
        /// What stands in the way.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
}

impl QueueError {
    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) => Some("`switchboard review` lists what waits"),
            Self::OtherDigest { .. } => Some("look at it again, then answer"),
            Self::Store { hint, .. } => Some(hint),
            Self::Over { .. } | Self::DoesNotFit(_) => None,
        }
    }
}
