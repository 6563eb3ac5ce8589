//! Conversations that are held through the pages: each is one task, told what to do and heard by all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use switchboard_agent::turn::Decision;
use switchboard_agent::{Conversation, Event, OpenError, Opening, Parts};
use switchboard_config::Config;
use switchboard_core::{Durability, Face};
use switchboard_prompting::Model;
use switchboard_store::{SessionId, Sessions};
use tokio::sync::{broadcast, mpsc};

use crate::console::Console;
use crate::reply::Problem;

/// As long a conversation stays open after its last turn; then a terminal can take it up.
const IDLE: Duration = Duration::from_secs(60);
/// So many conversations are heard at once.
const MOST: usize = 64;
/// So much is kept for whoever hears slowly.
const KEPT: usize = 1_024;

/// Opens the model of a name, or the usual one.
pub type OpenModel = dyn Fn(&Config, Option<&str>) -> Result<Arc<dyn Model>, NoModel> + Send + Sync;

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NoModel {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Conversations that are held through the pages. Clones are handles on the same.
#[derive(Clone, Default)]
pub struct Talks {
    lines: Arc<Mutex<HashMap<String, Line>>>,
}

/// What leads to one conversation.
struct Line {
    /// Tells its task what to do; none while nobody holds the conversation.
    orders: Option<mpsc::Sender<Order>>,
    told: broadcast::Sender<Arc<str>>,
}

/// What a person wants of a conversation.
pub(crate) enum Order {
    Say(String),
    Decide(Decision),
    Cancel,
    Retry,
}

impl Talks {
    /// Whether a call of this reference belongs to a conversation that is held here.
    #[must_use]
    pub fn holds(&self, reference: &str) -> bool {
        let Some((session, _)) = reference.split_once('/') else { return false };
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.get(session).is_some_and(Line::is_held)
    }

    /// Hears what happens in a conversation from here on, whether somebody holds it or not.
    pub(crate) fn hear(&self, session: &str) -> Option<broadcast::Receiver<Arc<str>>> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.retain(|_, line| line.is_held() || line.told.receiver_count() > 0);
        if lines.len() >= MOST && !lines.contains_key(session) {
            return None;
        }
        let line = lines.entry(session.to_owned()).or_insert_with(Line::new);
        Some(line.told.subscribe())
    }

    fn orders_of(&self, session: &str) -> Option<mpsc::Sender<Order>> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.get(session)?.orders.clone().filter(|orders| !orders.is_closed())
    }

    /// Gives a conversation its task.
    fn take_up(&self, conversation: Conversation, events: mpsc::Receiver<Event>) -> SessionId {
        let session = conversation.session().clone();
        let (orders, received) = mpsc::channel(64);
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(session.to_string()).or_insert_with(Line::new);
        line.orders = Some(orders);
        tokio::spawn(hold(conversation, events, received, line.told.clone()));
        session
    }
}

impl Line {
    fn new() -> Self {
        Self { orders: None, told: broadcast::Sender::new(KEPT) }
    }

    /// Whether its task still takes orders.
    fn is_held(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| !orders.is_closed())
    }
}

/// Holds a conversation until nothing has happened for a while.
async fn hold(
    conversation: Conversation,
    mut events: mpsc::Receiver<Event>,
    mut orders: mpsc::Receiver<Order>,
    told: broadcast::Sender<Arc<str>>,
) {
    let mut is_at_rest = true;
    loop {
        let idle = tokio::time::sleep(IDLE);
        tokio::select! {
            event = events.recv() => match event {
                Some(event) => {
                    is_at_rest = matches!(event, Event::TurnEnded { .. } | Event::Session { .. });
                    let text = serde_json::to_string(&event).unwrap_or_default();
                    // Nobody may listen at this moment.
                    told.send(text.into()).ok();
                }
                None => break,
            },
            order = orders.recv() => match order {
                Some(order) => {
                    is_at_rest = false;
                    follow(&conversation, order).await;
                }
                None => break,
            },
            () = idle, if is_at_rest => break,
        }
    }
    // From here on an order is refused, and whoever gave it takes the conversation up again.
    orders.close();
    while let Some(order) = orders.recv().await {
        follow(&conversation, order).await;
    }
    conversation.close().await;
}

async fn follow(conversation: &Conversation, order: Order) {
    match order {
        Order::Say(text) => conversation.say(text, Vec::new()).await,
        Order::Decide(decision) => conversation.decide(decision).await,
        Order::Cancel => conversation.cancel().await,
        Order::Retry => conversation.retry().await,
    }
}

impl Console {
    /// Begins a conversation; gives its name.
    pub(crate) async fn begin_talk(&self, model: Option<&str>) -> Result<String, Problem> {
        let folder = self.environment.current_dir.clone();
        let parts = self.parts(model)?;
        let opened = Conversation::open(parts, Opening::New { name: None, folder }).await;
        let (conversation, events) = opened.map_err(|error| not_opened(&error))?;
        Ok(self.talks.take_up(conversation, events).to_string())
    }

    /// Tells a conversation what to do; takes it up first if nobody holds it.
    pub(crate) async fn order(&self, session: &str, order: Order) -> Result<(), Problem> {
        let order = match self.talks.orders_of(session) {
            Some(orders) => match orders.send(order).await {
                Ok(()) => return Ok(()),
                Err(refused) => refused.0,
            },
            None => order,
        };
        let missing = || Problem::missing(format!("there is no session `{session}`"));
        let found = self.sessions()?.find(session).await.map_err(|_| missing())?;
        let parts = self.parts(Some(&found.model))?;
        let opened = Conversation::open(parts, Opening::Resume(found.id)).await;
        let (conversation, events) = opened.map_err(|error| not_opened(&error))?;
        let id = self.talks.take_up(conversation, events);
        let orders = self.talks.orders_of(id.as_str()).ok_or_else(missing)?;
        orders.send(order).await.map_err(|_| Problem::trouble("the conversation has ended"))
    }

    fn parts(&self, model: Option<&str>) -> Result<Parts, Problem> {
        let config = self.host.config().load();
        let open = self.models.as_ref().ok_or_else(|| Problem::unusable("there are no models"))?;
        let model = open(&config, model).map_err(|error| {
            let problem = Problem::unusable(error.message);
            match error.hint {
                Some(hint) => problem.with_hint(hint),
                None => problem,
            }
        })?;
        Ok(Parts {
            host: self.host.clone(),
            model,
            sessions: self.sessions()?,
            settings: config.settings.chat.clone(),
            face: Face::Console,
        })
    }

    fn sessions(&self) -> Result<Sessions, Problem> {
        let file = self.places.state.join("record").join("sessions.db");
        Sessions::open(&file, Durability::Process)
            .map_err(|error| Problem::trouble(error.to_string()))
    }
}

fn not_opened(error: &OpenError) -> Problem {
    Problem::new(StatusCode::CONFLICT, error.to_string())
        .with_hint("it may be open in a terminal; end it there first")
}
