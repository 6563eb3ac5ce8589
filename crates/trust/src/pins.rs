//! Compares the offers of a server with its pins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::value::RawValue;
use switchboard_catalog::{Offers, Server, Tool};
use switchboard_config::FirstUseSetting;
use switchboard_json::{CanonicalNode, canonicalize, to_json_string};
use switchboard_text::hex_digest;
use switchboard_wire::{Agreement, ItemKind, ListedItem};

use crate::pins_file::{DefinitionMap, PinKind, PinnedDefinition, Pins};
use crate::quarantine::{QuarantineReason, QuarantinedDefinition, QuarantinedServer};

#[derive(Clone, Debug)]
pub(crate) struct ScreenedOffers {
    pub offers: Arc<Offers>,
    /// The handshake result, without unapproved instructions.
    pub agreement: Option<Arc<Agreement>>,
    pub held: QuarantinedServer,
    /// Definitions trusted on first use; they must be written to the pins before they are used.
    pub first: DefinitionMap,
}

/// Compares the offers of `server` with `pins`.
pub(crate) fn screen(server: &Server, pins: &Pins, first_use: FirstUseSetting) -> ScreenedOffers {
    // Offers listed before the handshake are left over from an earlier connection.
    let is_connected = server.agreement.is_some();
    if !is_connected && pins.approved.is_empty() {
        return hide_offers(server);
    }
    let seen = offered_definitions(server);
    let withhold_all = |why: QuarantineReason| {
        withhold_offers(server, &seen, quarantined_definitions(&seen, pins, &why), why)
    };
    if pins.revoked {
        return withhold_all(QuarantineReason::Revoked);
    }
    // A person was shown the server and did not approve it, so it is not trusted automatically.
    if pins.approved.is_empty() && (first_use != FirstUseSetting::Trust || pins.asked) {
        return withhold_all(QuarantineReason::FirstUse);
    }
    let mut first = DefinitionMap::new();
    let mut definitions = Vec::new();
    let unlisted = unknown_kinds(&server.offers);
    for (kind, items) in &seen {
        match pins.approved.get(kind) {
            Some(approved) => definitions.extend(compare(*kind, items, approved)),
            // A kind that could not be listed is unknown, not empty.
            None if !is_connected || unlisted.contains(kind) => {}
            None if first_use == FirstUseSetting::Trust => {
                let pinned = items.iter().map(|item| (item.name.clone(), item.to_pinned()));
                first.insert(*kind, pinned.collect());
            }
            None => definitions.extend(compare(*kind, items, &BTreeMap::new())),
        }
    }
    definitions.extend(missing_instructions(&seen, pins).filter(|_| is_connected));
    let is_other = |held: &QuarantinedDefinition| {
        held.kind == PinKind::Instructions && held.why != QuarantineReason::Gone
    };
    // Instructions apply to the whole server: a model that reads them may misuse every tool.
    if definitions.iter().any(is_other) {
        return withhold_offers(server, &seen, definitions, QuarantineReason::Instructions);
    }
    let out: BTreeSet<(PinKind, &str)> =
        definitions.iter().map(|held| (held.kind, held.name.as_str())).collect();
    let offers = visible_offers(&server.offers, |kind, name| {
        let is_listed = pins.approved.contains_key(&kind) || first.contains_key(&kind);
        is_listed && !out.contains(&(kind, name))
    });
    // Leftover offers of an earlier connection are hidden, but there is nothing to review in them.
    let definitions = if is_connected { definitions } else { Vec::new() };
    let hidden = definitions.iter().map(|held| (held.kind, held.name.clone())).collect();
    let held = QuarantinedServer { whole: None, definitions, hidden };
    ScreenedOffers { offers, agreement: server.agreement.clone(), held, first }
}

