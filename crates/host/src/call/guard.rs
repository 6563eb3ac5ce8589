//! What decides about calls and definitions beside the configuration: one of each per host.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_catalog::{Catalog, CheckCache, DenyList, Flagged, Fleet, Lease, Offers};
use switchboard_config::{Config, Environment, Places};
use switchboard_core::{Events, Published, Target, TargetKind, Tasks};
use switchboard_policy::ActiveRules;
use switchboard_store::Audit;
use switchboard_trust::audit_notes::{held_notes, visible_notes, write_notes};
use switchboard_trust::{DefinitionScanner, PinGate, VisibleFleet};

use crate::call::session_answers::SessionAnswers;
use crate::first_use::queue::FirstUseAsker;
use crate::hooks::{HookContext, LiveHooks};
use crate::host::Host;
use crate::options::{FirstUseAsks, Recording};
use crate::review::ReviewQueue;

/// The rules, hooks and pins that are in force.
#[derive(Debug)]
pub(crate) struct Guard {
    environment: Environment,
    /// The rules, and what each caller did so far.
    pub(crate) rules: ActiveRules,
    hooks: LiveHooks,
    pinning: PinGate,
    audit: Audit,
    screen: Arc<DefinitionScanner>,
    /// What people allowed for a session.
    pub(crate) session_answers: SessionAnswers,
    cached_catalog: Mutex<Option<CachedCatalog>>,
    checks: Arc<CheckCache>,
}

/// What is shown of one edition.
#[derive(Debug)]
struct CachedCatalog {
    edition: u64,
    catalog: Arc<Catalog>,
    unlisted: Arc<DenyList>,
}

/// Who is told of what is held.
pub(crate) struct QuarantineListeners<'a> {
    pub(crate) waiting: &'a ReviewQueue,
    pub(crate) record: Recording,
    pub(crate) first_use: FirstUseAsks,
}

impl Guard {
    pub(crate) fn start(
        places: &Places,
        around: HookContext<'_>,
        pinning: PinGate,
        watching: &QuarantineListeners<'_>,
    ) -> Self {
        let config = around.config;
        let events = around.events;
        let tasks = around.tasks;
        let state = &places.state;
        let audit = match watching.record {
            Recording::Off => Audit::off(),
            Recording::On => Audit::in_state_folder(state),
        };
        let guard = Self {
            environment: around.environment.clone(),
            rules: ActiveRules::default(),
            hooks: LiveHooks::start(places, around),
            pinning,
            audit: audit.clone(),
            screen: Arc::default(),
            session_answers: SessionAnswers::default(),
            cached_catalog: Mutex::default(),
            checks: Arc::default(),
        };
        guard.spawn_audit(config, audit.clone(), events, tasks);
        if watching.first_use == FirstUseAsks::InQueue {
            let config = config.clone();
            let waiting = watching.waiting.clone();
            let asking = FirstUseAsker { config, waiting, audit, state: state.clone() };
            asking.follow(guard.pinning.quarantine(), tasks);
        }
        guard
    }

    /// The hooks.
    pub(crate) const fn hooks(&self) -> &LiveHooks {
        &self.hooks
    }

    /// What became of definitions.
    pub(crate) const fn audit(&self) -> &Audit {
        &self.audit
    }

    /// The folder that the process works in.
    pub(crate) fn current_folder(&self) -> &Path {
        &self.environment.current_dir
    }

    /// What is held until a person has looked at it.
    pub(crate) const fn pinning(&self) -> &PinGate {
        &self.pinning
    }

    /// Looks at what servers offer as soon as they offer it, whether or not somebody asks, and
    /// writes down what was found.
    fn spawn_audit(
        &self,
        config: &Published<Config>,
        audit: Audit,
        events: &Events,
        tasks: &Tasks,
    ) {
        let screen = Arc::clone(&self.screen);
        let mut changes = self.pinning.visible().changes();
        let config = config.clone();
        let events = events.clone();
        let stopping = tasks.stop_token().clone();
        let held = self.pinning.quarantine().clone();
        let newcomers = self.pinning.first_use().clone();
        tasks.spawn(async move {
            let mut noted = HashSet::new();
            loop {
                let changed = stopping.run_until_cancelled(changes.changed()).await;
                // What came last is written down even if there is nothing to do any more.
                let is_over = changed.is_none();
                let fleet = changed.unwrap_or_else(|| changes.load());
                let visible = screen_fleet(&screen, fleet, &config, &events);
                for told in newcomers.publish_pinned(&visible.flagged) {
                    events.emit(|| told);
                }
                let mut notes = visible_notes(&visible, &mut noted);
                if config.load().settings.scan {
                    notes.extend(held_notes(&held.load(), &mut noted));
                }
                write_notes(&audit, notes, &events).await;
                if is_over {
                    return;
                }
            }
        });
    }
}

