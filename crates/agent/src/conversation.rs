//! The handle on a conversation: begin or resume it, speak, give up, go on.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_host::config::ChatSettings;
use switchboard_host::format::Image;
use switchboard_host::record::{NewSession, SessionError, SessionId, Sessions};
use switchboard_host::{Face, Host, Model};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::drive::Driver;
use crate::event::Event;
use crate::journal::{Unreadable, entries};
use crate::turn::{Decision, Entry, Limits, State, replay};

/// What a conversation is held with.
#[derive(Clone)]
pub struct Parts {
    /// Runs the calls.
    pub host: Host,
    /// Answers.
    pub model: Arc<dyn Model>,
    /// Keeps every step.
    pub sessions: Sessions,
    /// How it goes.
    pub settings: ChatSettings,
    /// The face that it is held through.
    pub face: Face,
}

/// Whether a conversation begins or goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It begins.
    New {
        /// What its owner calls it.
        name: Option<String>,
        /// The folder it is about.
        folder: PathBuf,
    },
    /// It goes on where it was left.
    Resume(SessionId),
}

/// Why a conversation cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be kept or found.
    #[error(transparent)]
    Sessions(#[from] SessionError),
    /// What was kept cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// A conversation. Its task ends when the handle is dropped or closed.
#[derive(Debug)]
pub struct Conversation {
    session: SessionId,
    commands: mpsc::Sender<Command>,
    task: JoinHandle<()>,
}

/// What the task is told.
pub(crate) enum Command {
    Say(String, Vec<Image>),
    Decide(Decision),
    Cancel,
    Retry,
    Undo,
    Use(Arc<dyn Model>),
}

impl Conversation {
    /// Opens a conversation. One that goes on does so at once, where it was left: a call that may
    /// have run already is not run again.
    ///
    /// # Errors
    /// When it cannot be kept, or what was kept cannot be read.
    pub async fn open(
        parts: Parts,
        opening: Opening,
    ) -> Result<(Self, mpsc::Receiver<Event>), OpenError> {
        let (session, kept) = match opening {
            Opening::New { name, folder } => {
                let model = parts.model.about().profile.clone();
                let new = NewSession { name, model, folder };
                (parts.sessions.create(new).await?, Vec::new())
            }
            Opening::Resume(session) => {
                let steps = parts.sessions.steps(&session).await?;
                (session, entries(&steps)?)
            }
        };
        let (commands, received) = mpsc::channel(16);
        let (events, watched) = mpsc::channel(256);
        let driver = Driver::new(parts, session.clone(), kept, events);
        let task = tokio::spawn(driver.run(received));
        Ok((Self { session, commands, task }, watched))
    }

    /// Under which name it is kept.
    #[must_use]
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// Says something. While something runs, it waits for the next question to the model.
    pub async fn say(&self, text: impl Into<String>, images: Vec<Image>) {
        self.tell(Command::Say(text.into(), images)).await;
    }

    /// Answers the question whether to go on.
    pub async fn decide(&self, decision: Decision) {
        self.tell(Command::Decide(decision)).await;
    }

    /// Gives up what runs.
    pub async fn cancel(&self) {
        self.tell(Command::Cancel).await;
    }

    /// Asks the model once more after it failed.
    pub async fn retry(&self) {
        self.tell(Command::Retry).await;
    }

    /// Takes the last turn back: what the person said and all that came of it for the model. Calls
    /// that ran have run; the record keeps them, and so does the conversation.
    pub async fn undo(&self) {
        self.tell(Command::Undo).await;
    }

    /// Goes on with another model.
    pub async fn use_model(&self, model: Arc<dyn Model>) {
        self.tell(Command::Use(model)).await;
    }

    /// Ends the task; calls that run are given up and recorded.
    pub async fn close(self) {
        let Self { commands, task, .. } = self;
        drop(commands);
        // The task ends by itself once nobody can tell it anything.
        task.await.ok();
    }

    async fn tell(&self, command: Command) {
        // A task that has ended has told why.
        self.commands.send(command).await.ok();
    }
}

/// The state of a kept conversation.
///
/// # Errors
/// When it cannot be found or read.
pub async fn state_of(sessions: &Sessions, session: &SessionId) -> Result<State, OpenError> {
    Ok(replay(kept_inputs(sessions, session).await?))
}

/// The inputs of a kept conversation.
///
/// # Errors
/// When it cannot be found or read.
pub async fn kept_inputs(
    sessions: &Sessions,
    session: &SessionId,
) -> Result<Vec<Entry>, OpenError> {
    Ok(entries(&sessions.steps(session).await?)?)
}

/// The limits for a model under the settings.
pub(crate) fn limits(settings: &ChatSettings, model: &dyn Model) -> Limits {
    Limits::of(settings, model.about().window)
}
