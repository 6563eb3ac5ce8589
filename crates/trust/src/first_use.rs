//! Servers that are new here: who is there to be asked about them, and what was pinned unseen.

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

/// So many servers that were pinned unseen are remembered, the newest.
const MAX_UNSEEN: usize = 100;

/// Whether a person is present to be asked about a new server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// Nobody is present: the author of the entry has decided.
    #[default]
    Nobody,
    /// A person is present, and sees the definitions of the server before any is used.
    Person,
}

/// A server whose definitions were pinned as they were, because nobody was there to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PinnedUnseen {
    /// Its name.
    pub server: String,
    /// What it runs or where it is, without secrets.
    pub how: String,
    /// How many tools were pinned.
    pub tools: usize,
    /// How many other definitions were pinned.
    pub others: usize,
    /// What the scanner found that a person should know of: the name and the rules.
    pub findings: Vec<String>,
}

impl PinnedUnseen {
    /// The same in one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let findings = match self.findings.as_slice() {
            [] => "nothing was found in them".to_owned(),
            some => format!("findings: {}", some.join("; ")),
        };
        let tools = if self.tools == 1 { "1 tool" } else { &format!("{} tools", self.tools) };
        format!("new server `{}`: {tools} pinned as they are, {findings}", self.server)
    }

    /// What was pinned of a server, before anybody looked for something in it.
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

/// Who is there to be asked about new servers, and what was pinned without asking.
#[derive(Clone, Debug)]
pub struct FirstUseState {
    presence: Presence,
    /// Servers that a person at another face is about to look at.
    attended: Arc<Mutex<BTreeSet<String>>>,
    /// What was pinned and not yet told.
    pinned: Arc<Mutex<Vec<PinnedUnseen>>>,
    unseen: Published<Vec<PinnedUnseen>>,
    /// Wakes whoever screens, when a person has answered.
    answered: Arc<Notify>,
}

impl Default for FirstUseState {
    fn default() -> Self {
        Self::new(Presence::Nobody)
    }
}

impl FirstUseState {
    /// Starts with nothing seen.
    pub fn new(presence: Presence) -> Self {
        Self {
            presence,
            attended: Arc::default(),
            pinned: Arc::default(),
            unseen: Published::new(Vec::new()),
            answered: Arc::default(),
        }
    }

    /// What becomes of a server that nobody has approved: pinned or held.
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

    /// Notes that a person at another face is about to look at this server.
    pub fn attend(&self, server: &str) {
        let mut attended = self.attended.lock();
        attended.insert(server.to_owned());
    }

    /// Whether a person at another face has this server before them.
    pub(crate) fn is_attended(&self, server: &ServerId) -> bool {
        let attended = self.attended.lock();
        attended.contains(server.as_str())
    }

    /// Returns the servers that were pinned without review since the host started.
    pub const fn unseen(&self) -> &Published<Vec<PinnedUnseen>> {
        &self.unseen
    }

    /// Remembers what was pinned unseen, until it was looked at for what is in it.
    pub fn add_pinned(&self, unseen: PinnedUnseen) {
        self.pinned.lock().push(unseen);
    }

    /// Publishes what was pinned unseen, with what was found in it; gives what is told of it.
    pub fn publish_pinned(&self, flagged: &[Flagged]) -> Vec<EventKind> {
        let new = std::mem::take(&mut *self.pinned.lock());
        if new.is_empty() {
            return Vec::new();
        }
        let new: Vec<_> = new.into_iter().map(|one| one.with_findings(flagged)).collect();
        let told = new.iter().map(PinnedUnseen::event).collect();
        let mut all = self.unseen.load().to_vec();
        all.extend(new);
        let from = all.len().saturating_sub(MAX_UNSEEN);
        self.unseen.publish(all.split_off(from));
        told
    }

    /// Tells whoever screens that a person has answered.
    pub fn notify_answered(&self) {
        self.answered.notify_one();
    }

    /// Waits until a person has answered.
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
