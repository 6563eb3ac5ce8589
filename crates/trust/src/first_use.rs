//! First use of servers: whether a person can be asked, and which servers were pinned unreviewed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use switchboard_catalog::Flagged;
use switchboard_config::{FirstUseSetting, ServerConfig, Settings};
use switchboard_core::{EventKind, Published, ServerId};
use switchboard_scan::Severity;
use tokio::sync::Notify;

use crate::pins_file::{DefinitionMap, PinKind};

/// Maximum number of unreviewed servers that are listed; the oldest are dropped.
const MAX_UNSEEN: usize = 100;

/// Whether a person is present to be asked about a new server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// The author of the entry has decided.
    #[default]
    Nobody,
    /// The person reviews the definitions of a server before any is used.
    Person,
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
            FirstUseSetting::Person
                if self.presence == Presence::Person || self.is_attended(server) =>
            {
                FirstUseSetting::Ask
            }
            FirstUseSetting::Person => FirstUseSetting::Trust,
            decided @ (FirstUseSetting::Trust | FirstUseSetting::Ask) => decided,
        }
    }

    /// Records that a person at another face is about to review this server.
    pub fn attend(&self, server: &str) {
        self.attended.lock().insert(server.to_owned());
    }

    pub(crate) fn is_attended(&self, server: &ServerId) -> bool {
        self.attended.lock().contains(server.as_str())
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
