//! Servers that are new here: what a person is shown of one, what comes of the answer, and what was pinned unseen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::catalog::scan::Severity;
use crate::catalog::{Flagged, Held, Quarantine, Why, book_of};
use crate::config::{Book, Finding, FirstUse, PinKind, Pins, ServerConfig, Settings};
use crate::connect::Fleet;
use crate::digest::Digest;
use crate::events::What;
use crate::host::Host;
use crate::new_definition::NewDefinition;
use crate::options::Presence;
use crate::published::Published;
use crate::record::{Audit, AuditNote, audit};
use crate::server_id::ServerId;

/// So many servers that were pinned unseen are remembered, the newest.
const REMEMBERED: usize = 100;
/// As long an answer may take to be followed.
const FOLLOWING: Duration = Duration::from_secs(5);

/// A server that waits for its first approval, as a person is shown it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NewServer {
    /// Its name.
    #[schemars(with = "String")]
    pub server: ServerId,
    /// What it runs or where it is, without secrets.
    pub how: String,
    /// The fingerprint of all that is shown.
    pub version: String,
    /// What is to be known of its entry.
    pub entry_findings: Vec<Finding>,
    /// What it offers.
    pub definitions: Vec<NewDefinition>,
    /// What the scanner found in that.
    pub found: Vec<Flagged>,
    #[serde(skip)]
    identity: String,
    #[serde(skip)]
    held: Vec<Held>,
}

/// What a person says to a server that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstAnswer {
    /// It may be used, exactly as it was shown.
    Use,
    /// Nothing of it is used, also where nobody is there to be asked.
    NotNow,
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
    pub(crate) fn of(config: &ServerConfig, first: &Book) -> Self {
        let tools = first.get(&PinKind::Tool).map_or(0, BTreeMap::len);
        let all: usize = first.values().map(BTreeMap::len).sum();
        let (server, how) = (config.id.to_string(), config.how());
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

    fn event(&self) -> What {
        let Self { server, how, tools, others, findings } = self.clone();
        What::ServerPinned { server, how, tools, others, findings }
    }
}

/// Who is there to be asked about new servers, and what was pinned without asking.
#[derive(Clone, Debug)]
pub(crate) struct Newcomers {
    presence: Presence,
    /// Servers that a person at another face is about to look at.
    attended: Arc<Mutex<BTreeSet<String>>>,
    /// What was pinned and not yet told.
    pinned: Arc<Mutex<Vec<PinnedUnseen>>>,
    unseen: Published<Vec<PinnedUnseen>>,
    /// Wakes whoever screens, when a person has answered.
    answered: Arc<Notify>,
}

impl Default for Newcomers {
    fn default() -> Self {
        Self::new(Presence::Nobody)
    }
}

impl Newcomers {
    pub(crate) fn new(presence: Presence) -> Self {
        Self {
            presence,
            attended: Arc::default(),
            pinned: Arc::default(),
            unseen: Published::new(Vec::new()),
            answered: Arc::default(),
        }
    }

    /// What becomes of a server that nobody has approved: pinned or held.
    pub(crate) fn first_use(&self, settings: &Settings, server: &ServerId) -> FirstUse {
        match settings.first_use {
            FirstUse::Person if self.presence == Presence::Person || self.attends(server) => {
                FirstUse::Ask
            }
            FirstUse::Person => FirstUse::Trust,
            decided @ (FirstUse::Trust | FirstUse::Ask) => decided,
        }
    }

    /// Whether a person at another face has this server before them.
    pub(crate) fn attends(&self, server: &ServerId) -> bool {
        let attended = self.attended.lock().unwrap_or_else(PoisonError::into_inner);
        attended.contains(server.as_str())
    }