/// Compares the offers of `server` with a lock file. A server that is not locked is quarantined.
pub(crate) fn screen_locked(server: &Server, pins: Option<Pins>) -> ScreenedOffers {
    let Some(pins) = pins else {
        return if server.agreement.is_some() {
            quarantine_all(server, &QuarantineReason::NotLocked)
        } else {
            hide_offers(server)
        };
    };
    let mut screened = screen(server, &pins, FirstUseSetting::Ask);
    if screened.held.definitions.iter().any(|held| held.why == QuarantineReason::Gone) {
        // Missing instructions also differ from the lock: the model's input is not the locked one.
        screened = withhold_offers(
            server,
            &offered_definitions(server),
            screened.held.definitions,
            QuarantineReason::NotLocked,
        );
    }
    screened.held.whole = screened.held.whole.map(|_| QuarantineReason::NotLocked);
    for held in &mut screened.held.definitions {
        // A lock file has fingerprints only, so there is no previous text.
        (held.why, held.before) = (QuarantineReason::NotLocked, None);
    }
    screened
}

pub(crate) fn quarantine_all(server: &Server, why: &QuarantineReason) -> ScreenedOffers {
    let seen = offered_definitions(server);
    let definitions = quarantined_definitions(&seen, &Pins::default(), why);
    withhold_offers(server, &seen, definitions, why.clone())
}

/// Returns the held definitions recorded in a server's pins, with the reasons.
#[must_use]
pub fn pending_definitions(pins: &Pins) -> Vec<QuarantinedDefinition> {
    let mut waiting = Vec::new();
    for (kind, items) in &pins.held {
        let none = BTreeMap::new();
        let approved = pins.approved.get(kind).unwrap_or(&none);
        for (name, item) in items {
            let pinned = approved.get(name);
            let text = item.definition.get();
            let content = without_name(*kind, text);
            let same = |(_, old): &(&String, &PinnedDefinition)| {
                without_name(*kind, old.definition.get()) == content
            };
            let (why, before) = match (pinned, approved.iter().find(same)) {
                _ if pins.revoked => (QuarantineReason::Revoked, pinned),
                _ if pins.approved.is_empty() => (QuarantineReason::FirstUse, None),
                (Some(pinned), _) if *kind == PinKind::Instructions && text == NO_INSTRUCTIONS => {
                    (QuarantineReason::Gone, Some(pinned))
                }
                (Some(pinned), _) => (QuarantineReason::Changed, Some(pinned)),
                (None, Some((from, old))) => {
                    (QuarantineReason::Renamed { from: from.clone() }, Some(old))
                }
                (None, None) => (QuarantineReason::New, None),
            };
            waiting.push(QuarantinedDefinition {
                kind: *kind,
                name: name.clone(),
                why,
                before: before.map(|pinned| pinned.definition.get().to_owned()),
                now: text.to_owned(),
                digest: item.digest.clone(),
            });
        }
    }
    waiting
}

/// Returns the held definitions in the form that pins store.
#[must_use]
pub fn quarantine_book(held: &[QuarantinedDefinition]) -> DefinitionMap {
    let mut book = DefinitionMap::new();
    for held in held {
        if let Ok(definition) = RawValue::from_string(held.now.clone()) {
            let pinned =
                PinnedDefinition { digest: held.digest.clone(), definition, seen_by: None };
            book.entry(held.kind).or_default().insert(held.name.clone(), pinned);
        }
    }
    book
}

/// Returns all definitions of a server that can be pinned.
#[must_use]
pub fn pinnable_definitions(server: &Server) -> DefinitionMap {
    let all = offered_definitions(server).into_iter();
    all.map(|(kind, items)| {
        (kind, items.iter().map(|item| (item.name.clone(), item.to_pinned())).collect())
    })
    .collect()
}

/// Returns the name and version that a server reported.
#[must_use]
pub fn reported_version(server: &Server) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct ReportedServer {
        name: String,
        #[serde(default)]
        version: String,
    }
    let reported: ReportedServer = server.agreement.as_ref()?.server.read().ok()?;
    Some(format!("{} {}", reported.name, reported.version).trim().to_owned())
}

/// Returns the kinds that could not be listed, whose definitions are therefore unknown.
pub(crate) fn unknown_kinds(offers: &Offers) -> BTreeSet<PinKind> {
    let kind = |kind: &ItemKind| match kind {
        ItemKind::Tools => Some(PinKind::Tool),
        ItemKind::Prompts => Some(PinKind::Prompt),
        ItemKind::Templates => Some(PinKind::Template),
        // Plain resources come and go with the server's data, so they are not pinned.
        ItemKind::Resources => None,
    };
    offers.unlisted.iter().filter_map(kind).collect()
}

