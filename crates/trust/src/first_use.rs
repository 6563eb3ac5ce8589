//! First use of servers: whether a person can be asked, and which servers were pinned unreviewed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use switchboard_catalog::Flagged;
use switchboard_config::{FirstUseSetting, ServerConfig, Settings};
use switchboard_core::{EventKind, Published, ServerId};
use switchboard_files::{Lock, LockError, create_private_folder};
use switchboard_scan::Severity;
use switchboard_text::Digest;
use tokio::sync::Notify;

use crate::pins_file::{DefinitionMap, PinKind};

/// Maximum number of unreviewed servers that are listed; the oldest are dropped.
const MAX_UNSEEN: usize = 100;
/// How long a claim waits for another process that looks whether there is one.
const CLAIM_WAIT: Duration = Duration::from_secs(2);

/// Whether a person is present to be asked about a new server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// The author of the entry has decided.
    #[default]
    Nobody,
    /// The person reviews the definitions of a server before any is used.
    Person,
}

/// A server that a person is about to be asked about, from before its entry is written.
///
/// Other processes of the home read the entry as soon as it is there. Until this is dropped, they
/// hold the server instead of pinning it; the pins then say whether the person was asked.
#[derive(Debug)]
pub struct FirstUseClaim {
    _lock: Lock,
}

impl FirstUseClaim {
    /// Claims a server for the person at this process.
    pub fn new(state: &Path, server: &str) -> Result<Self, String> {
        let path = claim_file(state, server);
        let claimed = path.parent().map_or(Ok(()), create_private_folder);
        let lock = claimed.map_err(LockError::from).and_then(|()| Lock::acquire(&path, CLAIM_WAIT));
        let lock = lock.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { _lock: lock })
    }
}

/// Returns whether another process has claimed a server. A claim that cannot be read counts.
pub(crate) fn is_claimed(state: &Path, server: &str) -> bool {
    let path = claim_file(state, server);
    // Most servers were never claimed, and looking must not create a file for each of them.
    match path.try_exists() {
        Ok(false) => false,
        Ok(true) => Lock::acquire(&path, Duration::ZERO).is_err(),
        Err(_) => true,
    }
}

fn claim_file(state: &Path, server: &str) -> PathBuf {
    // A digest, because names may differ only in letter case.
    state.join("pins").join("claims").join(Digest::new("first use").with(server).hex())
}

/// A server whose definitions were pinned without review, because no person was present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PinnedUnseen {
    /// Name of the pinned server.
    pub server: String,
    /// Command or URL of the server, without secrets.
    pub how: String,
    /// Number of tools that were pinned.
    pub tools: usize,
    /// Number of other definitions that were pinned.
    pub others: usize,
    /// Findings of the scanner that a person should review: each definition with its rules.
    pub findings: Vec<String>,
}

impl PinnedUnseen {
    /// Returns a summary in one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let findings = match self.findings.as_slice() {
            [] => "no findings".to_owned(),
            some => format!("findings: {}", some.join("; ")),
        };
        let tools = if self.tools == 1 { "1 tool" } else { &format!("{} tools", self.tools) };
        format!("new server `{}`: {tools} pinned without review, {findings}", self.server)
    }

    /// Creates the report for a server that was just pinned, without findings.
    pub fn new(config: &ServerConfig, first: &DefinitionMap) -> Self {
        let tools = first.get(&PinKind::Tool).map_or(0, BTreeMap::len);
        let all: usize = first.values().map(BTreeMap::len).sum();
        let server = config.id.to_string();
        let how = config.endpoint_text();
        Self { server, how, tools, others: all.saturating_sub(tools), findings: Vec::new() }
    }

    fn with_findings(self, flagged: &[Flagged]) -> Self {
        let own = flagged.iter().filter(|one| one.server.as_str() == self.server);
        let findings = own.filter(|one| one.severity >= Severity::Ask).map(|one| {
            let rules: BTreeSet<&str> = one.findings.iter().map(|finding| finding.rule).collect();
            let rules: Vec<&str> = rules.into_iter().collect();
            let name = if one.name.is_empty() { one.kind.as_str() } else { &one.name };
            format!("`{name}` ({})", rules.join(", "))
        });
        Self { findings: findings.collect(), ..self }
    }

    fn event(&self) -> EventKind {
        let Self { server, how, tools, others, findings } = self.clone();
        EventKind::ServerPinned { server, how, tools, others, findings }
    }
}

