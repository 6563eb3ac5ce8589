//! Keeps a server informed: which messages are wanted, which folders there are, which resources
//! somebody wants to hear about.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use switchboard_config::{Config, LogLevel};
use switchboard_core::{ServerId, What};
use switchboard_wire::handshake::Agreement;
use switchboard_wire::{Era, Peer, Request, Stance};
use tokio_util::sync::CancellationToken;

use crate::connect_context::Surroundings;

/// How long a server may take to note something.
const LIMIT: Duration = Duration::from_secs(10);

/// What a server is kept informed about.
pub(crate) struct Informing<'a> {
    pub peer: &'a Peer,
    pub agreement: &'a Agreement,
    pub server: &'a ServerId,
    pub around: &'a Surroundings,
    pub told: Told,
}

/// What a server was told about this connection.
pub(crate) struct Told {
    /// Whether we said that folders can be asked for.
    pub roots: bool,
    /// Whether this connection hears about resources: one of several is enough.
    pub resources: bool,
    /// Is cancelled once the server knows which messages are wanted.
    pub level: CancellationToken,
}

/// What a server knows already.
struct Known {
    level: Option<LogLevel>,
    roots: Vec<PathBuf>,
    resources: BTreeSet<String>,
    /// What every request says before a level is added to it.
    stance: Stance,
}

impl Informing<'_> {
    /// Tells the server everything that is new, until the connection ends.
    pub(crate) async fn run(self) {
        let mut config = self.around.config.changes();
        let mut wanted = self.around.subscriptions.changes();
        let mut known = Known {
            level: None,
            roots: config.load().settings.roots.clone(),
            resources: BTreeSet::new(),
            stance: (*self.peer.stance()).clone(),
        };
        loop {
            let (now, _) = (config.load(), wanted.load());
            self.tell_level(wanted_level(&now, self.server), &mut known).await;
            self.told.level.cancel();
            self.tell_roots(&now, &mut known).await;
            self.tell_resources(&mut known).await;
            tokio::select! {
                _ = config.changed() => {}
                _ = wanted.changed() => {}
            }
        }
    }

    async fn tell_level(&self, level: LogLevel, known: &mut Known) {
        if known.level == Some(level) || !self.agreement.can("logging") {
            return;
        }
        let before = known.level.replace(level);
        match self.agreement.revision.era() {
            Era::Modern if level == LogLevel::Off => self.peer.speak(known.stance.clone()),
            Era::Modern => {
                let Stance { revision, meta } = known.stance.clone();
                let word = level.as_str();
                let key = "io.modelcontextprotocol/logLevel";
                self.peer.speak(Stance { revision, meta: format!(r#"{meta},"{key}":"{word}""#) });
            }
            // A server that was never told a level may say nothing at all.
            Era::Legacy if level == LogLevel::Off && before.is_none() => {}
            Era::Legacy => {
                let level = level.min(LogLevel::Emergency).as_str();
                let params = json!({ "level": level }).to_string();
                // What is not serious enough is left out here as well, whatever it answers.
                self.peer.request(Request::new("logging/setLevel", &params, LIMIT)).await.ok();
            }
        }
    }

    async fn tell_roots(&self, config: &Config, known: &mut Known) {
        if known.roots == config.settings.roots {
            return;
        }
        known.roots.clone_from(&config.settings.roots);
        if self.told.roots && self.agreement.revision.era() == Era::Legacy {
            // The connection may have ended; the next one begins with the new folders.
            self.peer.notify("notifications/roots/list_changed", "").await.ok();
        }
    }

    /// Subscribes and unsubscribes; a modern server is told by the request to listen.
    async fn tell_resources(&self, known: &mut Known) {
        let legacy = self.agreement.revision.era() == Era::Legacy;
        if !legacy || !self.told.resources || !can_subscribe(self.agreement) {
            return;
        }
        let wanted = self.around.subscriptions.of(self.server);
        for uri in known.resources.difference(&wanted) {
            let params = json!({ "uri": uri }).to_string();
            self.peer.request(Request::new("resources/unsubscribe", &params, LIMIT)).await.ok();
        }
        for uri in wanted.difference(&known.resources) {
            let params = json!({ "uri": uri }).to_string();
            let asked = Request::new("resources/subscribe", &params, LIMIT);
            let outcome = self.peer.request(asked).await;
            let problem = outcome.err().map(|error| error.to_string());
            self.around.events.tell(|| What::ResourceSubscribed {
                server: self.server.to_string(),
                uri: uri.clone(),
                problem,
            });
        }
        known.resources = wanted;
    }
}

/// Which messages of a server are wanted.
pub(crate) fn wanted_level(config: &Config, server: &ServerId) -> LogLevel {
    let own = config.servers.get(server).and_then(|server| server.log_level);
    own.unwrap_or(config.settings.log_level)
}

/// Whether the server tells of changes of single resources.
pub fn can_subscribe(agreement: &Agreement) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Declared {
        resources: Resources,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Resources {
        subscribe: bool,
    }
    agreement.capabilities.read::<Declared>().is_ok_and(|declared| declared.resources.subscribe)
}
