//! The gate between connections and callers: holds back definitions that are not approved.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use switchboard_catalog::{AcceptedFindings, Fleet, Server};
use switchboard_config::{
    CompromiseScope, Config, FirstUseSetting, ServerConfig, Settings, Transport,
};
use switchboard_core::{EventKind, Events, Published, ServerId, Tasks};
use switchboard_files::{ProcessLock, create_private_folder, watch};
use switchboard_rules::Policies;

use crate::accepted::{accepted_file, load_accepted};
use crate::always_answers::{AlwaysAnswers, ApprovedDefinition};
use crate::compromised::quarantine_server;
use crate::first_use::{FirstUseState, PinnedUnseen, Presence, is_claimed};
use crate::lock_file::LockFile;
use crate::pins::{
    ScreenedOffers, pin_digest, quarantine_all, quarantine_book, reported_version, screen,
    screen_locked,
};
use crate::pins_file::{PinWriter, Pins};
use crate::quarantine::{Quarantine, QuarantineReason, QuarantinedServer};
use crate::screened_server::{ScreenInput, ScreenSettings, ScreenedServer};

/// How long to wait before files are read again after an error. No event announces the end of some
/// errors, such as a full disk.
const RETRY_DELAY: Duration = Duration::from_secs(3);

/// The visible fleet and the quarantine, both kept up to date by a task.
#[derive(Clone, Debug)]
pub struct PinGate {
    raw: Published<Fleet>,
    visible: Published<Fleet>,
    quarantine: Published<Quarantine>,
    first_use: FirstUseState,
    is_locked: bool,
}

/// Settings of a [`PinGate`] that do not change while it runs.
#[derive(Debug)]
pub struct PinGateOptions {
    /// The state folder, which contains the pins.
    pub state: PathBuf,
    /// The lock file to enforce instead of the pins.
    pub lock: Option<LockFile>,
    /// Whether a person is present to review new servers.
    pub presence: Presence,
}

impl PinGate {
    /// Starts a task that screens the servers of `raw`.
    pub fn start(
        raw: Published<Fleet>,
        config: &Published<Config>,
        options: PinGateOptions,
        tasks: &Tasks,
        events: &Events,
    ) -> Self {
        let PinGateOptions { state, lock, presence } = options;
        let first_use = FirstUseState::new(presence);
        let is_locked = lock.is_some();
        let mut screener = Screener {
            state,
            lock,
            first_use: first_use.clone(),
            events: events.clone(),
            ..Screener::default()
        };
        let mut servers = raw.changes();
        let mut configs = config.changes();
        // No server is connected yet, so this first pass pins nothing.
        let (fleet, quarantine) = screener.screen_fleet(&servers.load(), &configs.load());
        let visible = Published::new(fleet);
        let quarantine = Published::new(quarantine);
        let gate = Self { raw, visible, quarantine, first_use, is_locked };
        let Self { visible, quarantine, first_use, .. } = gate.clone();
        let stopping = tasks.stop_token().clone();
        let mut files = watch(Vec::new());
        tasks.spawn(async move {
            loop {
                let fleet = servers.load();
                let config = configs.load();
                // Watch before reading, so that no change in between is missed.
                files.set_files(screener.files(&fleet));
                let mut screened = screener.screen_fleet(&fleet, &config);
                if screener.persist(&fleet).await {
                    screened = screener.screen_fleet(&fleet, &config);
                }
                // Publish the quarantine first, so that no definition is absent from both.
                quarantine.publish(screened.1);
                visible.publish(screened.0);
                tokio::select! {
                    () = stopping.cancelled() => return,
                    _ = servers.changed() => {}
                    _ = configs.changed() => {}
                    () = files.changed() => screener.invalidate(),
                    () = tokio::time::sleep(RETRY_DELAY), if screener.has_file_error() => {
                        screener.invalidate();
                    }
                    () = first_use.wait_answered() => screener.invalidate(),
                }
            }
        });
        gate
    }

    /// Returns the servers with their approved offers.
    pub const fn visible(&self) -> &Published<Fleet> {
        &self.visible
    }

    /// Returns the servers with all their offers.
    pub const fn raw(&self) -> &Published<Fleet> {
        &self.raw
    }

    /// Returns whether screening is enabled at all.
    pub const fn is_enabled(&self, settings: &Settings) -> bool {
        settings.pins || self.is_locked
    }

    /// Returns the state of first uses.
    pub const fn first_use(&self) -> &FirstUseState {
        &self.first_use
    }