/// Whether a person can be asked about new servers, and the servers pinned without asking.
#[derive(Clone, Debug)]
pub struct FirstUseState {
    presence: Presence,
    /// Servers that a person at another face is about to review.
    attended: Arc<Mutex<BTreeSet<String>>>,
    /// Pinned servers that are not published yet.
    pinned: Arc<Mutex<Vec<PinnedUnseen>>>,
    unseen: Published<Vec<PinnedUnseen>>,
    /// Wakes the screening task when a person has answered.
    answered: Arc<Notify>,
}

impl Default for FirstUseState {
    fn default() -> Self {
        Self::new(Presence::Nobody)
    }
}

impl FirstUseState {
    /// Creates the state without any pinned servers.
    pub fn new(presence: Presence) -> Self {
        Self {
            presence,
            attended: Arc::default(),
            pinned: Arc::default(),
            unseen: Published::new(Vec::new()),
            answered: Arc::default(),
        }
    }

    /// Returns whether an unapproved server is pinned or held.
    pub fn setting_for(&self, settings: &Settings, server: &ServerId) -> FirstUseSetting {
        match settings.first_use {
            FirstUseSetting::Person if self.asks_person(server) => FirstUseSetting::Ask,
            FirstUseSetting::Person => FirstUseSetting::Trust,
            decided @ (FirstUseSetting::Trust | FirstUseSetting::Ask) => decided,
        }
    }

    /// Records that a person at another face is about to review this server.
    pub fn attend(&self, server: &str) {
        self.attended.lock().insert(server.to_owned());
    }

    /// Returns whether a person at this or at another face is asked about a new server.
    pub(crate) fn asks_person(&self, server: &ServerId) -> bool {
        self.presence == Presence::Person || self.attended.lock().contains(server.as_str())
    }

    /// Returns the servers that were pinned without review since the host started.
    pub const fn unseen(&self) -> &Published<Vec<PinnedUnseen>> {
        &self.unseen
    }

    /// Queues an unreviewed server until the scanner has examined it.
    pub fn add_pinned(&self, unseen: PinnedUnseen) {
        self.pinned.lock().push(unseen);
    }

    /// Publishes the queued servers with their findings, and returns the events to emit.
    pub fn publish_pinned(&self, flagged: &[Flagged]) -> Vec<EventKind> {
        // Published only now, so that the notice about a server includes its findings.
        let new = std::mem::take(&mut *self.pinned.lock());
        if new.is_empty() {
            return Vec::new();
        }
        let new: Vec<_> = new.into_iter().map(|one| one.with_findings(flagged)).collect();
        let events = new.iter().map(PinnedUnseen::event).collect();
        let mut all = self.unseen.load().to_vec();
        all.extend(new);
        let from = all.len().saturating_sub(MAX_UNSEEN);
        self.unseen.publish(all.split_off(from));
        events
    }

    /// Wakes the screening task after a person has answered.
    pub fn notify_answered(&self) {
        self.answered.notify_one();
    }

    /// Waits until a person has answered a question.
    pub async fn wait_answered(&self) {
        self.answered.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_server_is_held_where_somebody_is_there_and_pinned_where_nobody_is() {
        let server = ServerId::new("files").unwrap();
        for (setting, presence, decided) in [
            (FirstUseSetting::Trust, Presence::Person, FirstUseSetting::Trust),
            (FirstUseSetting::Person, Presence::Nobody, FirstUseSetting::Trust),
            (FirstUseSetting::Person, Presence::Person, FirstUseSetting::Ask),
            (FirstUseSetting::Ask, Presence::Nobody, FirstUseSetting::Ask),
        ] {
            let newcomers = FirstUseState::new(presence);
            let settings = Settings { first_use: setting, ..Settings::default() };
            assert_eq!(
                newcomers.setting_for(&settings, &server),
                decided,
                "{setting:?} {presence:?}"
            );
        }
        let newcomers = FirstUseState::new(Presence::Nobody);
        newcomers.attend("files");
        let other = ServerId::new("notes").unwrap();
        let first_use = |id| newcomers.setting_for(&Settings::default(), id);
        assert_eq!(
            (first_use(&server), first_use(&other)),
            (FirstUseSetting::Ask, FirstUseSetting::Trust)
        );
    }
}
