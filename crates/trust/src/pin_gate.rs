//! Stands between the connections and everyone who uses them: what nobody approved does not pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use switchboard_catalog::{Accepted, Fleet, Server};
use switchboard_config::{Config, FirstUse, ServerConfig, Settings, Transport, Turned};
use switchboard_core::{Events, Published, ServerId, Tasks, What};
use switchboard_files::replace::create_folder;
use switchboard_files::{Owner, watch};
use switchboard_rules::Policies;

use crate::accepted::{accepted_file, load_accepted};
use crate::always_answers::{Bound, Remembered};
use crate::compromised::hold_turned;
use crate::first_use::{Newcomers, PinnedUnseen, Presence};
use crate::lock_file::Lock;
use crate::pins::{Screened, book_of, hold_all, pin_digest, screen, screen_locked, told};
use crate::pins_file::{Noting, Pins};
use crate::quarantine::{HeldServer, Quarantine, Why};
use crate::screened_server::{By, From, Sorted};

/// A disk that was full, for example, tells nobody that it is not any more.
const AGAIN: Duration = Duration::from_secs(3);

/// What passes and what does not, as it changes.
#[derive(Clone, Debug)]
pub struct Pinning {
    /// The servers with everything that they offer.
    raw: Published<Fleet>,
    /// The servers with what somebody stands by.
    visible: Published<Fleet>,
    held: Published<Quarantine>,
    newcomers: Newcomers,
    is_locked: bool,
}

impl Pinning {
    /// Screens the servers of `raw` from here on.
    pub fn start(
        raw: Published<Fleet>,
        config: &Published<Config>,
        (state, lock): (PathBuf, Option<Lock>),
        presence: Presence,
        (tasks, events): (&Tasks, &Events),
    ) -> Self {
        let (newcomers, is_locked) = (Newcomers::new(presence), lock.is_some());
        let mut desk = Desk {
            state,
            lock,
            newcomers: newcomers.clone(),
            events: events.clone(),
            ..Desk::default()
        };
        let (mut servers, mut configs) = (raw.changes(), config.changes());
        // Nothing is connected yet, so nothing is seen for the first time here.
        let (fleet, quarantine) = desk.sort(&servers.load(), &configs.load());
        let visible = Published::new(fleet);
        let held = Published::new(quarantine);
        let (of_all, answers) = (newcomers.clone(), newcomers.clone());
        let (shown, kept) = (visible.clone(), held.clone());
        let screened = Self { raw, visible: shown, held: kept, newcomers: of_all, is_locked };
        let stopping = tasks.stopping().clone();
        let mut files = watch(Vec::new());
        tasks.spawn(async move {
            loop {
                let (fleet, config) = (servers.load(), configs.load());
                // Watched first and read then: a change in between is not missed.
                files.follow(desk.files(&fleet));
                let mut sorted = desk.sort(&fleet, &config);
                if desk.keep(&fleet).await {
                    sorted = desk.sort(&fleet, &config);
                }
                // What is held is known before what passes: nobody finds a gap between them.
                held.publish(sorted.1);
                visible.publish(sorted.0);
                tokio::select! {
                    () = stopping.cancelled() => return,
                    _ = servers.changed() => {}
                    _ = configs.changed() => {}
                    () = files.changed() => desk.forget(),
                    () = tokio::time::sleep(AGAIN), if desk.is_in_trouble() => desk.forget(),
                    () = answers.answered() => desk.forget(),
                }
            }
        });
        screened
    }

    /// The servers with what somebody stands by.
    pub const fn visible(&self) -> &Published<Fleet> {
        &self.visible
    }

    /// The servers with everything that they offer.
    pub const fn raw(&self) -> &Published<Fleet> {
        &self.raw
    }

    /// Whether anything is screened at all.
    pub const fn is_on(&self, settings: &Settings) -> bool {
        settings.pins || self.is_locked
    }

    /// Servers that are new.
    pub const fn newcomers(&self) -> &Newcomers {
        &self.newcomers
    }

    /// What is held back.
    pub const fn held(&self) -> &Published<Quarantine> {
        &self.held
    }
}

/// What is known of every server, and what was made of it.
#[derive(Default)]
struct Desk {
    state: PathBuf,
    events: Events,
    newcomers: Newcomers,
    /// What counts in place of pins.
    lock: Option<Lock>,
    pins: BTreeMap<String, Result<Pins, String>>,
    /// What each "always" was said to; read when it is needed.
    remembered: Option<Result<Remembered, String>>,
    /// The tools whose "always" was said to something else.
    stale: BTreeMap<ServerId, BTreeSet<String>>,
    sorted: BTreeMap<ServerId, Sorted>,
    /// What a person stands by in spite of what was found; read when it is needed.
    accepted: Option<Arc<Accepted>>,
    /// What was accepted, and the rules, when the last edition was made: both decide what is shown.
    shown_by: (Arc<Accepted>, Option<Arc<Policies>>),
    /// The edition of what passes, and that of what came.
    editions: (u64, u64),
    /// The lock by which others see that what is held here is held still; from the first time on.
    owner: Option<Owner>,
}

