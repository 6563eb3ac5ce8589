//! The states of a server, and what each of them tells a person.

use std::time::Instant;

use serde::Serialize;
use switchboard_text::redact_text;

/// Why a server is not ready.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerFailure {
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The last lines that the server wrote to its standard error.
    pub stderr: Vec<String>,
    /// How the server's process ended.
    pub exit: Option<String>,
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    /// Switched off in the configuration.
    Disabled,
    /// A project's file wants it, or it does something dangerous, and nobody has agreed yet.
    NeedsApproval,
    /// The rules do not allow it to be there.
    NotAllowed(ServerFailure),
    /// On its way up.
    Starting,
    Ready,
    /// Wants a login first.
    NeedsLogin(ServerFailure),
    /// Failed, and will be tried again.
    Waiting {
        until: Instant,
        failure: ServerFailure,
    },
    /// Cannot be tried: its configuration is wrong.
    Failed(ServerFailure),
}

impl ServerStatus {
    /// The state in one word or two.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::NeedsApproval => "needs approval",
            Self::NotAllowed(_) => "not allowed",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::NeedsLogin(_) => "needs login",
            Self::Waiting { .. } => "waiting to retry",
            Self::Failed(_) => "failed",
        }
    }

    /// Why the server is not ready, where there is more to say than the word does.
    #[must_use]
    pub const fn failure(&self) -> Option<&ServerFailure> {
        match self {
            Self::NeedsLogin(failure)
            | Self::NotAllowed(failure)
            | Self::Failed(failure)
            | Self::Waiting { failure, .. } => Some(failure),
            Self::Disabled | Self::NeedsApproval | Self::Starting | Self::Ready => None,
        }
    }

    /// Whether the first attempt is over, one way or the other.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting)
    }

    /// How much a server with several instances prefers to be in this state.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Ready => 6,
            Self::Starting => 5,
            Self::NeedsLogin(_) => 4,
            Self::Waiting { .. } => 3,
            Self::Failed(_) => 2,
            Self::NeedsApproval => 1,
            Self::Disabled | Self::NotAllowed(_) => 0,
        }
    }
}

impl ServerFailure {
    /// A failure with a sentence.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: redact_text(&message.into()).into_owned(), ..Self::default() }
    }

    /// The same with a next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