    /// Returns the quarantined definitions.
    pub const fn quarantine(&self) -> &Published<Quarantine> {
        &self.quarantine
    }
}

/// Screens servers and caches the files and the results.
#[derive(Default)]
struct Screener {
    state: PathBuf,
    events: Events,
    first_use: FirstUseState,
    /// The lock file, which replaces the pins if present.
    lock: Option<LockFile>,
    pins: BTreeMap<String, Result<Pins, String>>,
    remembered: Option<Result<AlwaysAnswers, String>>,
    /// Tools whose "always" answer was for another definition.
    stale: BTreeMap<ServerId, BTreeSet<String>>,
    screened: BTreeMap<ServerId, ScreenedServer>,
    accepted: Option<Arc<AcceptedFindings>>,
    /// The last published edition, and the inputs that it was made from.
    edition: u64,
    edition_accepted: Arc<AcceptedFindings>,
    edition_policies: Option<Arc<Policies>>,
    fleet_edition: u64,
    /// Shows other processes that this one still holds definitions; claimed on first use.
    owner: Option<ProcessLock>,
}

impl Screener {
    /// Splits a fleet into the visible part and the quarantine.
    fn screen_fleet(&mut self, fleet: &Fleet, config: &Config) -> (Fleet, Quarantine) {
        let settings = &config.settings;
        let mut passing = Fleet { accepted: self.load_accepted(), ..Fleet::default() };
        let mut quarantine = Quarantine::default();
        self.screened.retain(|id, _| fleet.servers.contains_key(id));
        let mut is_different = self.fleet_edition != fleet.edition;
        is_different |= self.update_shown_by(&passing.accepted, &config.policies);
        for (id, server) in &fleet.servers {
            let screened = match &server.config {
                Some(config) if self.is_screened(settings, config) => {
                    let by = ScreenSettings::new(settings, &self.first_use, id);
                    self.screen_server(server, config, by)
                }
                _ => {
                    is_different |= self.screened.remove(id).is_some();
                    None
                }
            };
            let Some(screened) = screened else {
                let (server, has_changed) = self.without_stale(Arc::clone(server));
                is_different |= has_changed;
                passing.servers.insert(id.clone(), server);
                continue;
            };
            is_different |= std::mem::take(&mut screened.is_fresh);
            let ScreenedOffers { offers, agreement, held, .. } = &screened.screened;
            if *held != QuarantinedServer::default() {
                quarantine.servers.insert(id.clone(), held.clone());
            }
            let is_same = Arc::ptr_eq(offers, &server.offers) && held.whole.is_none();
            let shown = if is_same {
                Arc::clone(server)
            } else {
                let offers = Arc::clone(offers);
                let agreement = agreement.clone();
                Arc::new(Server { offers, agreement, ..(**server).clone() })
            };
            let (shown, has_changed) = self.without_stale(shown);
            is_different |= has_changed;
            passing.servers.insert(id.clone(), shown);
        }
        // Readers rebuild their catalogs for every edition, so an unchanged fleet keeps its number.
        if is_different {
            self.edition += 1;
            self.fleet_edition = fleet.edition;
        }
        passing.edition = self.edition;
        (passing, quarantine)
    }

    fn load_accepted(&mut self) -> Arc<AcceptedFindings> {
        let state = &self.state;
        let events = &self.events;
        let accepted = self.accepted.get_or_insert_with(|| match load_accepted(state) {
            Ok(accepted) => Arc::new(accepted),
            // Fail closed: an unreadable file accepts no finding.
            Err(error) => {
                let problems = vec![error.to_string()];
                events.emit(|| EventKind::ConfigChanged { problems });
                Arc::default()
            }
        });
        Arc::clone(accepted)
    }

    fn update_shown_by(
        &mut self,
        accepted: &Arc<AcceptedFindings>,
        policies: &Arc<Policies>,
    ) -> bool {
        let rules = self.edition_policies.as_ref();
        let is_same = self.edition_accepted == *accepted
            && rules.is_some_and(|rules| Arc::ptr_eq(rules, policies));
        self.edition_accepted = Arc::clone(accepted);
        self.edition_policies = Some(Arc::clone(policies));
        !is_same
    }

    fn is_screened(&self, settings: &Settings, config: &ServerConfig) -> bool {
        // The built-in server is part of this program, so its definitions need no approval.
        (settings.pins || self.lock.is_some()) && config.transport != Transport::Builtin
    }

