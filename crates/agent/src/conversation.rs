//! The handle of a conversation: open, resume, send messages, cancel.

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
use crate::turn::{CallEnd, LimitDecision, TurnEntry, TurnInput, TurnState, replay, step, texts};

/// The components that a conversation uses.
#[derive(Clone)]
pub struct ConversationParts {
    pub host: Host,
    pub model: Arc<dyn Model>,
    pub sessions: SessionStore,
    pub settings: ChatSettings,
    /// The face that the user talks through.
    pub face: Face,
}

/// How a conversation is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationStart {
    New { name: Option<String>, folder: PathBuf },
    Resume(SessionId),
}

/// Why a conversation cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Sessions(#[from] SessionError),
    #[error(transparent)]
    Unreadable(#[from] UnreadableStep),
    /// The record cannot be read, so the taint of the conversation is unknown.
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

pub(crate) enum DriverCommand {
    Say(String, Vec<Image>),
    Decide(LimitDecision),
    Cancel,
    Retry,
    Undo(oneshot::Sender<bool>),
    Use(Arc<dyn Model>),
}

impl Conversation {
    /// Opens a conversation. A resumed one continues immediately where it stopped; a call that may
    /// already have run is not run again.
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
                // Lock first, so that no other process adds steps after they were read.
                let held = parts.sessions.lock_session(&session)?;
                let steps = parts.sessions.steps(&session).await?;
                parts.sessions.set_model(&session, &model).await?;
                let kept = decode(&steps)?;
                // A restart must not launder untrusted text that the model has already read.
                parts
                    .host
                    .restore_taint(session.as_str(), answer_sources::answer_sources(&kept))
                    .await?;
                (session, kept, held)
            }
        };
        // More than a user can type while a question is open.
        let (commands, received) = mpsc::channel(256);
        // A slow face blocks the driver here rather than losing events.
        let (events, watched) = mpsc::channel(256);
        let driver = Driver::new(parts, session.clone(), kept, events, held);
        let task = tokio::spawn(driver.run(received));
        Ok((Self { session, commands, task }, watched))
    }

    /// Returns the id under which the conversation is stored.
    #[must_use]
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// Sends a user message, which is queued for the next model request while a step is running.
    pub async fn say(&self, text: impl Into<String>, images: Vec<Image>) {
        self.send(DriverCommand::Say(text.into(), images)).await;
    }

    /// Answers the question whether to continue after a limit.
    pub async fn decide(&self, decision: LimitDecision) {
        self.send(DriverCommand::Decide(decision)).await;
    }

    /// Cancels the running step.
    pub async fn cancel(&self) {
        self.send(DriverCommand::Cancel).await;
    }

    /// Retries the request to the model after it failed.
    pub async fn retry(&self) {
        self.send(DriverCommand::Retry).await;
    }

    /// Hides the last turn from the model, and returns whether there was one. Calls that ran are
    /// not reverted and stay in the record.
    pub async fn undo(&self) -> bool {
        let (reply, answer) = oneshot::channel();
        self.send(DriverCommand::Undo(reply)).await;
        // A driver that has ended drops the sender, and has not undone anything.
        answer.await.unwrap_or(false)
    }

    /// Switches to another model.
    pub async fn use_model(&self, model: Arc<dyn Model>) {
        self.send(DriverCommand::Use(model)).await;
    }

    /// Ends the conversation's task; running calls are cancelled and recorded.
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

/// Loads the state of a stored conversation.
pub async fn load_state(
    sessions: &SessionStore,
    session: &SessionId,
) -> Result<TurnState, OpenError> {
    Ok(replay(load_inputs(sessions, session).await?))
}

/// Loads the inputs of a stored conversation, including undone ones.
pub async fn load_inputs(
    sessions: &SessionStore,
    session: &SessionId,
) -> Result<Vec<TurnEntry>, OpenError> {
    Ok(decode(&sessions.steps(session).await?)?)
}

/// Creates a conversation from the first `upto` steps of another one.
///
/// Calls that were running at that step are not run again: their result tells the model that the
/// other conversation started them.
pub async fn fork(
    sessions: &SessionStore,
    session: &SessionId,
    upto: u64,
    name: Option<String>,
) -> Result<SessionId, OpenError> {
    let fork = sessions.fork(session, upto, name).await?;
    let mut state = load_state(sessions, &fork).await?;
    // A loop, because the end of one call starts the next one that waits.
    while let Some(slot) = state.running() {
        let end = Box::new(CallEnd::not_run(OutcomeKind::Unknown, texts::FORKED));
        let input = TurnInput::Ended { slot, end };
        let (kind, body) = encode(&input);
        sessions.append(&fork, state.number + 1, &kind, body).await?;
        state = step(state, input).0;
    }
    Ok(fork)
}