impl Host {
    /// What became of definitions and entries, to read and to add to. Both block.
    #[must_use]
    pub fn audit(&self) -> &Audit {
        self.guard().audit()
    }

    /// What can be called at this moment, to be held by whoever is shown it.
    #[must_use]
    pub fn lease(&self) -> Lease {
        let visible = self.visible();
        let guard = self.guard();
        let fleet = Arc::clone(&visible.fleet);
        let mut shown = guard.cached_catalog.lock();
        let of_edition = shown.take().filter(|shown| shown.edition == fleet.edition);
        let of_edition = of_edition.unwrap_or_else(|| CachedCatalog {
            edition: fleet.edition,
            catalog: Arc::new(Catalog::from_fleet(&fleet)),
            unlisted: Arc::new(self.deny_list(&fleet)),
        });
        let catalog = Arc::clone(&of_edition.catalog);
        let unlisted = Arc::clone(&of_edition.unlisted);
        *shown = Some(of_edition);
        drop(shown);
        Lease::new(fleet, catalog, Arc::clone(&guard.checks))
            .with_flagged(Arc::clone(&visible.flagged))
            .with_deny_list(unlisted)
    }

    /// Every definition in which the scanner found something; those that are held are in no lease.
    #[must_use]
    pub fn flagged(&self) -> Arc<[Flagged]> {
        Arc::clone(&self.visible().flagged)
    }

    /// The same of everything that servers offer, also of what nobody has approved yet.
    #[must_use]
    pub fn all_flagged(&self) -> Vec<Flagged> {
        if !self.config().load().settings.scan {
            return Vec::new();
        }
        let pinning = self.guard().pinning();
        let accepted = Arc::clone(&pinning.visible().load().accepted);
        self.guard()
            .screen
            .flagged_definitions(&Fleet { accepted, ..Fleet::clone(&pinning.raw().load()) })
    }

    /// The servers, without the definitions that are held.
    pub(crate) fn visible(&self) -> Arc<VisibleFleet> {
        screen_fleet(&self.guard().screen, self.fleet().load(), self.config(), self.events())
    }

    /// What the rules of this moment forbid to everybody.
    fn deny_list(&self, fleet: &Fleet) -> DenyList {
        let policy = self.guard().rules.policy(&self.config().load().policies);
        let mut unlisted = DenyList::new();
        for server in fleet.servers.values() {
            for (kind, name) in targets(&server.offers) {
                let target = Target::new(kind, server.id.as_str(), name);
                if let Some(by) = policy.forbids(&target) {
                    unlisted.insert(target, by.to_string());
                }
            }
        }
        unlisted
    }
}

fn targets(offers: &Offers) -> impl Iterator<Item = (TargetKind, &str)> {
    let tools = offers.tools.iter().map(|tool| (TargetKind::Tool, tool.name()));
    let read = offers.resources.iter().chain(&offers.templates);
    let read = read.map(|item| (TargetKind::Resource, &*item.key));
    tools.chain(read).chain(offers.prompts.iter().map(|item| (TargetKind::Prompt, &*item.key)))
}

fn screen_fleet(
    screen: &DefinitionScanner,
    fleet: Arc<Fleet>,
    config: &Published<Config>,
    events: &Events,
) -> Arc<VisibleFleet> {
    if !config.load().settings.scan {
        return Arc::new(VisibleFleet { fleet, flagged: Arc::default() });
    }
    let (visible, new) = screen.scan_fleet(&fleet);
    for flagged in new {
        events.emit(|| flagged.event());
    }
    visible
}