/// Returns the fingerprint that pins store for a definition as sent.
#[must_use]
pub fn pin_digest(definition: &str) -> String {
    fingerprint(&canonicalize(definition))
}

/// Returns the fingerprint of a canonical text.
pub(crate) fn fingerprint(canonical: &str) -> String {
    hex_digest([b"definition".as_slice(), canonical.as_bytes()])
}

struct OfferedDefinition {
    name: String,
    text: String,
    digest: String,
}

impl OfferedDefinition {
    fn new(name: &str, raw: &str) -> Self {
        let text = canonicalize(raw);
        let digest = fingerprint(&text);
        Self { name: name.to_owned(), text, digest }
    }

    fn to_pinned(&self) -> PinnedDefinition {
        // The text is valid JSON unless the definition was not; that is stored as a string.
        let raw = RawValue::from_string(self.text.clone());
        let definition = raw.or_else(|_| RawValue::from_string(to_json_string(&self.text)));
        let definition = definition.unwrap_or_default();
        PinnedDefinition { digest: self.digest.clone(), definition, seen_by: None }
    }

    fn to_quarantined(
        &self,
        kind: PinKind,
        why: QuarantineReason,
        before: Option<&PinnedDefinition>,
    ) -> QuarantinedDefinition {
        QuarantinedDefinition {
            kind,
            name: self.name.clone(),
            why,
            before: before.map(|pinned| pinned.definition.get().to_owned()),
            now: self.text.clone(),
            digest: self.digest.clone(),
        }
    }
}

fn offered_definitions(server: &Server) -> BTreeMap<PinKind, Vec<OfferedDefinition>> {
    let offers = &server.offers;
    let items = |kind, items: &mut dyn Iterator<Item = &ListedItem>| {
        (kind, items.map(|item| OfferedDefinition::new(&item.key, item.raw.get())).collect())
    };
    let instructions = server.agreement.as_ref().and_then(|with| with.instructions.as_deref());
    // Blank instructions tell a model nothing, so they are not worth a review.
    let instructions = instructions.filter(|text| !text.trim().is_empty()).into_iter();
    let pinned = instructions.map(|text| OfferedDefinition::new("", &to_json_string(text)));
    BTreeMap::from([
        (PinKind::Instructions, pinned.collect()),
        items(PinKind::Tool, &mut offers.tools.iter().map(|tool| &tool.item)),
        items(PinKind::Prompt, &mut offers.prompts.iter()),
        items(PinKind::Template, &mut offers.templates.iter()),
    ])
}

fn compare(
    kind: PinKind,
    items: &[OfferedDefinition],
    approved: &BTreeMap<String, PinnedDefinition>,
) -> Vec<QuarantinedDefinition> {
    let mut held = Vec::new();
    for item in items {
        let pinned = approved.get(&item.name);
        let why = match pinned {
            Some(pinned) if pinned.digest == item.digest => continue,
            Some(_) => QuarantineReason::Changed,
            None => QuarantineReason::New,
        };
        held.push(item.to_quarantined(kind, why, pinned));
    }
    // A renamed definition is easier to review than an unknown one: the reviewer knows its text.
    let is_offered = |name: &String| items.iter().any(|item| item.name == *name);
    let gone: Vec<_> = approved.iter().filter(|(name, _)| !is_offered(name)).collect();
    for held in held.iter_mut().filter(|held| held.why == QuarantineReason::New) {
        let content = without_name(kind, &held.now);
        let same = gone.iter().find(|(_, old)| without_name(kind, old.definition.get()) == content);
        if let Some((name, old)) = same {
            held.why = QuarantineReason::Renamed { from: (*name).clone() };
            held.before = Some(old.definition.get().to_owned());
        }
    }
    held
}

/// The canonical text of absent instructions.
const NO_INSTRUCTIONS: &str = "null";

/// Reports that approved instructions are gone. Models gain no text by this, so no definition is
/// hidden, but a person is informed.
fn missing_instructions(
    seen: &BTreeMap<PinKind, Vec<OfferedDefinition>>,
    pins: &Pins,
) -> Option<QuarantinedDefinition> {
    let approved = pins.approved.get(&PinKind::Instructions)?.get("")?;
    let says = seen.get(&PinKind::Instructions).is_some_and(|said| !said.is_empty());
    let nothing = OfferedDefinition::new("", NO_INSTRUCTIONS);
    (!says && approved.digest != nothing.digest).then(|| {
        nothing.to_quarantined(PinKind::Instructions, QuarantineReason::Gone, Some(approved))
    })
}

