//! A call that a server continues as a task: its location and status.

use std::time::Duration;

use switchboard_wire::Era;

/// A task, as its server identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHandle {
    pub id: String,
    /// The protocol era of the task, since the task APIs of the two eras differ entirely.
    pub era: Era,
    /// The poll interval that the server asks for.
    pub poll: Option<Duration>,
    /// How long the server keeps the task after its creation.
    pub ttl: Option<Duration>,
}

/// A task's state, as its server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskState {
    pub status: TaskStatus,
    pub message: Option<String>,
    /// The new poll interval that the server asks for.
    pub poll: Option<Duration>,
}

/// A task and its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskUpdate {
    pub task: TaskHandle,
    pub state: TaskState,
}

/// The protocol's status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    Working,
    /// The task waits for answers to its requests.
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl TaskStatus {
    const ALL: [Self; 5] =
        [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled];

    /// Returns the protocol's word, which is the same in both eras.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether the task has ended.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Parses the protocol's word for a status.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// The server instance that runs a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    pub server: String,
    /// The number of the instance; instances do not share tasks.
    pub instance: usize,
}