    /// Remembers what was pinned unseen, until it was looked at for what is in it.
    pub(crate) fn pinned(&self, unseen: PinnedUnseen) {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner).push(unseen);
    }

    /// Publishes what was pinned unseen, with what was found in it; gives what is told of it.
    pub(crate) fn tell(&self, flagged: &[Flagged]) -> Vec<What> {
        let new = std::mem::take(&mut *self.pinned.lock().unwrap_or_else(PoisonError::into_inner));
        if new.is_empty() {
            return Vec::new();
        }
        let new: Vec<_> = new.into_iter().map(|one| one.with_findings(flagged)).collect();
        let told = new.iter().map(PinnedUnseen::event).collect();
        let mut all = self.unseen.load().to_vec();
        all.extend(new);
        let from = all.len().saturating_sub(REMEMBERED);
        self.unseen.publish(all.split_off(from));
        told
    }

    /// Waits until a person has answered.
    pub(crate) async fn answered(&self) {
        self.answered.notified().await;
    }
}

impl Host {
    /// The servers that wait for their first approval, as a person is shown them.
    #[must_use]
    pub fn new_servers(&self) -> Vec<NewServer> {
        let quarantine = self.held().load();
        let new = quarantine.servers.keys().filter(|id| version_of(&quarantine, id).is_some());
        let new: Vec<&ServerId> = new.collect();
        if new.is_empty() {
            return Vec::new();
        }
        let found = self.examined();
        new.into_iter().filter_map(|id| self.new_server(&quarantine, id, &found)).collect()
    }

    fn new_server(
        &self,
        quarantine: &Quarantine,
        id: &ServerId,
        found: &[Flagged],
    ) -> Option<NewServer> {
        let config = self.config().load();
        let entry = config.servers.get(id)?;
        let held = quarantine.servers.get(id)?.definitions.clone();
        let found = found.iter().filter(|one| one.server == *id && one.severity >= Severity::Ask);
        Some(NewServer {
            server: id.clone(),
            how: entry.how(),
            version: version_of(quarantine, id)?,
            entry_findings: entry.findings.clone(),
            definitions: held.iter().map(|held| NewDefinition::of(entry, held)).collect(),
            found: found.cloned().collect(),
            identity: entry.identity(),
            held,
        })
    }

    /// Does what a person says to a server that is new, and waits until it is so. Gives whether all
    /// that was shown is used from here on: what has changed meanwhile stays held.
    ///
    /// # Errors
    /// When the answer cannot be kept; then nothing of the server is used.
    pub async fn answer_first_use(
        &self,
        new: &NewServer,
        answer: FirstAnswer,
    ) -> Result<bool, String> {
        let (state, identity) = (self.state().to_owned(), new.identity.clone());
        let (held, server) = (new.held.clone(), new.server.to_string());
        let audit = self.guard().audit().clone();
        let writing = tokio::task::spawn_blocking(move || match answer {
            FirstAnswer::Use => approve(&state, &audit, (&server, &identity), &held),
            FirstAnswer::NotNow => refuse(&state, (&server, &identity)),
        });
        writing.await.map_err(|error| error.to_string())??;
        self.guard().pinning().newcomers().answered.notify_one();
        if answer == FirstAnswer::NotNow {
            return Ok(false);
        }
        // What passes is published after what is held.
        let mut changes = self.fleet().changes();
        let until = Instant::now() + FOLLOWING;
        while !self.passes(&changes.load(), new) {
            if timeout_at(until, changes.changed()).await.is_err() {
                return Ok(false);
            }
        }
        Ok(!self.held().load().is_whole(new.server.as_str()))
    }

    /// Whether what is not held of a server is there for everyone.
    fn passes(&self, fleet: &Fleet, new: &NewServer) -> bool {
        let quarantine = self.held().load();
        if version_of(&quarantine, &new.server).is_some_and(|now| now == new.version) {
            return false;
        }
        let Some(server) = fleet.servers.get(&new.server) else { return true };
        let still = quarantine.servers.get(&new.server);
        let is_held = |one: &&Held| {
            let same = |held: &Held| held.kind == one.kind && held.name == one.name;
            still.is_some_and(|held| held.definitions.iter().any(same))
        };
        let offers = &server.offers;
        let has = |one: &Held| match one.kind {
            PinKind::Instructions => true,
            PinKind::Tool => offers.tool(&one.name).is_some(),
            PinKind::Prompt => offers.prompts.iter().any(|item| *item.key == one.name),
            PinKind::Template => offers.templates.iter().any(|item| *item.key == one.name),
        };
        if quarantine.is_whole(new.server.as_str()) {
            return true;
        }
        // A server that has nothing but resources has all of them, or none.
        let raw = self.guard().pinning().raw().load();
        let is_whole =
            raw.servers.get(&new.server).is_none_or(|it| Arc::ptr_eq(offers, &it.offers));
        is_whole || !new.held.is_empty() && new.held.iter().filter(|one| !is_held(one)).all(has)
    }