    /// Screens one server; returns the cached result if nothing relevant changed.
    fn screen_server(
        &mut self,
        server: &Server,
        config: &ServerConfig,
        by: ScreenSettings,
    ) -> Option<&mut ScreenedServer> {
        let from = ScreenInput {
            offers: Arc::clone(&server.offers),
            agreement: server.agreement.clone(),
            identity: config.identity(),
        };
        let before = self.screened.remove(&server.id).filter(|before| before.input.is_same(&from));
        let screened = match before {
            Some(before) if before.settings == Some(by) => before,
            _ => {
                let screened = match &self.lock {
                    Some(lock) => {
                        let version = reported_version(server);
                        // A server reports its version only once it is connected.
                        let is_locked = server.agreement.is_none()
                            || lock.matches_version(config.id.as_str(), version.as_deref());
                        screen_locked(server, lock.server_pins(config).filter(|_| is_locked))
                    }
                    None => self.screen_by_pins(server, &from.identity, by.first_use),
                };
                let screened = match by.compromise_scope {
                    CompromiseScope::Server => quarantine_server(server, screened),
                    CompromiseScope::Definition => screened,
                };
                let mut screened = ScreenedServer {
                    input: from,
                    settings: Some(by),
                    screened,
                    is_noted: true,
                    is_fresh: true,
                };
                screened.is_noted = self.is_recorded(&screened);
                screened
            }
        };
        self.screened.insert(server.id.clone(), screened);
        self.screened.get_mut(&server.id)
    }

    fn screen_by_pins(
        &mut self,
        server: &Server,
        identity: &str,
        first_use: FirstUseSetting,
    ) -> ScreenedOffers {
        let state = &self.state;
        let pins = self
            .pins
            .entry(identity.to_owned())
            .or_insert_with(|| Pins::load(state, identity).map_err(|error| error.to_string()));
        match pins {
            // A person is asked about it elsewhere, so nothing of it is trusted here.
            Ok(pins) if pins.approved.is_empty() && is_claimed(state, server.id.as_str()) => {
                screen(server, pins, FirstUseSetting::Ask)
            }
            Ok(pins) => screen(server, pins, first_use),
            // Fail closed: without readable pins, no definition counts as approved.
            Err(reason) => quarantine_all(server, &QuarantineReason::NotKept(reason.clone())),
        }
    }

    /// Returns whether the pins file lists exactly the definitions that this process holds.
    fn is_recorded(&self, screened: &ScreenedServer) -> bool {
        // With a lock file there are no pins, and an unreadable file cannot be updated.
        let Some(Ok(pins)) = self.pins.get(&screened.input.identity) else { return true };
        let held = quarantine_book(&screened.screened.held.definitions);
        if held.is_empty() && pins.held.is_empty() {
            return true;
        }
        let owners = Pins::owners_folder(&self.state);
        let writer = PinWriter { me: self.owner.as_ref().map(ProcessLock::name), owners: &owners };
        let is_noted = pins.asked || !pins.approved.is_empty() || !screened.is_asked();
        is_noted && !pins.clone().record_held(&held, screened.unlisted_kinds().as_ref(), &writer)
    }

    /// Removes tools from `autoApprove` whose "always" answer was for another definition. Also
    /// returns whether the set of such tools changed.
    fn without_stale(&mut self, server: Arc<Server>) -> (Arc<Server>, bool) {
        let Some(config) = server.config.as_ref().filter(|it| !it.auto_approve.is_empty()) else {
            return (server, false);
        };
        let state = &self.state;
        let remembered = self
            .remembered
            .get_or_insert_with(|| AlwaysAnswers::load(state).map_err(|error| error.to_string()));
        let stale: BTreeSet<String> = match remembered {
            // Fail closed: entries written by hand cannot be distinguished from answers.
            Err(_) => config.auto_approve.clone(),
            Ok(remembered) => {
                // A changed definition must not inherit the answer for the one that was shown.
                let bound = remembered.always.get(config.id.as_str()).into_iter().flatten();
                let is_stale = |(tool, bound): &(&String, &ApprovedDefinition)| {
                    let now = server.offers.tool(tool).map(|tool| pin_digest(tool.item.raw.get()));
                    bound.identity != config.identity()
                        || now.is_some_and(|now| now != bound.digest)
                };
                bound.filter(is_stale).map(|(tool, _)| tool.clone()).collect()
            }
        };
        let has_changed = self.stale.get(&config.id).map_or(!stale.is_empty(), |old| *old != stale);
        self.stale.insert(config.id.clone(), stale.clone());
        if stale.is_empty() {
            return (server, has_changed);
        }
        let mut narrower = (**config).clone();
        narrower.auto_approve.retain(|tool| !stale.contains(tool));
        let config = Some(Arc::new(narrower));
        (Arc::new(Server { config, ..(*server).clone() }), has_changed)
    }

