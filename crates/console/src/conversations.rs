//! Conversations held through the pages: one task each, with commands in and events out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use parking_lot::Mutex;
use switchboard_agent::{
    Conversation, ConversationParts, ConversationStart, Event, LimitDecision, OpenError,
};
use switchboard_config::Config;
use switchboard_core::{Durability, Face};
use switchboard_prompting::Model;
use switchboard_store::{SessionId, SessionStore};
use tokio::sync::{broadcast, mpsc};

use crate::console::Console;
use crate::reply::ApiError;

/// How long a conversation stays open after its last turn. After that, a terminal can resume it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of conversations with subscribers, so that open tabs cannot exhaust memory.
const MAX_CONVERSATIONS: usize = 64;
/// Maximum number of events buffered for a slow subscriber.
const MAX_BUFFERED_EVENTS: usize = 1_024;

/// Opens a model by name, or the default one.
pub type OpenModel =
    dyn Fn(&Config, Option<&str>) -> Result<Arc<dyn Model>, OpenModelError> + Send + Sync;

/// The reason why a model cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OpenModelError {
    pub message: String,
    pub hint: Option<String>,
}

/// The conversations held through the pages. Clones share the same state.
#[derive(Clone, Default)]
pub struct Conversations {
    lines: Arc<Mutex<HashMap<String, ConversationChannel>>>,
}

struct ConversationChannel {
    /// The commands to its task; `None` while no task runs.
    orders: Option<mpsc::Sender<ConversationCommand>>,
    told: broadcast::Sender<Arc<str>>,
}

pub(crate) enum ConversationCommand {
    Say(String),
    Decide(LimitDecision),
    Cancel,
    Retry,
}

impl Conversations {
    /// Returns whether a call with this reference belongs to a conversation that runs here.
    #[must_use]
    pub fn holds(&self, reference: &str) -> bool {
        let Some((session, _)) = reference.split_once('/') else { return false };
        let lines = self.lines.lock();
        lines.get(session).is_some_and(ConversationChannel::is_running)
    }

    /// Subscribes to the events of a conversation. Returns `None` if there are too many.
    pub(crate) fn subscribe(&self, session: &str) -> Option<broadcast::Receiver<Arc<str>>> {
        let mut lines = self.lines.lock();
        // A task that ends leaves its channel to its subscribers, so the channel goes here.
        lines.retain(|_, line| line.is_running() || line.told.receiver_count() > 0);
        if lines.len() >= MAX_CONVERSATIONS && !lines.contains_key(session) {
            return None;
        }
        // Even if its task does not run: a page subscribes before the person says something.
        let line = lines.entry(session.to_owned()).or_insert_with(ConversationChannel::new);
        Some(line.told.subscribe())
    }

    fn command_sender(&self, session: &str) -> Option<mpsc::Sender<ConversationCommand>> {
        let lines = self.lines.lock();
        lines.get(session)?.orders.clone().filter(|orders| !orders.is_closed())
    }

    fn spawn(&self, conversation: Conversation, events: mpsc::Receiver<Event>) -> SessionId {
        let session = conversation.session().clone();
        let (orders, received) = mpsc::channel(64);
        let mut lines = self.lines.lock();
        let line = lines.entry(session.to_string()).or_insert_with(ConversationChannel::new);
        line.orders = Some(orders);
        tokio::spawn(run_conversation(conversation, events, received, line.told.clone()));
        session
    }
}

impl ConversationChannel {
    fn new() -> Self {
        Self { orders: None, told: broadcast::Sender::new(MAX_BUFFERED_EVENTS) }
    }

    fn is_running(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| !orders.is_closed())
    }
}