impl Desk {
    /// Separates what passes from what is held.
    fn sort(&mut self, fleet: &Fleet, config: &Config) -> (Fleet, Quarantine) {
        let settings = &config.settings;
        let mut passing = Fleet { accepted: self.accepted(), ..Fleet::default() };
        let mut quarantine = Quarantine::default();
        self.sorted.retain(|id, _| fleet.servers.contains_key(id));
        let mut is_different = self.editions.1 != fleet.edition;
        is_different |= self.is_shown_differently(&passing.accepted, &config.policies);
        for (id, server) in &fleet.servers {
            let screened = match &server.config {
                Some(config) if self.minds(settings, config) => {
                    let by = By::of(settings, &self.newcomers, id);
                    self.screened(server, config, by)
                }
                _ => {
                    is_different |= self.sorted.remove(id).is_some();
                    None
                }
            };
            let Some(sorted) = screened else {
                let (server, has_changed) = self.without_stale(Arc::clone(server));
                is_different |= has_changed;
                passing.servers.insert(id.clone(), server);
                continue;
            };
            is_different |= std::mem::take(&mut sorted.is_fresh);
            let Screened { offers, agreement, held, .. } = &sorted.screened;
            if *held != HeldServer::default() {
                quarantine.servers.insert(id.clone(), held.clone());
            }
            let is_same = Arc::ptr_eq(offers, &server.offers) && held.whole.is_none();
            let shown = if is_same {
                Arc::clone(server)
            } else {
                let (offers, agreement) = (Arc::clone(offers), agreement.clone());
                Arc::new(Server { offers, agreement, ..(**server).clone() })
            };
            let (shown, has_changed) = self.without_stale(shown);
            is_different |= has_changed;
            passing.servers.insert(id.clone(), shown);
        }
        if is_different {
            self.editions = (self.editions.0 + 1, fleet.edition);
        }
        passing.edition = self.editions.0;
        (passing, quarantine)
    }

    fn accepted(&mut self) -> Arc<Accepted> {
        let (state, events) = (&self.state, &self.events);
        let accepted = self.accepted.get_or_insert_with(|| match load_accepted(state) {
            Ok(accepted) => Arc::new(accepted),
            // Then nothing is accepted.
            Err(error) => {
                let problems = vec![error.to_string()];
                events.tell(|| What::ConfigChanged { problems });
                Arc::default()
            }
        });
        Arc::clone(accepted)
    }

    fn is_shown_differently(&mut self, accepted: &Arc<Accepted>, policies: &Arc<Policies>) -> bool {
        let (before, rules) = &self.shown_by;
        let is_same =
            before == accepted && rules.as_ref().is_some_and(|rules| Arc::ptr_eq(rules, policies));
        self.shown_by = (Arc::clone(accepted), Some(Arc::clone(policies)));
        !is_same
    }

    fn minds(&self, settings: &Settings, config: &ServerConfig) -> bool {
        (settings.pins || self.lock.is_some()) && config.transport != Transport::Builtin
    }

    /// What is made of one server; as before, unless something about it is new.
    fn screened(&mut self, server: &Server, config: &ServerConfig, by: By) -> Option<&mut Sorted> {
        let from = From {
            offers: Arc::clone(&server.offers),
            agreement: server.agreement.clone(),
            identity: config.identity(),
        };
        let before = self.sorted.remove(&server.id).filter(|before| before.from.is(&from));
        let sorted = match before {
            Some(before) if before.by == Some(by) => before,
            _ => {
                let screened = match &self.lock {
                    Some(lock) => {
                        let is_told = server.agreement.is_none()
                            || lock.is_told(config.id.as_str(), told(server).as_deref());
                        screen_locked(server, lock.pins_of(config).filter(|_| is_told))
                    }
                    None => self.screen(server, &from.identity, by.first_use),
                };
                let screened = match by.turned {
                    Turned::Server => hold_turned(server, screened),
                    Turned::Definition => screened,
                };
                let mut sorted =
                    Sorted { from, by: Some(by), screened, is_noted: true, is_fresh: true };
                sorted.is_noted = self.is_noted(&sorted);
                sorted
            }
        };
        self.sorted.insert(server.id.clone(), sorted);
        self.sorted.get_mut(&server.id)
    }

    fn screen(&mut self, server: &Server, identity: &str, first_use: FirstUse) -> Screened {
        let state = &self.state;
        let pins = self
            .pins
            .entry(identity.to_owned())
            .or_insert_with(|| Pins::load(state, identity).map_err(|error| error.to_string()));
        match pins {
            Ok(pins) => screen(server, pins, first_use),
            Err(reason) => hold_all(server, &Why::NotKept(reason.clone())),
        }
    }