    /// A person at this face is about to look at a server: if it is new, what it offers waits for
    /// them, unless the settings trust it.
    pub fn look_at_first_use(&self, server: &str) {
        let attended = &self.guard().pinning().newcomers().attended;
        attended.lock().unwrap_or_else(PoisonError::into_inner).insert(server.to_owned());
    }

    /// The servers that were pinned as they were since the host started, because nobody was there
    /// to be asked.
    #[must_use]
    pub fn pinned_unseen(&self) -> &Published<Vec<PinnedUnseen>> {
        &self.guard().pinning().newcomers().unseen
    }
}

/// The fingerprint of all that a server offers, if it waits for its first approval.
pub(crate) fn version_of(quarantine: &Quarantine, server: &ServerId) -> Option<String> {
    let held = quarantine.servers.get(server)?;
    if held.whole != Some(Why::FirstUse) {
        return None;
    }
    let all = held.definitions.iter().fold(Digest::of("first use"), |all, one| {
        all.with(one.kind.as_str()).with(&one.name).with(&one.digest)
    });
    Some(all.hex())
}

/// Stands by exactly what a person was shown. Written down first: what cannot be recorded is not
/// approved.
pub(crate) fn approve(
    state: &Path,
    audit: &Audit,
    (server, identity): (&str, &str),
    shown: &[Held],
) -> Result<(), String> {
    let note = |held: &Held| AuditNote {
        event: audit::APPROVED,
        server: server.to_owned(),
        kind: held.kind.as_str().to_owned(),
        name: held.name.clone(),
        digest: held.digest.clone(),
        detail: "first use".to_owned(),
    };
    let notes: Vec<AuditNote> = shown.iter().map(note).collect();
    audit.add(&notes).map_err(|error| error.to_string())?;
    let book = book_of(shown);
    let changed = Pins::change(state, identity, |pins| {
        pins.server = server.to_owned();
        // Another process may have seen, and noted, something else.
        pins.hold(&book);
        pins.approve(|kind, name| book.get(&kind).is_some_and(|of| of.contains_key(name)));
    });
    changed.map(drop).map_err(|error| error.to_string())
}

fn refuse(state: &Path, (server, identity): (&str, &str)) -> Result<(), String> {
    let changed = Pins::change(state, identity, |pins| {
        pins.server = server.to_owned();
        pins.asked = pins.approved.is_empty();
    });
    changed.map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_server_is_held_where_somebody_is_there_and_pinned_where_nobody_is() {
        let server = ServerId::new("files").unwrap();
        for (setting, presence, decided) in [
            (FirstUse::Trust, Presence::Person, FirstUse::Trust),
            (FirstUse::Person, Presence::Nobody, FirstUse::Trust),
            (FirstUse::Person, Presence::Person, FirstUse::Ask),
            (FirstUse::Ask, Presence::Nobody, FirstUse::Ask),
        ] {
            let newcomers = Newcomers::new(presence);
            let settings = Settings { first_use: setting, ..Settings::default() };
            assert_eq!(
                newcomers.first_use(&settings, &server),
                decided,
                "{setting:?} {presence:?}"
            );
        }
        let newcomers = Newcomers::new(Presence::Nobody);
        newcomers.attended.lock().unwrap().insert("files".to_owned());
        let other = ServerId::new("notes").unwrap();
        let first_use = |id| newcomers.first_use(&Settings::default(), id);
        assert_eq!((first_use(&server), first_use(&other)), (FirstUse::Ask, FirstUse::Trust));
    }
}
