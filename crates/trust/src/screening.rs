//! Hides definitions in which the scanner found an attack.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use switchboard_catalog::{
    AcceptedFindings, DefinitionVersion, Flagged, Fleet, Offers, Server, ServerStatus,
};
use switchboard_core::ServerId;
use switchboard_json::{canonicalize, to_json_string};
use switchboard_scan::{
    DefinitionKind, DefinitionWords, KnownNames, ScanFinding, find_shadowing, overall_severity,
    scan_definition, scan_text,
};
use switchboard_text::hex_digest;
use switchboard_wire::{Agreement, ListedItem};

use crate::pins::{empty_offers, fingerprint};

/// Maximum number of definitions with cached findings; bounds the memory if servers change their
/// definitions all the time.
const MAX_CACHED_DEFINITIONS: usize = 100_000;

/// The visible part of a fleet and its findings.
#[derive(Debug, Default)]
pub struct VisibleFleet {
    /// The fleet without the quarantined definitions.
    pub fleet: Arc<Fleet>,
    /// All definitions with findings, sorted by server.
    pub flagged: Arc<[Flagged]>,
}

/// Scans each definition once and caches the findings.
#[derive(Debug, Default)]
pub struct DefinitionScanner {
    known: Mutex<HashMap<String, Arc<[ScanFinding]>>>,
    looked: Mutex<HashMap<ServerId, ScannedServer>>,
    last: Mutex<Option<LastScan>>,
}

/// Scan results of a server's definitions, in their order.
#[derive(Clone, Debug)]
struct ScannedServer {
    offers: Arc<Offers>,
    definitions: Arc<[ScannedDefinition]>,
}

#[derive(Debug)]
struct ScannedDefinition {
    findings: Arc<[ScanFinding]>,
    words: DefinitionWords,
    /// Fingerprints of the definition and of its canonical text, computed on demand.
    digests: OnceLock<(String, String)>,
}

#[derive(Clone, Debug)]
struct LastScan {
    fleet: Arc<Fleet>,
    visible: Arc<VisibleFleet>,
}

impl DefinitionScanner {
    /// Returns the visible part of `fleet`, and the definitions flagged for the first time.
    pub fn scan_fleet(&self, fleet: &Arc<Fleet>) -> (Arc<VisibleFleet>, Vec<Flagged>) {
        let mut last = self.last.lock();
        if let Some(known) = last.as_ref().filter(|known| Arc::ptr_eq(&known.fleet, fleet)) {
            return (Arc::clone(&known.visible), Vec::new());
        }
        // Usually only the states of servers change, not their offers, and scanning is slow.
        let same = last.as_ref().filter(|known| has_same_offers(&known.fleet, fleet));
        let flagged = match same {
            Some(known) => Arc::clone(&known.visible.flagged),
            None => self.flagged_definitions(fleet).into(),
        };
        let before: HashSet<&str> = match last.as_ref() {
            Some(known) => known.visible.flagged.iter().map(|one| one.digest.as_str()).collect(),
            None => HashSet::new(),
        };
        let new = flagged.iter().filter(|one| !before.contains(one.digest.as_str()));
        let new: Vec<Flagged> = new.cloned().collect();
        let visible = Arc::new(VisibleFleet { fleet: without_held(fleet, &flagged), flagged });
        *last = Some(LastScan { fleet: Arc::clone(fleet), visible: Arc::clone(&visible) });
        (visible, new)
    }