fn without_name(kind: PinKind, text: &str) -> Option<CanonicalNode> {
    let name = if kind == PinKind::Template { "uriTemplate" } else { "name" };
    CanonicalNode::parse(text).map(|node| node.without(name))
}

fn quarantined_definitions(
    seen: &BTreeMap<PinKind, Vec<OfferedDefinition>>,
    pins: &Pins,
    why: &QuarantineReason,
) -> Vec<QuarantinedDefinition> {
    let of_kind = |(kind, items): (&PinKind, &Vec<OfferedDefinition>)| {
        let approved = pins.approved.get(kind);
        let held = |item: &OfferedDefinition| {
            let before = approved.and_then(|items| items.get(&item.name));
            item.to_quarantined(*kind, why.clone(), before)
        };
        items.iter().map(held).collect::<Vec<_>>()
    };
    seen.iter().flat_map(of_kind).collect()
}

fn hide_offers(server: &Server) -> ScreenedOffers {
    ScreenedOffers {
        offers: empty_offers(&server.offers),
        agreement: server.agreement.clone(),
        held: QuarantinedServer::default(),
        first: DefinitionMap::new(),
    }
}

/// Quarantines a whole server and lists `definitions` for review.
pub(crate) fn withhold_server(
    server: &Server,
    definitions: Vec<QuarantinedDefinition>,
    why: QuarantineReason,
) -> ScreenedOffers {
    withhold_offers(server, &offered_definitions(server), definitions, why)
}

fn withhold_offers(
    server: &Server,
    seen: &BTreeMap<PinKind, Vec<OfferedDefinition>>,
    definitions: Vec<QuarantinedDefinition>,
    why: QuarantineReason,
) -> ScreenedOffers {
    let names = |(kind, items): (&PinKind, &Vec<OfferedDefinition>)| {
        items.iter().map(|item| (*kind, item.name.clone())).collect::<Vec<_>>()
    };
    let hidden = seen.iter().flat_map(names).collect();
    let silent = |with: &Arc<Agreement>| Agreement { instructions: None, ..(**with).clone() };
    ScreenedOffers {
        offers: empty_offers(&server.offers),
        agreement: server.agreement.as_ref().map(|with| Arc::new(silent(with))),
        held: QuarantinedServer { whole: Some(why), definitions, hidden },
        first: DefinitionMap::new(),
    }
}

/// Returns the offers with only the definitions that `keeps` accepts, and all plain resources.
pub(crate) fn visible_offers(
    offers: &Arc<Offers>,
    keeps: impl Fn(PinKind, &str) -> bool,
) -> Arc<Offers> {
    let all = |kind, items: &[ListedItem]| items.iter().all(|item| keeps(kind, &item.key));
    let tools = offers.tools.iter().all(|tool| keeps(PinKind::Tool, tool.name()));
    if tools && all(PinKind::Prompt, &offers.prompts) && all(PinKind::Template, &offers.templates) {
        // The same `Arc` tells later stages that nothing has to be scanned or indexed again.
        return Arc::clone(offers);
    }
    let kept = |kind, items: &[ListedItem]| -> Vec<ListedItem> {
        items.iter().filter(|item| keeps(kind, &item.key)).cloned().collect()
    };
    let is_kept = |tool: &&Tool| keeps(PinKind::Tool, tool.name());
    Arc::new(Offers::new(
        offers.tools.iter().filter(is_kept).map(|tool| tool.item.clone()).collect(),
        offers.resources.clone(),
        kept(PinKind::Template, &offers.templates),
        kept(PinKind::Prompt, &offers.prompts),
        offers.faults.clone(),
    ))
}

/// Returns empty offers that keep the listing faults.
pub(crate) fn empty_offers(offers: &Arc<Offers>) -> Arc<Offers> {
    let none = Vec::new;
    Arc::new(Offers::new(none(), none(), none(), none(), offers.faults.clone()))
}

#[cfg(test)]
#[path = "pins_tests.rs"]
mod tests;
