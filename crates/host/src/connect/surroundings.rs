//! What all connections share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use switchboard_wire::handshake::Introduction;
use switchboard_wire::http::{self, HttpClient};
use switchboard_wire::{Json, Limits, RequestError};
use tokio::sync::mpsc;

use crate::builtin::InProcess;
use crate::config::{AuthoritiesFile, Config};
use crate::connect::answers::Answers;
use crate::connect::call_answers::CallAnswers;
use crate::connect::memory::Memory;
use crate::connect::messages::Messages;
use crate::connect::subscriptions::Subscriptions;
use crate::events::Events;
use crate::login::Logins;
use crate::published::Published;
use crate::server_id::ServerId;
use crate::tasks::Tasks;
use crate::timelines::Timelines;

/// What all connections share.
pub struct Surroundings {
    client: OnceLock<HttpClient>,
    pub(super) config: Published<Config>,
    pub(super) answers: Arc<dyn Answers>,
    pub(super) call_answers: Arc<CallAnswers>,
    pub(super) keeper: Option<Vec<String>>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) roots: Vec<PathBuf>,
    pub(super) memory: Memory,
    pub(super) state: Option<PathBuf>,
    pub(super) start_limit: Duration,
    pub(super) messages: Messages,
    pub(super) subscriptions: Subscriptions,
    pub(super) late: mpsc::Sender<(u64, Json)>,
    pub(super) tasks: Tasks,
    pub(super) events: Events,
    pub(super) timelines: Timelines,
    pub(super) logins: Logins,
    pub(super) in_process: BTreeMap<ServerId, Arc<InProcess>>,
}

impl Surroundings {
    /// How we introduce ourselves to a server.
    pub(super) fn introduction(&self, server: &ServerId) -> Introduction {
        Introduction {
            name: "switchboard".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: self.answers.capabilities(server.as_str()),
            extensions: &["io.modelcontextprotocol/tasks"],
        }
    }

    /// What servers say unasked.
    #[must_use]
    pub const fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Which resources are wanted.
    #[must_use]
    pub const fn subscriptions(&self) -> &Subscriptions {
        &self.subscriptions
    }

    /// The client that all HTTP servers share, made when the first of them needs it: that reads the
    /// system's certificates, which a host without such servers can do without.
    /// A server with authorities of its own has a client of its own.
    pub(super) fn client(&self, own: Option<&AuthoritiesFile>) -> Result<HttpClient, RequestError> {
        if let Some(own) = own {
            let bad = |error| RequestError::NotSent(format!("`{}` {error}", own.path.display()));
            return http::client_trusting(&Limits::default(), &own.authorities().map_err(bad)?);
        }
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let made = http::client(&Limits::default())?;
        Ok(self.client.get_or_init(|| made).clone())
    }
}

/// What [`Surroundings`] are made of.
pub struct Parts {
    /// The configuration, as it is and as it changes.
    pub config: Published<Config>,
    /// Who answers what servers ask.
    pub answers: Arc<dyn Answers>,
    /// Who answers instead, for the sake of single calls.
    pub call_answers: Arc<CallAnswers>,
    /// The program that stays between us and a server.
    pub keeper: Option<Vec<String>>,
    /// Our own environment.
    pub variables: BTreeMap<String, String>,
    /// The folders of the built-in server.
    pub roots: Vec<PathBuf>,
    /// The folder to remember what was learnt about servers, and what they said.
    pub state: Option<PathBuf>,
    /// How long a server may take to start.
    pub start_limit: Duration,
    /// Where late answers go, with the tag of their call.
    pub late: mpsc::Sender<(u64, Json)>,
    /// Where tasks run.
    pub tasks: Tasks,
    /// Where events are told.
    pub events: Events,
    /// Where it is noted what happens to calls.
    pub timelines: Timelines,
    /// The logins of servers.
    pub logins: Logins,
    /// The servers that are part of the program around us.
    pub in_process: BTreeMap<ServerId, Arc<InProcess>>,
}

impl From<Parts> for Surroundings {
    fn from(parts: Parts) -> Self {
        Self {
            client: OnceLock::new(),
            config: parts.config,
            answers: parts.answers,
            call_answers: parts.call_answers,
            keeper: parts.keeper,
            variables: parts.variables,
            roots: parts.roots,
            memory: Memory::load(parts.state.as_ref().map(|state| state.join("eras.json"))),
            messages: Messages::kept_in(parts.state.as_deref()),
            subscriptions: Subscriptions::default(),
            state: parts.state,
            start_limit: parts.start_limit,
            late: parts.late,
            tasks: parts.tasks,
            events: parts.events,
            timelines: parts.timelines,
            logins: parts.logins,
            in_process: parts.in_process,
        }
    }
}