    /// Returns all definitions of a fleet with findings, sorted by server.
    pub fn flagged_definitions(&self, fleet: &Fleet) -> Vec<Flagged> {
        let usable = fleet.servers.values().filter(is_usable);
        let looked: Vec<_> = usable.map(|server| (server, self.scan_server(server))).collect();
        // `definitions` lists the tools first.
        let tools = looked.iter().flat_map(|(server, looked)| {
            let tools = server.offers.tools.iter().zip(&**looked);
            tools.map(|(tool, known)| (server.id.as_str(), tool.name(), &known.words))
        });
        // A tool that shadows another server's tool shows only in a comparison of all servers, so
        // that part is not cached.
        let names = KnownNames::new(tools);
        let mut flagged = Vec::new();
        for (server, looked) in &looked {
            for ((kind, item), known) in definitions(&server.offers).zip(&**looked) {
                flagged.extend(flag(&names, server, kind, &item.key, item.raw.get(), known));
            }
            if let Some(text) = instructions(server) {
                let kind = DefinitionKind::Instructions;
                let known = self.scan_item(kind, None, text);
                flagged.extend(flag(&names, server, kind, "", text, &known));
            }
        }
        self.looked.lock().retain(|id, _| fleet.servers.contains_key(id.as_str()));
        for one in &mut flagged {
            let server = fleet.servers.get(one.server.as_str());
            one.accepted = server.is_some_and(|server| is_accepted(&fleet.accepted, server, one));
        }
        flagged
    }

    /// Returns the scan results of a server; scans again only if its offers changed.
    fn scan_server(&self, server: &Server) -> Arc<[ScannedDefinition]> {
        let mut looked = self.looked.lock();
        if let Some(known) = looked.get(&server.id)
            && Arc::ptr_eq(&known.offers, &server.offers)
        {
            return Arc::clone(&known.definitions);
        }
        let offers = Arc::clone(&server.offers);
        let known = definitions(&offers).map(|(kind, item)| {
            let tool = (kind == DefinitionKind::Tool).then_some(&*item.key);
            self.scan_item(kind, tool, item.raw.get())
        });
        let definitions: Arc<[ScannedDefinition]> = known.collect();
        let known = ScannedServer { offers, definitions: Arc::clone(&definitions) };
        looked.insert(server.id.clone(), known);
        definitions
    }

    fn scan_item(&self, kind: DefinitionKind, tool: Option<&str>, raw: &str) -> ScannedDefinition {
        let findings = self.cached_findings(kind, raw);
        let words = DefinitionWords::new(tool, raw);
        ScannedDefinition { findings, words, digests: OnceLock::new() }
    }

    fn cached_findings(&self, kind: DefinitionKind, raw: &str) -> Arc<[ScanFinding]> {
        let key = hex_digest([kind.as_str().as_bytes(), raw.as_bytes()]);
        let mut known = self.known.lock();
        if known.len() >= MAX_CACHED_DEFINITIONS {
            known.clear();
        }
        let found = known.entry(key).or_insert_with(|| match kind {
            DefinitionKind::Instructions => scan_text("", raw).into(),
            _ => scan_definition(kind, raw).into(),
        });
        Arc::clone(found)
    }
}

fn is_usable(server: &&Arc<Server>) -> bool {
    // Offers of these servers are left over, and no caller can reach them.
    !matches!(server.status, ServerStatus::Disabled | ServerStatus::NeedsApproval)
}

fn instructions(server: &Server) -> Option<&str> {
    server.agreement.as_ref()?.instructions.as_deref()
}

fn definitions(offers: &Offers) -> impl Iterator<Item = (DefinitionKind, &ListedItem)> {
    let tools = offers.tools.iter().map(|tool| (DefinitionKind::Tool, &tool.item));
    let resources = offers.resources.iter().map(|item| (DefinitionKind::Resource, item));
    let templates = offers.templates.iter().map(|item| (DefinitionKind::Template, item));
    let prompts = offers.prompts.iter().map(|item| (DefinitionKind::Prompt, item));
    tools.chain(resources).chain(templates).chain(prompts)
}

fn is_accepted(accepted: &AcceptedFindings, server: &Server, flagged: &Flagged) -> bool {
    let Some(config) = server.config.as_ref().filter(|_| !accepted.servers.is_empty()) else {
        return false;
    };
    let which = DefinitionVersion {
        kind: flagged.kind.as_str(),
        name: &flagged.name,
        digest: &flagged.pin,
    };
    accepted.covers(&config.identity(), which, flagged.findings.iter().map(|one| one.rule))
}

