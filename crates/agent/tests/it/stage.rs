//! A host with a fixture, and a conversation on it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use switchboard_agent::{
    Conversation, ConversationParts, ConversationStart, Event, TurnEnd, TurnState, load_state,
};
use switchboard_config::{ChatSettings, Environment, Places};
use switchboard_core::Face;
use switchboard_host::{Host, Options, Reviewer};
use switchboard_prompting::Model;
use switchboard_rules::Pattern;
use switchboard_store::{SessionId, SessionStore};
use switchboard_testkit::{Home, binary};
use tokio::sync::mpsc;

use crate::puppet::TEST_TIMEOUT;

/// A host whose servers are ready.
pub(crate) struct Stage {
    pub(crate) home: Home,
    host: Host,
    pub(crate) sessions: SessionStore,
    pub(crate) settings: ChatSettings,
}

/// The source of consent to calls.
pub(crate) enum Consent {
    Everything,
    Ask(Arc<dyn Reviewer>),
}

impl Stage {
    /// Starts a host with the server `echo`, whose calls all run.
    pub(crate) async fn new() -> Self {
        Self::with(&["echo"], Consent::Everything).await
    }

    /// Starts a host with a fixture of this kind as the server `echo`.
    pub(crate) async fn with(words: &[&str], consent: Consent) -> Self {
        let home = Home::new();
        let journal = home.journal().display().to_string();
        let arguments = [words, &["--journal", &journal]].concat();
        let entry = json!({"command": binary(), "args": arguments});
        let config = json!({"mcpServers": {"echo": entry}, "settings": {"builtin": false}});
        let config = home.write("config.json", config.to_string());
        let mut options = options(&home, config);
        match consent {
            Consent::Everything => options.allow = vec![Pattern::new("*")],
            Consent::Ask(reviewer) => options.reviewer = reviewer,
        }
        let host = Host::start(options).expect("the host starts");
        host.wait_settled(None).await;
        let sessions = SessionStore::in_memory().unwrap();
        Self { home, host, sessions, settings: ChatSettings::default() }
    }

    /// Starts a conversation.
    pub(crate) async fn talk(&self, model: Arc<dyn Model>) -> Talk {
        let folder = self.home.path().to_owned();
        self.open(model, ConversationStart::New { name: None, folder }).await
    }

    /// Resumes a conversation.
    pub(crate) async fn resume(&self, model: Arc<dyn Model>, session: SessionId) -> Talk {
        self.open(model, ConversationStart::Resume(session)).await
    }

    async fn open(&self, model: Arc<dyn Model>, opening: ConversationStart) -> Talk {
        let parts = ConversationParts {
            host: self.host.clone(),
            model,
            sessions: self.sessions.clone(),
            settings: self.settings.clone(),
            face: Face::Chat,
        };
        let (conversation, events) = Conversation::open(parts, opening).await.unwrap();
        Talk { conversation, events }
    }

    /// Returns the stored state of a conversation.
    pub(crate) async fn state(&self, session: &SessionId) -> TurnState {
        load_state(&self.sessions, session).await.unwrap()
    }

    pub(crate) async fn stop(self) {
        self.host.stop().await;
    }
}

fn options(home: &Home, config: PathBuf) -> Options {
    let state = home.path().join("state");
    let places = Places { user: Some(config), ..Places::without_files(state) };
    let path = std::env::var("PATH").unwrap_or_default();
    let environment = Environment {
        variables: BTreeMap::from([("PATH".to_owned(), path)]),
        home: Some(home.path().to_owned()),
        current_dir: home.path().to_owned(),
    };
    Options::new(places, environment)
}

/// A conversation and its events.
pub(crate) struct Talk {
    pub(crate) conversation: Conversation,
    events: mpsc::Receiver<Event>,
}

impl Talk {
    pub(crate) async fn say(&self, text: &str) {
        self.conversation.say(text, Vec::new()).await;
    }

    /// Waits for a matching event; skips those before it.
    pub(crate) async fn until<T>(&mut self, fits: impl Fn(&Event) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let event = self.events.recv().await.expect("the conversation goes on");
                if let Some(found) = fits(&event) {
                    return found;
                }
            }
        };
        tokio::time::timeout(TEST_TIMEOUT, waiting).await.expect("the event comes in time")
    }

    /// Waits for the end of the turn.
    pub(crate) async fn wait_turn_end(&mut self) -> TurnEnd {
        self.until(|event| match event {
            Event::TurnEnded { end, .. } => Some(end.clone()),
            _ => None,
        })
        .await
    }

    /// Waits until a call of this tool begins.
    pub(crate) async fn wait_call(&mut self, tool: &str) {
        self.until(|event| match event {
            Event::Call { target, .. } => (target == tool).then_some(()),
            _ => None,
        })
        .await;
    }

    /// Waits for a warning.
    pub(crate) async fn wait_warning(&mut self) -> String {
        self.until(|event| match event {
            Event::Warning { text, .. } => Some(text.clone()),
            _ => None,
        })
        .await
    }
}