    /// Writes new pins and held definitions; returns whether that changes the visible fleet.
    async fn persist(&mut self, fleet: &Fleet) -> bool {
        let mut has_changed = false;
        let unwritten = self.screened.iter_mut().filter(|(_, screened)| screened.needs_write());
        for (id, screened) in unwritten {
            let server = fleet.servers.get(id);
            let Some(config) = server.and_then(|server| server.config.clone()) else { continue };
            let first = std::mem::take(&mut screened.screened.first);
            let held = quarantine_book(&screened.screened.held.definitions);
            let unlisted = screened.unlisted_kinds();
            screened.is_noted = true;
            // Without the process lock, other processes could not tell whether the notes are still
            // current, so nothing is written and everything stays held.
            let claimed = if held.is_empty() {
                Ok(())
            } else {
                claim_process_lock(&self.state, &mut self.owner)
            };
            let me = self.owner.as_ref().map(|owner| owner.name().to_owned());
            let is_first = !first.is_empty();
            let is_asked = screened.is_asked();
            let unseen = is_first.then(|| PinnedUnseen::new(&config, &first));
            let mut was_known = false;
            let state = self.state.clone();
            let identity = screened.input.identity.clone();
            let writing = tokio::task::spawn_blocking(move || {
                claimed?;
                let owners = Pins::owners_folder(&state);
                let writer = PinWriter { me: me.as_deref(), owners: &owners };
                let written = Pins::edit(&state, &identity, |pins| {
                    pins.server = config.id.to_string();
                    pins.how = config.endpoint_text();
                    was_known = !pins.approved.is_empty() || pins.asked;
                    pins.asked |= is_asked && pins.approved.is_empty();
                    pins.trust_first(first);
                    pins.record_held(&held, unlisted.as_ref(), &writer);
                });
                written.map(|pins| (pins, was_known)).map_err(|error| error.to_string())
            });
            let written = writing.await.unwrap_or_else(|error| Err(error.to_string()));
            // A server that another process decided about meanwhile is not reported as unreviewed.
            if let (Ok((_, false)), Some(unseen)) = (&written, unseen) {
                self.first_use.add_pinned(unseen);
            }
            let written = written.map(|(pins, _)| pins);
            if let Err(reason) = &written {
                let problems = vec![reason.clone()];
                self.events.emit(|| EventKind::ConfigChanged { problems });
            }
            // A definition that could not be recorded as held is still held. One that could not be
            // pinned must not pass.
            if is_first || written.is_ok() {
                self.pins.insert(screened.input.identity.clone(), written);
            }
            if is_first {
                // Screen again: the new pins, or the error, now decide what passes.
                screened.settings = None;
                has_changed = true;
            }
        }
        has_changed
    }

    /// Returns whether something is held because a file cannot be read or written.
    fn has_file_error(&self) -> bool {
        self.pins.values().any(Result::is_err) || matches!(self.remembered, Some(Err(_)))
    }

    /// Drops the cached files, so that the next screening reads them again.
    fn invalidate(&mut self) {
        self.pins.clear();
        (self.remembered, self.accepted) = (None, None);
        for screened in self.screened.values_mut() {
            screened.settings = None;
        }
    }

    fn files(&self, fleet: &Fleet) -> Vec<PathBuf> {
        let configs = fleet.servers.values().filter_map(|server| server.config.as_ref());
        let pinned = configs.filter(|config| config.transport != Transport::Builtin);
        let pins = pinned.map(|config| Pins::file(&self.state, &config.identity()));
        pins.chain([AlwaysAnswers::file(&self.state), accepted_file(&self.state)]).collect()
    }
}

fn claim_process_lock(state: &Path, owner: &mut Option<ProcessLock>) -> Result<(), String> {
    if owner.is_some() {
        return Ok(());
    }
    let owners = Pins::owners_folder(state);
    let claimed =
        create_private_folder(&owners).and_then(|()| ProcessLock::claim_and_prune(&owners));
    let failed = |cause| format!("{}: cannot record the quarantine: {cause}", owners.display());
    *owner = Some(claimed.map_err(failed)?);
    Ok(())
}
