//! Conversations that are held through the pages: each is one task, told what to do and heard by all.

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

/// As long a conversation stays open after its last turn; then a terminal can take it up.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// So many conversations are heard at once.
const MAX_CONVERSATIONS: usize = 64;
/// So much is kept for whoever hears slowly.
const MAX_BUFFERED_EVENTS: usize = 1_024;

/// Opens the model of a name, or the usual one.
pub type OpenModel =
    dyn Fn(&Config, Option<&str>) -> Result<Arc<dyn Model>, OpenModelError> + Send + Sync;

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OpenModelError {
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Conversations that are held through the pages. Clones are handles on the same.
#[derive(Clone, Default)]
pub struct Conversations {
    lines: Arc<Mutex<HashMap<String, ConversationChannel>>>,
}

/// What leads to one conversation.
struct ConversationChannel {
    /// Tells its task what to do; none while nobody holds the conversation.
    orders: Option<mpsc::Sender<ConversationCommand>>,
    told: broadcast::Sender<Arc<str>>,
}

/// What a person wants of a conversation.
pub(crate) enum ConversationCommand {
    Say(String),
    Decide(LimitDecision),
    Cancel,
    Retry,
}

impl Conversations {
    /// Whether a call of this reference belongs to a conversation that is held here.
    #[must_use]
    pub fn holds(&self, reference: &str) -> bool {
        let Some((session, _)) = reference.split_once('/') else { return false };
        let lines = self.lines.lock();
        lines.get(session).is_some_and(ConversationChannel::is_running)
    }

    /// Hears what happens in a conversation from here on, whether somebody holds it or not.
    pub(crate) fn subscribe(&self, session: &str) -> Option<broadcast::Receiver<Arc<str>>> {
        let mut lines = self.lines.lock();
        lines.retain(|_, line| line.is_running() || line.told.receiver_count() > 0);
        if lines.len() >= MAX_CONVERSATIONS && !lines.contains_key(session) {
            return None;
        }
        let line = lines.entry(session.to_owned()).or_insert_with(ConversationChannel::new);
        Some(line.told.subscribe())
    }

    fn command_sender(&self, session: &str) -> Option<mpsc::Sender<ConversationCommand>> {
        let lines = self.lines.lock();
        lines.get(session)?.orders.clone().filter(|orders| !orders.is_closed())
    }

    /// Gives a conversation its task.
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

    /// Whether its task still takes orders.
    fn is_running(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| !orders.is_closed())
    }
}

/// Holds a conversation until nothing has happened for a while.
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
                    is_at_rest = matches!(event, Event::TurnEnded { .. } | Event::Session { .. });
                    let text = serde_json::to_string(&event).unwrap_or_default();
                    // No page may be open at this moment; the next one reads the kept conversation.
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
    // From here on an order is refused, and whoever gave it takes the conversation up again.
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
    /// Begins a conversation; gives its name.
    pub(crate) async fn start_conversation(&self, model: Option<&str>) -> Result<String, ApiError> {
        let folder = self.environment.current_dir.clone();
        let parts = self.conversation_parts(model)?;
        let opened = Conversation::open(parts, ConversationStart::New { name: None, folder }).await;
        let (conversation, events) = opened.map_err(|error| open_error(&error))?;
        Ok(self.talks.spawn(conversation, events).to_string())
    }

    /// Tells a conversation what to do; takes it up first if nobody holds it.
    pub(crate) async fn send_command(
        &self,
        session: &str,
        order: ConversationCommand,
    ) -> Result<(), ApiError> {
        let order = match self.talks.command_sender(session) {
            Some(orders) => match orders.send(order).await {
                Ok(()) => return Ok(()),
                Err(refused) => refused.0,
            },
            None => order,
        };
        let missing = || ApiError::not_found(format!("there is no session `{session}`"));
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
        let open =
            self.models.as_ref().ok_or_else(|| ApiError::unprocessable("there are no models"))?;
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
        SessionStore::open(&file, Durability::Process)
            .map_err(|error| ApiError::internal(error.to_string()))
    }
}

fn open_error(error: &OpenError) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, error.to_string())
        .with_hint("it may be open in a terminal; end it there first")
}
