//! A call that a server continues as a task: its location and status.

use std::time::Duration;

use switchboard_wire::Era;

/// A task as its server identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHandle {
    /// The server's id of the task.
    pub id: String,
    /// The era of the task API: the two have nothing in common.
    pub era: Era,
    /// The poll interval that the server asks for.
    pub poll: Option<Duration>,
    /// How long the server keeps the task after its creation.
    pub ttl: Option<Duration>,
}

/// The state of a task, as its server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskState {
    pub status: TaskStatus,
    pub message: Option<String>,
    /// The poll interval that the server asks for from now on.
    pub poll: Option<Duration>,
}

/// A task and its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskUpdate {
    pub task: TaskHandle,
    pub state: TaskState,
}

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    Working,
    /// It waits for answers to its requests.
    InputRequired,
    /// It has a result.
    Completed,
    /// It ended without a result.
    Failed,
    Cancelled,
}

impl TaskStatus {
    const ALL: [Self; 5] =
        [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled];

    /// Returns the protocol's word, which is the same in both eras.
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

    /// Returns whether the status cannot change any more.
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

/// The location of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    pub server: String,
    /// The number of the instance; instances do not share tasks.
    pub instance: usize,
}
