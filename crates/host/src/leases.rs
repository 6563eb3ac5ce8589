//! Leases: the targets that can be called, without those that are quarantined, flagged or denied.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_catalog::{Catalog, CheckCache, DenyList, Flagged, Fleet, Lease, Offers};
use switchboard_config::Config;
use switchboard_core::{Caller, Events, Published, Target, TargetKind, Tasks};
use switchboard_policy::{ActiveRules, PolicyFacts, SessionFacts};
use switchboard_rules::RuleEffect;
use switchboard_store::Audit;
use switchboard_trust::{
    DefinitionScanner, PinGate, VisibleFleet, held_notes, visible_notes, write_notes,
};

use crate::host::Host;

/// Creates leases, and caches the parts that depend only on the edition of the fleet.
pub(crate) struct Leases {
    scanner: FleetScanner,
    cached: Mutex<Option<CachedCatalog>>,
    checks: Arc<CheckCache>,
}

struct CachedCatalog {
    edition: u64,
    catalog: Arc<Catalog>,
    deny_list: Arc<DenyList>,
}

/// Scans the definitions of servers, if the settings enable it.
#[derive(Clone)]
struct FleetScanner {
    scanner: Arc<DefinitionScanner>,
    config: Published<Config>,
    events: Events,
}

impl FleetScanner {
    fn scan(&self, fleet: Arc<Fleet>) -> Arc<VisibleFleet> {
        if !self.config.load().settings.scan {
            return Arc::new(VisibleFleet { fleet, flagged: Arc::default() });
        }
        let (visible, new) = self.scanner.scan_fleet(&fleet);
        for flagged in new {
            self.events.emit(|| flagged.event());
        }
        visible
    }
}

impl Leases {
    pub(crate) fn new(config: &Published<Config>, events: &Events) -> Self {
        let scanner = FleetScanner {
            scanner: Arc::default(),
            config: config.clone(),
            events: events.clone(),
        };
        Self { scanner, cached: Mutex::default(), checks: Arc::default() }
    }

    /// Scans definitions as soon as servers offer them, and writes the findings to the audit log.
    pub(crate) fn spawn_audit(&self, pins: &PinGate, audit: Audit, tasks: &Tasks) {
        let scanner = self.scanner.clone();
        let mut changes = pins.visible().changes();
        let stopping = tasks.stop_token().clone();
        let quarantine = pins.quarantine().clone();
        let first_use = pins.first_use().clone();
        tasks.spawn(async move {
            let mut noted = HashSet::new();
            loop {
                let changed = stopping.run_until_cancelled(changes.changed()).await;
                // The last edition is audited even if the host stops.
                let is_over = changed.is_none();
                let visible = scanner.scan(changed.unwrap_or_else(|| changes.load()));
                for event in first_use.publish_pinned(&visible.flagged) {
                    scanner.events.emit(|| event);
                }
                let mut notes = visible_notes(&visible, &mut noted);
                if scanner.config.load().settings.scan {
                    notes.extend(held_notes(&quarantine.load(), &mut noted));
                }
                write_notes(&audit, notes, &scanner.events).await;
                if is_over {
                    return;
                }
            }
        });
    }

    fn lease(&self, fleet: Arc<Fleet>, rules: &ActiveRules) -> Lease {
        let visible = self.scanner.scan(fleet);
        let fleet = Arc::clone(&visible.fleet);
        let mut cached = self.cached.lock();
        // The lock is held while the catalog is built, so that concurrent callers build it once.
        let current = cached.take().filter(|cached| cached.edition == fleet.edition);
        let current = current.unwrap_or_else(|| CachedCatalog {
            edition: fleet.edition,
            catalog: Arc::new(Catalog::from_fleet(&fleet)),
            deny_list: Arc::new(self.deny_list(&fleet, rules)),
        });
        let catalog = Arc::clone(&current.catalog);
        let deny_list = Arc::clone(&current.deny_list);
        *cached = Some(current);
        drop(cached);
        Lease::new(fleet, catalog, Arc::clone(&self.checks))
            .with_flagged(Arc::clone(&visible.flagged))
            .with_deny_list(deny_list)
    }

    /// Returns the targets that the rules deny to every caller.
    fn deny_list(&self, fleet: &Fleet, rules: &ActiveRules) -> DenyList {
        let policy = rules.policy(&self.scanner.config.load().policies);
        let mut deny_list = DenyList::new();
        for server in fleet.servers.values() {
            for (kind, name) in targets(&server.offers) {
                let target = Target::new(kind, server.id.as_str(), name);
                if let Some(by) = policy.forbids(&target) {
                    deny_list.insert(target, by.to_string());
                }
            }
        }
        deny_list
    }
}

impl Host {
    /// Returns a lease on the current catalog.
    pub fn lease(&self) -> Lease {
        self.leases().lease(self.fleet().load(), self.rules())
    }

    /// Returns every definition that the scanner flagged, including those removed from all leases.
    pub fn flagged(&self) -> Arc<[Flagged]> {
        Arc::clone(&self.leases().scanner.scan(self.fleet().load()).flagged)
    }

    /// Like [`Host::flagged`], for all definitions of servers, approved or not.
    pub fn all_flagged(&self) -> Vec<Flagged> {
        if !self.config().load().settings.scan {
            return Vec::new();
        }
        let accepted = Arc::clone(&self.fleet().load().accepted);
        let offered = Fleet { accepted, ..Fleet::clone(&self.pins().raw().load()) };
        self.leases().scanner.scanner.flagged_definitions(&offered)
    }

    /// Returns the rule that denies a request that is not a call, such as a subscription.
    pub(crate) fn forbidding_rule(&self, target: &Target) -> Option<String> {
        let config = self.config().load();
        let policy = self.rules().policy(&config.policies);
        // Such a request has no caller; a person is the caller whom the fewest rules restrict.
        let caller = Caller::person();
        let session = SessionFacts::default();
        let server = config.servers.get(target.server.as_str());
        let facts = PolicyFacts::without_definition(target, "{}", server, &caller, &session);
        let ruling = policy.ruling(&facts).filter(|ruling| ruling.effect == RuleEffect::Deny)?;
        Some(ruling.by.to_string())
    }
}

fn targets(offers: &Offers) -> impl Iterator<Item = (TargetKind, &str)> {
    let tools = offers.tools.iter().map(|tool| (TargetKind::Tool, tool.name()));
    let read = offers.resources.iter().chain(&offers.templates);
    let read = read.map(|item| (TargetKind::Resource, &*item.key));
    tools.chain(read).chain(offers.prompts.iter().map(|item| (TargetKind::Prompt, &*item.key)))
}
