//! A call that a server continues as a task: where it runs, and its status by the server's account.

use std::time::Duration;

use switchboard_wire::Era;

/// A task as its server named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHandle {
    /// The server's name for it.
    pub id: String,
    /// Which form of tasks it is: both eras have their own.
    pub era: Era,
    /// How often the server wants to be asked.
    pub poll: Option<Duration>,
    /// How long the server keeps it, from its creation.
    pub ttl: Option<Duration>,
}

/// What a server says of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskState {
    /// How far it is.
    pub status: TaskStatus,
    /// What the server says about that.
    pub message: Option<String>,
    /// How often the server wants to be asked from now on.
    pub poll: Option<Duration>,
}

/// A task, and what its server says of it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskUpdate {
    pub task: TaskHandle,
    /// What the server says.
    pub state: TaskState,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    Working,
    /// It waits for an answer of ours.
    InputRequired,
    /// It has a result.
    Completed,
    /// It has none, and will have none.
    Failed,
    /// It was given up.
    Cancelled,
}

impl TaskStatus {
    const ALL: [Self; 5] =
        [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled];

    /// The protocol's word, the same in both eras.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Returns the status for the protocol's word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// Where a task runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    pub server: String,
    /// Which of its instances: they share nothing.
    pub instance: usize,
}
