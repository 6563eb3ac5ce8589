//! The handle on a conversation: begin or resume it, speak, give up, go on.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_config::ChatSettings;
use switchboard_core::{Face, OutcomeKind};
use switchboard_host::Host;
use switchboard_prompting::{Image, Model};
use switchboard_store::{LedgerError, NewSession, SessionError, SessionId, Sessions};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::drive::Driver;
use crate::event::Event;
use crate::journal::{Unreadable, entries, kept};
use crate::read_from;
use crate::turn::{Decision, Ended, Entry, Input, Limits, State, replay, step, words};

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
    /// Nobody knows what it read.
    #[error(transparent)]
    Record(#[from] LedgerError),
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
    Undo(oneshot::Sender<bool>),
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
        let model = parts.model.about().profile.clone();
        let (session, kept, held) = match opening {
            Opening::New { name, folder } => {
                let session = parts.sessions.create(NewSession { name, model, folder }).await?;
                let held = parts.sessions.hold(&session)?;
                (session, Vec::new(), held)
            }
            Opening::Resume(session) => {
                // Before anything is read: nobody may add to it from here on.
                let held = parts.sessions.hold(&session)?;
                let steps = parts.sessions.steps(&session).await?;
                parts.sessions.set_model(&session, &model).await?;
                let kept = entries(&steps)?;
                parts.host.goes_on(session.as_str(), read_from::results(&kept)).await?;
                (session, kept, held)
            }
        };
        // More than anybody types while a question is on the screen.
        let (commands, received) = mpsc::channel(256);
        let (events, watched) = mpsc::channel(256);
        let driver = Driver::new(parts, session.clone(), kept, events, held);
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
    /// that ran have run; the record keeps them, and so does the conversation. Gives whether there
    /// was a turn that could be taken back.
    pub async fn undo(&self) -> bool {
        let (told, answer) = oneshot::channel();
        self.tell(Command::Undo(told)).await;
        answer.await.unwrap_or(false)
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

/// Begins a new conversation with the first steps of another one.
///
/// What was under way at that step is not done a second time: the model is told that it was begun
/// in the other conversation.
///
/// # Errors
/// When there is no such step, or it cannot be kept.
pub async fn fork(
    sessions: &Sessions,
    session: &SessionId,
    upto: u64,
    name: Option<String>,
) -> Result<SessionId, OpenError> {
    let fork = sessions.fork(session, upto, name).await?;
    let mut state = state_of(sessions, &fork).await?;
    while let Some(slot) = state.running() {
        let end = Box::new(Ended::not_run(OutcomeKind::Unknown, words::FORKED));
        let input = Input::Ended { slot, end };
        let (kind, body) = kept(&input);
        sessions.append(&fork, state.number + 1, &kind, body).await?;
        state = step(state, input).0;
    }
    Ok(fork)
}

/// The limits for a model under the settings.
pub(crate) fn limits(settings: &ChatSettings, model: &dyn Model) -> Limits {
    Limits::of(settings, model.about().window)
}
