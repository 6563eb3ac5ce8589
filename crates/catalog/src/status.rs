//! The states of a server.

use std::time::Instant;

use serde::Serialize;
use switchboard_text::redact_text;

/// The reason why a server is not ready.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerFailure {
    pub message: String,
    pub hint: Option<String>,
    /// The last lines of standard error.
    pub stderr: Vec<String>,
    pub exit: Option<String>,
}

/// The state of a server or of one of its instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    Disabled,
    NeedsApproval,
    NotAllowed(ServerFailure),
    Starting,
    Ready,
    NeedsLogin(ServerFailure),
    // A retry is scheduled.
    Waiting { until: Instant, failure: ServerFailure },
    // A retry cannot help, because the configuration is invalid.
    Failed(ServerFailure),
}

impl ServerStatus {
    /// Returns the display name of the state.
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

    /// Returns the failure behind the state, if it has one.
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

    /// Returns whether the first attempt to start has ended.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting)
    }

    /// Returns the rank of the state; a server with several instances reports the highest.
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
    /// Creates a failure with a message, in which secrets are redacted.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        // Messages quote commands and addresses of the configuration, which may contain secrets.
        Self { message: redact_text(&message.into()).into_owned(), ..Self::default() }
    }

    /// Adds a remedy for the user.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
