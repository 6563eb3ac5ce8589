//! The context shared by all connections.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use switchboard_builtin::InProcess;
use switchboard_config::{AuthoritiesFile, Config};
use switchboard_core::{Events, Published, ServerId, Tasks};
use switchboard_oauth::Logins;
use switchboard_wire::{
    HttpClient, Introduction, Json, RequestError, WireLimits, new_http_client,
    new_trusting_http_client,
};
use tokio::sync::mpsc;

use crate::answers::Answers;
use crate::call_directory::CallDirectory;
use crate::messages::ServerMessageStore;
use crate::negotiate::EraCache;
use crate::subscriptions::Subscriptions;

/// The context shared by all connections.
pub struct ConnectContext {
    client: OnceLock<HttpClient>,
    pub(crate) config: Published<Config>,
    pub(crate) answers: Arc<dyn Answers>,
    pub(crate) calls: Arc<dyn CallDirectory>,
    pub(crate) keeper: Option<Vec<String>>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) era_cache: EraCache,
    pub(crate) state: Option<PathBuf>,
    pub(crate) start_limit: Duration,
    pub(crate) messages: ServerMessageStore,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) late_answers: mpsc::Sender<(u64, Json)>,
    pub(crate) tasks: Tasks,
    pub(crate) events: Events,
    pub(crate) logins: Logins,
    pub(crate) in_process: BTreeMap<ServerId, Arc<InProcess>>,
}

impl ConnectContext {
    pub(crate) fn introduction(&self, server: &ServerId) -> Introduction {
        Introduction {
            name: "switchboard".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: self.answers.capabilities(server.as_str()),
            extensions: &["io.modelcontextprotocol/tasks"],
        }
    }

    /// Returns the log messages of servers.
    #[must_use]
    pub const fn messages(&self) -> &ServerMessageStore {
        &self.messages
    }

    /// Returns the subscribed resources.
    #[must_use]
    pub const fn subscriptions(&self) -> &Subscriptions {
        &self.subscriptions
    }

    /// Returns the shared HTTP client, or a separate one for a server with its own authorities.
    pub fn client(&self, own: Option<&AuthoritiesFile>) -> Result<HttpClient, RequestError> {
        if let Some(own) = own {
            let bad = |error| RequestError::NotSent(format!("`{}` {error}", own.path.display()));
            return new_trusting_http_client(
                &WireLimits::default(),
                &own.authorities().map_err(bad)?,
            );
        }
        // Created on first use: a host without HTTP servers need not load certificates.
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let made = new_http_client(&WireLimits::default())?;
        Ok(self.client.get_or_init(|| made).clone())
    }
}

/// The parts of a [`ConnectContext`].
pub struct ConnectParts {
    pub config: Published<Config>,
    pub answers: Arc<dyn Answers>,
    pub calls: Arc<dyn CallDirectory>,
    /// The command line that starts a keeper; without one, servers may outlive a killed host.
    pub keeper: Option<Vec<String>>,
    pub variables: BTreeMap<String, String>,
    /// The root folders of the built-in server.
    pub roots: Vec<PathBuf>,
    /// The state folder, for detected eras, logs and messages.
    pub state: Option<PathBuf>,
    pub start_limit: Duration,
    /// Receiver of late answers, with the tags of their calls.
    pub late_answers: mpsc::Sender<(u64, Json)>,
    pub tasks: Tasks,
    pub events: Events,
    pub logins: Logins,
    pub in_process: BTreeMap<ServerId, Arc<InProcess>>,
}

impl From<ConnectParts> for ConnectContext {
    fn from(parts: ConnectParts) -> Self {
        Self {
            client: OnceLock::new(),
            config: parts.config,
            answers: parts.answers,
            calls: parts.calls,
            keeper: parts.keeper,
            variables: parts.variables,
            roots: parts.roots,
            era_cache: EraCache::load(parts.state.as_ref().map(|state| state.join("eras.json"))),
            messages: ServerMessageStore::with_state_folder(parts.state.as_deref()),
            subscriptions: Subscriptions::default(),
            state: parts.state,
            start_limit: parts.start_limit,
            late_answers: parts.late_answers,
            tasks: parts.tasks,
            events: parts.events,
            logins: parts.logins,
            in_process: parts.in_process,
        }
    }
}
