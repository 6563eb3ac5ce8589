//! A server that waits for its first approval: the details shown, and the effects of the answer.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_catalog::{Flagged, Fleet};
use switchboard_core::{Published, ServerId};
use switchboard_scan::Severity;
use switchboard_trust::{
    PinKind, PinnedUnseen, Quarantine, QuarantinedDefinition, approve_first_use, first_use_version,
    refuse_first_use,
};
use switchboard_vetting::EntryFinding;
use tokio::time::{Instant, timeout_at};

use crate::first_use::new_definition::NewDefinition;
use crate::host::Host;

/// How long `answer` waits until an approval is in effect.
const APPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// A server that waits for its first approval, with the details to show to a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NewServer {
    /// The id of the server.
    #[schemars(with = "String")]
    pub server: ServerId,
    /// The command line or URL, without secrets.
    pub how: String,
    /// The fingerprint of all definitions shown.
    pub version: String,
    /// Warnings about the configuration entry.
    pub entry_findings: Vec<EntryFinding>,
    /// The definitions that the server offers.
    pub definitions: Vec<NewDefinition>,
    /// The scanner's findings in the definitions.
    pub found: Vec<Flagged>,
    #[serde(skip)]
    identity: String,
    #[serde(skip)]
    held: Vec<QuarantinedDefinition>,
}

/// A person's answer about a new server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstAnswer {
    /// Approves the server exactly as it was shown.
    Use,
    /// Rejects the server, also for callers that cannot ask a person.
    NotNow,
}

/// The first use of servers: those that wait for approval, and the answers about them.
#[derive(Clone, Copy)]
pub struct FirstUse<'a> {
    host: &'a Host,
}

impl Host {
    /// Returns a handle on servers that wait for their first approval.
    pub const fn first_use(&self) -> FirstUse<'_> {
        FirstUse { host: self }
    }
}

impl<'a> FirstUse<'a> {
    /// Returns the servers that wait for their first approval, with the details to show.
    pub fn new_servers(&self) -> Vec<NewServer> {
        let quarantine = self.host.quarantine().load();
        let new: Vec<&ServerId> = quarantine
            .servers
            .keys()
            .filter(|id| first_use_version(&quarantine, id).is_some())
            .collect();
        // Scanning every definition is slow, and usually no server is new.
        if new.is_empty() {
            return Vec::new();
        }
        let found = self.host.all_flagged();
        new.into_iter().filter_map(|id| self.new_server(&quarantine, id, &found)).collect()
    }

    /// Announces that a person at this face is about to look at a server. The definitions of a new
    /// server then wait for that person, unless the settings trust it.
    pub fn attend(&self, server: &str) {
        self.host.pins().first_use().attend(server);
    }

    /// Returns the servers that this host pinned without review, because no person was present.
    pub fn pinned_unseen(&self) -> &'a Published<Vec<PinnedUnseen>> {
        self.host.pins().first_use().unseen()
    }

    fn new_server(
        &self,
        quarantine: &Quarantine,
        id: &ServerId,
        found: &[Flagged],
    ) -> Option<NewServer> {
        let config = self.host.config().load();
        let entry = config.servers.get(id)?;
        let held = quarantine.servers.get(id)?.definitions.clone();
        let found = found.iter().filter(|one| one.server == *id && one.severity >= Severity::Ask);
        Some(NewServer {
            server: id.clone(),
            how: entry.endpoint_text(),
            version: first_use_version(quarantine, id)?,
            entry_findings: entry.findings.clone(),
            definitions: held.iter().map(|held| NewDefinition::new(entry, held)).collect(),
            found: found.cloned().collect(),
            identity: entry.identity(),
            held,
        })
    }

    /// Stores a person's answer about a new server, and waits until it is in effect. Returns
    /// whether all definitions shown are usable; those that changed meanwhile stay in quarantine.
    pub async fn answer(&self, new: &NewServer, answer: FirstAnswer) -> Result<bool, String> {
        let state = self.host.state_folder().to_owned();
        let identity = new.identity.clone();
        let held = new.held.clone();
        let server = new.server.to_string();
        let audit = self.host.audit().clone();
        let writing = tokio::task::spawn_blocking(move || match answer {
            FirstAnswer::Use => approve_first_use(&state, &audit, &server, &identity, &held),
            FirstAnswer::NotNow => refuse_first_use(&state, &server, &identity),
        });
        writing.await.map_err(|error| error.to_string())??;
        self.host.pins().first_use().notify_answered();
        if answer == FirstAnswer::NotNow {
            return Ok(false);
        }
        // The fleet is published after the quarantine, so wait for the fleet.
        let mut changes = self.host.fleet().changes();
        let until = Instant::now() + APPLY_TIMEOUT;
        while !self.is_published(&changes.load(), new) {
            if timeout_at(until, changes.changed()).await.is_err() {
                return Ok(false);
            }
        }
        Ok(!self.host.quarantine().load().holds_server(new.server.as_str()))
    }

    fn is_published(&self, fleet: &Fleet, new: &NewServer) -> bool {
        let quarantine = self.host.quarantine().load();
        if first_use_version(&quarantine, &new.server).is_some_and(|now| now == new.version) {
            return false;
        }
        let Some(server) = fleet.servers.get(&new.server) else { return true };
        let still = quarantine.servers.get(&new.server);
        let is_held = |one: &&QuarantinedDefinition| {
            let same =
                |held: &QuarantinedDefinition| held.kind == one.kind && held.name == one.name;
            still.is_some_and(|held| held.definitions.iter().any(same))
        };
        let offers = &server.offers;
        let has = |one: &QuarantinedDefinition| match one.kind {
            PinKind::Instructions => true,
            PinKind::Tool => offers.tool(&one.name).is_some(),
            PinKind::Prompt => offers.prompts.iter().any(|item| *item.key == one.name),
            PinKind::Template => offers.templates.iter().any(|item| *item.key == one.name),
        };
        if quarantine.holds_server(new.server.as_str()) {
            return true;
        }
        // The offers of a server without definitions are either complete or absent.
        let raw = self.host.pins().raw().load();
        let is_whole =
            raw.servers.get(&new.server).is_none_or(|it| Arc::ptr_eq(offers, &it.offers));
        is_whole || !new.held.is_empty() && new.held.iter().filter(|one| !is_held(one)).all(has)
    }
}