    /// Whether other processes can read in the file what is held of a server, and nothing else.
    fn is_noted(&self, sorted: &Sorted) -> bool {
        // A lock has no pins, and nothing can be noted in a file that cannot be read.
        let Some(Ok(pins)) = self.pins.get(&sorted.from.identity) else { return true };
        let held = book_of(&sorted.screened.held.definitions);
        if held.is_empty() && pins.held.is_empty() {
            return true;
        }
        let owners = Pins::owners(&self.state);
        let noting = Noting { me: self.owner.as_ref().map(Owner::name), owners: &owners };
        let is_told = pins.asked || !pins.approved.is_empty() || !sorted.is_asked();
        is_told && !pins.clone().note(&held, sorted.unlisted().as_ref(), &noting)
    }

    /// The server without what is always allowed by an answer to something else; and whether that is
    /// not as it was.
    fn without_stale(&mut self, server: Arc<Server>) -> (Arc<Server>, bool) {
        let Some(config) = server.config.as_ref().filter(|it| !it.auto_approve.is_empty()) else {
            return (server, false);
        };
        let state = &self.state;
        let remembered = self
            .remembered
            .get_or_insert_with(|| Remembered::load(state).map_err(|error| error.to_string()));
        let stale: BTreeSet<String> = match remembered {
            // Nobody knows which of them a person wrote.
            Err(_) => config.auto_approve.clone(),
            Ok(remembered) => {
                let bound = remembered.always.get(config.id.as_str()).into_iter().flatten();
                let is_stale = |(tool, bound): &(&String, &Bound)| {
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

    /// Writes down what is seen for the first time and what is held; gives whether that changes what
    /// passes.
    async fn keep(&mut self, fleet: &Fleet) -> bool {
        let mut has_changed = false;
        for (id, sorted) in self.sorted.iter_mut().filter(|(_, sorted)| sorted.is_due()) {
            let server = fleet.servers.get(id);
            let Some(config) = server.and_then(|server| server.config.clone()) else { continue };
            let first = std::mem::take(&mut sorted.screened.first);
            let held = book_of(&sorted.screened.held.definitions);
            let unlisted = sorted.unlisted();
            sorted.is_noted = true;
            // Nothing is noted, and all of it held, if nobody could tell that it is of this process.
            let claimed =
                if held.is_empty() { Ok(()) } else { claim(&self.state, &mut self.owner) };
            let me = self.owner.as_ref().map(|owner| owner.name().to_owned());
            let is_first = !first.is_empty();
            let is_asked = sorted.is_asked();
            let unseen = is_first.then(|| PinnedUnseen::of(&config, &first));
            let mut was_known = false;
            let (state, identity) = (self.state.clone(), sorted.from.identity.clone());
            let writing = tokio::task::spawn_blocking(move || {
                claimed?;
                let owners = Pins::owners(&state);
                let noting = Noting { me: me.as_deref(), owners: &owners };
                let written = Pins::change(&state, &identity, |pins| {
                    pins.server = config.id.to_string();
                    pins.how = config.how();
                    was_known = !pins.approved.is_empty() || pins.asked;
                    pins.asked |= is_asked && pins.approved.is_empty();
                    pins.trust_first(first);
                    pins.note(&held, unlisted.as_ref(), &noting);
                });
                written.map(|pins| (pins, was_known)).map_err(|error| error.to_string())
            });
            let written = writing.await.unwrap_or_else(|error| Err(error.to_string()));
            if let (Ok((_, false)), Some(unseen)) = (&written, unseen) {
                self.newcomers.pinned(unseen);
            }
            let written = written.map(|(pins, _)| pins);
            if let Err(reason) = &written {
                let problems = vec![reason.clone()];
                self.events.tell(|| What::ConfigChanged { problems });
            }
            // What could not be noted is held all the same. What could not be pinned must not pass.
            if is_first || written.is_ok() {
                self.pins.insert(sorted.from.identity.clone(), written);
            }
            if is_first {
                sorted.by = None;
                has_changed = true;
            }
        }
        has_changed
    }

    /// Whether something is held because a file cannot be read or written.
    fn is_in_trouble(&self) -> bool {
        self.pins.values().any(Result::is_err) || matches!(self.remembered, Some(Err(_)))
    }

    /// Makes the next sorting read the files again.
    fn forget(&mut self) {
        self.pins.clear();
        (self.remembered, self.accepted) = (None, None);
        for sorted in self.sorted.values_mut() {
            sorted.by = None;
        }
    }

    /// The files whose change means something.
    fn files(&self, fleet: &Fleet) -> Vec<PathBuf> {
        let configs = fleet.servers.values().filter_map(|server| server.config.as_ref());
        let pinned = configs.filter(|config| config.transport != Transport::Builtin);
        let pins = pinned.map(|config| Pins::file(&self.state, &config.identity()));
        pins.chain([Remembered::file(&self.state), accepted_file(&self.state)]).collect()
    }
}

/// Makes the lock of this process, if it has none.
fn claim(state: &Path, owner: &mut Option<Owner>) -> Result<(), String> {
    if owner.is_some() {
        return Ok(());
    }
    let owners = Pins::owners(state);
    let claimed = create_folder(&owners).and_then(|()| Owner::claim_alone(&owners));
    let failed = |cause| format!("{}: what is held cannot be noted: {cause}", owners.display());
    *owner = Some(claimed.map_err(failed)?);
    Ok(())
}