/// Runs a conversation until it has been idle for [`IDLE_TIMEOUT`].
async fn run_conversation(
    conversation: Conversation,
    mut events: mpsc::Receiver<Event>,
    mut orders: mpsc::Receiver<ConversationCommand>,
    told: broadcast::Sender<Arc<str>>,
) {
    let mut is_at_rest = true;
    loop {
        let idle = tokio::time::sleep(IDLE_TIMEOUT);
        tokio::select! {
            event = events.recv() => match event {
                Some(event) => {
                    // Only between turns: closing during one would abort the model's work.
                    is_at_rest = matches!(event, Event::TurnEnded { .. } | Event::Session { .. });
                    let text = serde_json::to_string(&event).unwrap_or_default();
                    // Fails if no page is open; the next one reads the stored conversation.
                    _ = told.send(text.into());
                }
                None => break,
            },
            order = orders.recv() => match order {
                Some(order) => {
                    is_at_rest = false;
                    apply_command(&conversation, order).await;
                }
                None => break,
            },
            () = idle, if is_at_rest => break,
        }
    }
    // Senders of further commands resume the conversation; queued commands are still applied.
    orders.close();
    while let Some(order) = orders.recv().await {
        apply_command(&conversation, order).await;
    }
    conversation.close().await;
}

async fn apply_command(conversation: &Conversation, order: ConversationCommand) {
    match order {
        ConversationCommand::Say(text) => conversation.say(text, Vec::new()).await,
        ConversationCommand::Decide(decision) => conversation.decide(decision).await,
        ConversationCommand::Cancel => conversation.cancel().await,
        ConversationCommand::Retry => conversation.retry().await,
    }
}

impl Console {
    pub(crate) async fn start_conversation(&self, model: Option<&str>) -> Result<String, ApiError> {
        let folder = self.environment.current_dir.clone();
        let parts = self.conversation_parts(model)?;
        let opened = Conversation::open(parts, ConversationStart::New { name: None, folder }).await;
        let (conversation, events) = opened.map_err(|error| open_error(&error))?;
        Ok(self.talks.spawn(conversation, events).to_string())
    }

    /// Sends a command to a conversation, and resumes the conversation first if it does not run.
    pub(crate) async fn send_command(
        &self,
        session: &str,
        order: ConversationCommand,
    ) -> Result<(), ApiError> {
        let order = match self.talks.command_sender(session) {
            Some(orders) => match orders.send(order).await {
                Ok(()) => return Ok(()),
                // The task closed in the meantime; the error returns the command.
                Err(refused) => refused.0,
            },
            None => order,
        };
        let missing = || ApiError::not_found(format!("unknown session `{session}`"));
        let found = self.sessions()?.find(session).await.map_err(|_| missing())?;
        let parts = self.conversation_parts(Some(&found.model))?;
        let opened = Conversation::open(parts, ConversationStart::Resume(found.id)).await;
        let (conversation, events) = opened.map_err(|error| open_error(&error))?;
        let id = self.talks.spawn(conversation, events);
        let orders = self.talks.command_sender(id.as_str()).ok_or_else(missing)?;
        orders.send(order).await.map_err(|_| ApiError::internal("the conversation has ended"))
    }

    fn conversation_parts(&self, model: Option<&str>) -> Result<ConversationParts, ApiError> {
        let config = self.host.config().load();
        let unavailable = || ApiError::unprocessable("no models are available");
        let open = self.models.as_ref().ok_or_else(unavailable)?;
        let model = open(&config, model)
            .map_err(|error| ApiError::unprocessable(error.message).maybe_hint(error.hint))?;
        Ok(ConversationParts {
            host: self.host.clone(),
            model,
            sessions: self.sessions()?,
            settings: config.settings.chat.clone(),
            face: Face::Console,
        })
    }

    fn sessions(&self) -> Result<SessionStore, ApiError> {
        let file = self.places.state.join("record").join("sessions.db");
        SessionStore::open(&file, Durability::Process).map_err(ApiError::internal)
    }
}

fn open_error(error: &OpenError) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, error.to_string())
        .with_hint("if it is open in a terminal, close it there first")
}