fn flag(
    names: &KnownNames,
    server: &Server,
    kind: DefinitionKind,
    name: &str,
    raw: &str,
    known: &ScannedDefinition,
) -> Option<Flagged> {
    let tool = (kind == DefinitionKind::Tool).then_some(name);
    let mut findings = find_shadowing(names, server.id.as_str(), tool, raw, &known.words);
    findings.extend(known.findings.iter().cloned());
    let severity = overall_severity(&findings)?;
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.points));
    let (digest, pin) = known.digests.get_or_init(|| {
        let text = match kind {
            DefinitionKind::Instructions => canonicalize(&to_json_string(raw)),
            DefinitionKind::Tool
            | DefinitionKind::Resource
            | DefinitionKind::Template
            | DefinitionKind::Prompt => canonicalize(raw),
        };
        (hex_digest([raw.as_bytes()]), fingerprint(&text))
    });
    Some(Flagged {
        server: server.id.clone(),
        kind,
        name: name.to_owned(),
        digest: digest.clone(),
        pin: pin.clone(),
        severity,
        accepted: false,
        findings,
    })
}

fn has_same_offers(before: &Fleet, after: &Fleet) -> bool {
    let same = |(left, right): (&Arc<Server>, &Arc<Server>)| {
        left.id == right.id
            && Arc::ptr_eq(&left.offers, &right.offers)
            && instructions(left) == instructions(right)
            && is_usable(&left) == is_usable(&right)
            && same_identity(left, right)
    };
    before.servers.len() == after.servers.len()
        && before.accepted == after.accepted
        && before.servers.values().zip(after.servers.values()).all(same)
}

fn same_identity(left: &Server, right: &Server) -> bool {
    // Acceptances are bound to the command or URL, not to the name.
    match (&left.config, &right.config) {
        (Some(left), Some(right)) => {
            Arc::ptr_eq(left, right) || left.identity() == right.identity()
        }
        (left, right) => left.is_none() && right.is_none(),
    }
}

fn without_held(fleet: &Arc<Fleet>, flagged: &[Flagged]) -> Arc<Fleet> {
    let held: Vec<&Flagged> = flagged.iter().filter(|one| one.is_held()).collect();
    if held.is_empty() {
        return Arc::clone(fleet);
    }
    let mut shown = Fleet::clone(fleet);
    for server in shown.servers.values_mut() {
        if held.iter().any(|one| one.server == server.id && one.holds_server()) {
            *server = Arc::new(without_offers(server));
            continue;
        }
        let of_server: HashSet<(DefinitionKind, &str)> = held
            .iter()
            .filter(|one| one.server == server.id)
            .map(|one| (one.kind, one.name.as_str()))
            .collect();
        if !of_server.is_empty() {
            *server = Arc::new(server_without(server, &of_server));
        }
    }
    Arc::new(shown)
}

fn without_offers(server: &Server) -> Server {
    let agreement = server.agreement.as_ref().map(|with| Arc::new(without_instructions(with)));
    Server { offers: empty_offers(&server.offers), agreement, ..server.clone() }
}

fn without_instructions(agreement: &Agreement) -> Agreement {
    Agreement { instructions: None, ..agreement.clone() }
}

fn server_without(server: &Server, held: &HashSet<(DefinitionKind, &str)>) -> Server {
    let kept = |kind: DefinitionKind, items: &[ListedItem]| -> Vec<ListedItem> {
        items.iter().filter(|item| !held.contains(&(kind, &*item.key))).cloned().collect()
    };
    let offers = &server.offers;
    let tools: Vec<ListedItem> = offers.tools.iter().map(|tool| tool.item.clone()).collect();
    let offers = Offers::new(
        kept(DefinitionKind::Tool, &tools),
        kept(DefinitionKind::Resource, &offers.resources),
        kept(DefinitionKind::Template, &offers.templates),
        kept(DefinitionKind::Prompt, &offers.prompts),
        offers.faults.clone(),
    );
    let agreement = server.agreement.as_ref().map(|agreement| {
        if held.contains(&(DefinitionKind::Instructions, "")) {
            Arc::new(without_instructions(agreement))
        } else {
            Arc::clone(agreement)
        }
    });
    Server { offers: Arc::new(offers), agreement, ..server.clone() }
}
