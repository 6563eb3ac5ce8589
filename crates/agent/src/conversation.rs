//! The handle on a conversation: begin or resume it, speak, give up, go on.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_config::ChatSettings;
use switchboard_core::{Face, OutcomeKind};
use switchboard_host::Host;
use switchboard_prompting::{Image, Model};
use switchboard_store::{LedgerError, NewSession, SessionError, SessionId, SessionStore};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::answer_sources;
use crate::driver::Driver;
use crate::event::Event;
use crate::journal::{UnreadableStep, decode, encode};
use crate::turn::{
    CallEnd, LimitDecision, TurnEntry, TurnInput, TurnLimits, TurnState, replay, step, texts,
};

/// What a conversation is held with.
#[derive(Clone)]
pub struct ConversationParts {
    pub host: Host,
    pub model: Arc<dyn Model>,
    pub sessions: SessionStore,
    pub settings: ChatSettings,
    /// The face that it is held through.
    pub face: Face,
}

/// Whether a conversation begins or goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationStart {
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
    Unreadable(#[from] UnreadableStep),
    /// Nobody knows what it read.
    #[error(transparent)]
    Record(#[from] LedgerError),
}

/// A conversation. Its task ends when the handle is dropped or closed.
#[derive(Debug)]
pub struct Conversation {
    session: SessionId,
    commands: mpsc::Sender<DriverCommand>,
    task: JoinHandle<()>,
}

/// What the task is told.
pub(crate) enum DriverCommand {
    Say(String, Vec<Image>),
    Decide(LimitDecision),
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
        parts: ConversationParts,
        opening: ConversationStart,
    ) -> Result<(Self, mpsc::Receiver<Event>), OpenError> {
        let model = parts.model.info().profile.clone();
        let (session, kept, held) = match opening {
            ConversationStart::New { name, folder } => {
                let session = parts.sessions.create(NewSession { name, model, folder }).await?;
                let held = parts.sessions.lock_session(&session)?;
                (session, Vec::new(), held)
            }
            ConversationStart::Resume(session) => {
                // Before anything is read: nobody may add to it from here on.
                let held = parts.sessions.lock_session(&session)?;
                let steps = parts.sessions.steps(&session).await?;
                parts.sessions.set_model(&session, &model).await?;
                let kept = decode(&steps)?;
                parts
                    .host
                    .restore_taint(session.as_str(), answer_sources::answer_sources(&kept))
                    .await?;
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
        self.send(DriverCommand::Say(text.into(), images)).await;
    }

    /// Answers the question whether to go on.
    pub async fn decide(&self, decision: LimitDecision) {
        self.send(DriverCommand::Decide(decision)).await;
    }

    /// Gives up what runs.
    pub async fn cancel(&self) {
        self.send(DriverCommand::Cancel).await;
    }

    /// Asks the model once more after it failed.
    pub async fn retry(&self) {
        self.send(DriverCommand::Retry).await;
    }

    /// Takes the last turn back: what the person said and all that came of it for the model. Calls
    /// that ran have run; the record keeps them, and so does the conversation. Gives whether there
    /// was a turn that could be taken back.
    pub async fn undo(&self) -> bool {
        let (told, answer) = oneshot::channel();
        self.send(DriverCommand::Undo(told)).await;
        answer.await.unwrap_or(false)
    }

    /// Goes on with another model.
    pub async fn use_model(&self, model: Arc<dyn Model>) {
        self.send(DriverCommand::Use(model)).await;
    }

    /// Ends the task; calls that run are given up and recorded.
    pub async fn close(self) {
        let Self { commands, task, .. } = self;
        drop(commands);
        // The driver ends once its command channel is closed; it reports failures as events.
        _ = task.await;
    }

    async fn send(&self, command: DriverCommand) {
        // A driver that has ended has sent an event with the reason.
        _ = self.commands.send(command).await;
    }
}

/// The state of a kept conversation.
///
/// # Errors
/// When it cannot be found or read.
pub async fn load_state(
    sessions: &SessionStore,
    session: &SessionId,
) -> Result<TurnState, OpenError> {
    Ok(replay(load_inputs(sessions, session).await?))
}

/// The inputs of a kept conversation.
///
/// # Errors
/// When it cannot be found or read.
pub async fn load_inputs(
    sessions: &SessionStore,
    session: &SessionId,
) -> Result<Vec<TurnEntry>, OpenError> {
    Ok(decode(&sessions.steps(session).await?)?)
}

/// Begins a new conversation with the first steps of another one.
///
/// What was under way at that step is not done a second time: the model is told that it was begun
/// in the other conversation.
///
/// # Errors
/// When there is no such step, or it cannot be kept.
pub async fn fork(
    sessions: &SessionStore,
    session: &SessionId,
    upto: u64,
    name: Option<String>,
) -> Result<SessionId, OpenError> {
    let fork = sessions.fork(session, upto, name).await?;
    let mut state = load_state(sessions, &fork).await?;
    while let Some(slot) = state.running() {
        let end = Box::new(CallEnd::not_run(OutcomeKind::Unknown, texts::FORKED));
        let input = TurnInput::Ended { slot, end };
        let (kind, body) = encode(&input);
        sessions.append(&fork, state.number + 1, &kind, body).await?;
        state = step(state, input).0;
    }
    Ok(fork)
}

/// The limits for a model under the settings.
pub(crate) fn limits(settings: &ChatSettings, model: &dyn Model) -> TurnLimits {
    TurnLimits::from_settings(settings, model.info().window)
}
