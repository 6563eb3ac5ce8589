//! Keeps a server's log level, roots and resource subscriptions in sync with the configuration.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::{Config, LogLevel};
use switchboard_core::{EventKind, ServerId};
use switchboard_wire::{Agreement, Era, Peer, ProtocolState, Request};
use tokio_util::sync::CancellationToken;

use crate::connect_context::ConnectContext;

/// How long a server may take to acknowledge a change.
const SYNC_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct ServerSync<'a> {
    pub peer: &'a Peer,
    pub agreement: &'a Agreement,
    pub server: &'a ServerId,
    pub context: &'a ConnectContext,
    pub options: SyncOptions<'a>,
}

pub(crate) struct SyncOptions<'a> {
    pub declared_roots: bool,
    /// Whether this connection subscribes to resources. One instance per server is enough.
    pub listens_to_resources: bool,
    /// Cancelled once the log level has been sent.
    pub level_sent: &'a CancellationToken,
}

/// The state that the server has been sent.
struct SyncState {
    level: Option<LogLevel>,
    roots: Vec<PathBuf>,
    resources: BTreeSet<String>,
    /// The protocol state before a log level is added to it.
    base_protocol: ProtocolState,
}

impl ServerSync<'_> {
    pub(crate) async fn run(self) {
        let mut config = self.context.config.changes();
        let mut wanted = self.context.subscriptions.changes();
        let mut known = SyncState {
            level: None,
            roots: config.load().settings.roots.clone(),
            resources: BTreeSet::new(),
            base_protocol: (*self.peer.protocol()).clone(),
        };
        loop {
            let now = config.load();
            let _ = wanted.load();
            self.sync_log_level(effective_log_level(&now, self.server), &mut known).await;
            self.options.level_sent.cancel();
            self.sync_roots(&now, &mut known).await;
            self.sync_subscriptions(&mut known).await;
            tokio::select! {
                _ = config.changed() => {}
                _ = wanted.changed() => {}
            }
        }
    }

    async fn sync_log_level(&self, level: LogLevel, known: &mut SyncState) {
        if known.level == Some(level) || !self.agreement.has_capability("logging") {
            return;
        }
        let before = known.level.replace(level);
        match self.agreement.revision.era() {
            Era::Modern if level == LogLevel::Off => {
                self.peer.set_protocol(known.base_protocol.clone());
            }
            // Modern requests carry the level themselves, so nothing is sent here.
            Era::Modern => {
                let ProtocolState { revision, meta } = known.base_protocol.clone();
                let word = level.as_str();
                let key = "io.modelcontextprotocol/logLevel";
                self.peer.set_protocol(ProtocolState {
                    revision,
                    meta: format!(r#"{meta},"{key}":"{word}""#),
                });
            }
            // By default a server may log nothing, so there is nothing to switch off.
            Era::Legacy if level == LogLevel::Off && before.is_none() => {}
            Era::Legacy => {
                let level = level.min(LogLevel::Emergency).as_str();
                let params = json!({ "level": level }).to_string();
                let request = Request::new("logging/setLevel", &params, SYNC_TIMEOUT);
                // Messages below the level are filtered on this side too, whatever the server does.
                _ = self.peer.request(request).await;
            }
        }
    }

    async fn sync_roots(&self, config: &Config, known: &mut SyncState) {
        if known.roots == config.settings.roots {
            return;
        }
        known.roots.clone_from(&config.settings.roots);
        if self.options.declared_roots && self.agreement.revision.era() == Era::Legacy {
            // The connection may have ended; the next one starts with the new roots.
            _ = self.peer.notify("notifications/roots/list_changed", "").await;
        }
    }

    /// Updates the subscriptions of a legacy server; for a modern one, `ChangeListener` does.
    async fn sync_subscriptions(&self, known: &mut SyncState) {
        let legacy = self.agreement.revision.era() == Era::Legacy;
        if !legacy || !self.options.listens_to_resources || !can_subscribe(self.agreement) {
            return;
        }
        let wanted = self.context.subscriptions.wanted_uris(self.server);
        for uri in known.resources.difference(&wanted) {
            let params = json!({ "uri": uri }).to_string();
            let request = Request::new("resources/unsubscribe", &params, SYNC_TIMEOUT);
            // Updates that still arrive for the resource have no subscriber left.
            _ = self.peer.request(request).await;
        }
        for uri in wanted.difference(&known.resources) {
            let params = json!({ "uri": uri }).to_string();
            let asked = Request::new("resources/subscribe", &params, SYNC_TIMEOUT);
            let outcome = self.peer.request(asked).await;
            let problem = outcome.err().map(|error| error.to_string());
            self.context.subscriptions.settle(self.server, uri);
            self.context.events.emit(|| EventKind::ResourceSubscribed {
                server: self.server.to_string(),
                uri: uri.clone(),
                problem,
            });
        }
        known.resources = wanted;
    }
}

pub(crate) fn effective_log_level(config: &Config, server: &ServerId) -> LogLevel {
    let own = config.servers.get(server).and_then(|server| server.log_level);
    own.unwrap_or(config.settings.log_level)
}

/// Returns whether the server supports subscriptions to single resources.
pub fn can_subscribe(agreement: &Agreement) -> bool {
    let declared = agreement.capabilities.read::<Value>().unwrap_or_default();
    declared.pointer("/resources/subscribe") == Some(&Value::Bool(true))
}
