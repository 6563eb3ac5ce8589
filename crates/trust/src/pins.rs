//! What a server offers, held against what was approved of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::value::RawValue;
use switchboard_catalog::{Offers, Server};
use switchboard_config::FirstUse;
use switchboard_json::{Node, canonical, quoted};
use switchboard_text::digest;
use switchboard_wire::handshake::Agreement;
use switchboard_wire::list::{Item, Kind};

use crate::pins_file::{Book, PinKind, Pinned, Pins};
use crate::quarantine::{Held, HeldServer, Why};
use crate::visible::{nothing, visible};

/// What became of one server's offers.
#[derive(Clone, Debug)]
pub(crate) struct Screened {
    /// What may be seen and used.
    pub offers: Arc<Offers>,
    /// What was agreed on, without instructions that nobody approved.
    pub agreement: Option<Arc<Agreement>>,
    /// What is held back.
    pub held: HeldServer,
    /// What is seen for the first time and stands as it is: it has to be kept before it is used.
    pub first: Book,
}

/// Holds what `server` offers against `pins`.
#[must_use]
pub(crate) fn screen(server: &Server, pins: &Pins, first_use: FirstUse) -> Screened {
    // What stands there before a server has answered is from a connection before.
    let is_connected = server.agreement.is_some();
    if !is_connected && pins.approved.is_empty() {
        return hidden(server);
    }
    let seen = seen(server);
    if pins.revoked {
        return whole(server, &seen, held_all(&seen, pins, &Why::Revoked), Why::Revoked);
    }
    if pins.approved.is_empty() && (first_use != FirstUse::Trust || pins.asked) {
        return whole(server, &seen, held_all(&seen, pins, &Why::FirstUse), Why::FirstUse);
    }
    let mut first = Book::new();
    let mut definitions = Vec::new();
    let unlisted = unlisted(&server.offers);
    for (kind, items) in &seen {
        match pins.approved.get(kind) {
            Some(approved) => definitions.extend(compare(*kind, items, approved)),
            // What could not be listed is not known, which is something else than empty.
            None if !is_connected || unlisted.contains(kind) => {}
            None if first_use == FirstUse::Trust => {
                let pinned = items.iter().map(|item| (item.name.clone(), item.pinned()));
                first.insert(*kind, pinned.collect());
            }
            None => definitions.extend(compare(*kind, items, &BTreeMap::new())),
        }
    }
    definitions.extend(silenced(&seen, pins).filter(|_| is_connected));
    let is_other = |held: &Held| held.kind == PinKind::Instructions && held.why != Why::Gone;
    if definitions.iter().any(is_other) {
        return whole(server, &seen, definitions, Why::Instructions);
    }
    let out: BTreeSet<(PinKind, &str)> =
        definitions.iter().map(|held| (held.kind, held.name.as_str())).collect();
    let offers = visible(&server.offers, |kind, name| {
        let is_listed = pins.approved.contains_key(&kind) || first.contains_key(&kind);
        is_listed && !out.contains(&(kind, name))
    });
    let definitions = if is_connected { definitions } else { Vec::new() };
    let hidden = definitions.iter().map(|held| (held.kind, held.name.clone())).collect();
    let held = HeldServer { whole: None, definitions, hidden };
    Screened { offers, agreement: server.agreement.clone(), held, first }
}

/// Holds what `server` offers against a lock file; nothing is held against one that does not know it.
#[must_use]
pub(crate) fn screen_locked(server: &Server, pins: Option<Pins>) -> Screened {
    let Some(pins) = pins else {
        let is_seen = server.agreement.is_some();
        return if is_seen { hold_all(server, &Why::NotLocked) } else { hidden(server) };
    };
    let mut screened = screen(server, &pins, FirstUse::Ask);
    if screened.held.definitions.iter().any(|held| held.why == Why::Gone) {
        // What a model is told is not what was locked.
        screened = whole(server, &seen(server), screened.held.definitions, Why::NotLocked);
    }
    screened.held.whole = screened.held.whole.map(|_| Why::NotLocked);
    for held in &mut screened.held.definitions {
        // A lock has fingerprints and no texts.
        (held.why, held.before) = (Why::NotLocked, None);
    }
    screened
}

/// All of a server held back.
#[must_use]
pub(crate) fn hold_all(server: &Server, why: &Why) -> Screened {
    let seen = seen(server);
    whole(server, &seen, held_all(&seen, &Pins::default(), why), why.clone())
}

/// What waits for a person by what was written down of a server.
#[must_use]
pub fn waiting(pins: &Pins) -> Vec<Held> {
    let mut waiting = Vec::new();
    for (kind, items) in &pins.held {
        let none = BTreeMap::new();
        let approved = pins.approved.get(kind).unwrap_or(&none);
        for (name, item) in items {
            let (pinned, text) = (approved.get(name), item.definition.get());
            let content = nameless(*kind, text);
            let same =
                |(_, old): &(&String, &Pinned)| nameless(*kind, old.definition.get()) == content;
            let (why, before) = match (pinned, approved.iter().find(same)) {
                _ if pins.revoked => (Why::Revoked, pinned),
                _ if pins.approved.is_empty() => (Why::FirstUse, None),
                (Some(pinned), _) if *kind == PinKind::Instructions && text == NOTHING => {
                    (Why::Gone, Some(pinned))
                }
                (Some(pinned), _) => (Why::Changed, Some(pinned)),
                (None, Some((from, old))) => (Why::Renamed { from: from.clone() }, Some(old)),
                (None, None) => (Why::New, None),
            };
            waiting.push(Held {
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

/// The definitions that are held, to be kept for whoever looks at them.
#[must_use]
pub fn book_of(held: &[Held]) -> Book {
    let mut book = Book::new();
    for held in held {
        if let Ok(definition) = RawValue::from_string(held.now.clone()) {
            let pinned = Pinned { digest: held.digest.clone(), definition, seen_by: None };
            book.entry(held.kind).or_default().insert(held.name.clone(), pinned);
        }
    }
    book
}

/// Everything that a server offers and that can be pinned.
#[must_use]
pub fn offered(server: &Server) -> Book {
    let all = seen(server).into_iter();
    all.map(|(kind, items)| {
        (kind, items.iter().map(|item| (item.name.clone(), item.pinned())).collect())
    })
    .collect()
}

/// The name and version that a server told.
#[must_use]
pub fn told(server: &Server) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Told {
        name: String,
        #[serde(default)]
        version: String,
    }
    let told: Told = server.agreement.as_ref()?.server.read().ok()?;
    Some(format!("{} {}", told.name, told.version).trim().to_owned())
}

/// The kinds of definitions that a server could not list: what it has of them is not known.
#[must_use]
pub(crate) fn unlisted(offers: &Offers) -> BTreeSet<PinKind> {
    let kind = |kind: &Kind| match kind {
        Kind::Tools => Some(PinKind::Tool),
        Kind::Prompts => Some(PinKind::Prompt),
        Kind::Templates => Some(PinKind::Template),
        Kind::Resources => None,
    };
    offers.unlisted.iter().filter_map(kind).collect()
}

/// The fingerprint of one definition as a server sent it, as pins have it.
#[must_use]
pub fn pin_digest(definition: &str) -> String {
    fingerprint(&canonical(definition))
}

/// Returns the fingerprint of a canonical text.
#[must_use]
pub(crate) fn fingerprint(canonical: &str) -> String {
    digest::of([b"definition".as_slice(), canonical.as_bytes()])
}

/// One definition of this moment.
struct Seen {
    name: String,
    text: String,
    digest: String,
}

impl Seen {
    fn new(name: &str, raw: &str) -> Self {
        let text = canonical(raw);
        let digest = fingerprint(&text);
        Self { name: name.to_owned(), text, digest }
    }

    fn pinned(&self) -> Pinned {
        // A canonical text is JSON unless the definition was none; then it is kept as a text.
        let raw = RawValue::from_string(self.text.clone());
        let definition = raw.or_else(|_| RawValue::from_string(quoted(&self.text)));
        let definition = definition.unwrap_or_default();
        Pinned { digest: self.digest.clone(), definition, seen_by: None }
    }

    fn held(&self, kind: PinKind, why: Why, before: Option<&Pinned>) -> Held {
        Held {
            kind,
            name: self.name.clone(),
            why,
            before: before.map(|pinned| pinned.definition.get().to_owned()),
            now: self.text.clone(),
            digest: self.digest.clone(),
        }
    }
}

fn seen(server: &Server) -> BTreeMap<PinKind, Vec<Seen>> {
    let offers = &server.offers;
    let items = |kind, items: &mut dyn Iterator<Item = &Item>| {
        (kind, items.map(|item| Seen::new(&item.key, item.raw.get())).collect())
    };
    let said = server.agreement.as_ref().and_then(|with| with.instructions.as_deref());
    let said = said.filter(|said| !said.trim().is_empty()).into_iter();
    let said = said.map(|said| Seen::new("", &quoted(said)));
    BTreeMap::from([
        (PinKind::Instructions, said.collect()),
        items(PinKind::Tool, &mut offers.tools.iter().map(|tool| &tool.item)),
        items(PinKind::Prompt, &mut offers.prompts.iter()),
        items(PinKind::Template, &mut offers.templates.iter()),
    ])
}

fn compare(kind: PinKind, items: &[Seen], approved: &BTreeMap<String, Pinned>) -> Vec<Held> {
    let mut held = Vec::new();
    for item in items {
        let pinned = approved.get(&item.name);
        let why = match pinned {
            Some(pinned) if pinned.digest == item.digest => continue,
            Some(_) => Why::Changed,
            None => Why::New,
        };
        held.push(item.held(kind, why, pinned));
    }
    let is_offered = |name: &String| items.iter().any(|item| item.name == *name);
    let gone: Vec<_> = approved.iter().filter(|(name, _)| !is_offered(name)).collect();
    for held in held.iter_mut().filter(|held| held.why == Why::New) {
        let content = nameless(kind, &held.now);
        let same = gone.iter().find(|(_, old)| nameless(kind, old.definition.get()) == content);
        if let Some((name, old)) = same {
            held.why = Why::Renamed { from: (*name).clone() };
            held.before = Some(old.definition.get().to_owned());
        }
    }
    held
}

/// The text of instructions that are not there.
const NOTHING: &str = "null";

/// That a server says nothing where it had instructions that were approved. This takes something
/// away from models and so nothing is held for it, but a person gets to know.
fn silenced(seen: &BTreeMap<PinKind, Vec<Seen>>, pins: &Pins) -> Option<Held> {
    let approved = pins.approved.get(&PinKind::Instructions)?.get("")?;
    let says = seen.get(&PinKind::Instructions).is_some_and(|said| !said.is_empty());
    let nothing = Seen::new("", NOTHING);
    (!says && approved.digest != nothing.digest)
        .then(|| nothing.held(PinKind::Instructions, Why::Gone, Some(approved)))
}

fn nameless(kind: PinKind, text: &str) -> Option<Node> {
    let name = if kind == PinKind::Template { "uriTemplate" } else { "name" };
    Node::read(text).map(|node| node.without(name))
}

fn held_all(seen: &BTreeMap<PinKind, Vec<Seen>>, pins: &Pins, why: &Why) -> Vec<Held> {
    let of_kind = |(kind, items): (&PinKind, &Vec<Seen>)| {
        let approved = pins.approved.get(kind);
        let held = |item: &Seen| {
            let before = approved.and_then(|items| items.get(&item.name));
            item.held(*kind, why.clone(), before)
        };
        items.iter().map(held).collect::<Vec<_>>()
    };
    seen.iter().flat_map(of_kind).collect()
}

fn hidden(server: &Server) -> Screened {
    let (offers, agreement) = (nothing(&server.offers), server.agreement.clone());
    Screened { offers, agreement, held: HeldServer::default(), first: Book::new() }
}

/// All of a server held back, with these definitions before the person.
pub(crate) fn whole_of(server: &Server, definitions: Vec<Held>, why: Why) -> Screened {
    whole(server, &seen(server), definitions, why)
}

fn whole(
    server: &Server,
    seen: &BTreeMap<PinKind, Vec<Seen>>,
    definitions: Vec<Held>,
    why: Why,
) -> Screened {
    let names = |(kind, items): (&PinKind, &Vec<Seen>)| {
        items.iter().map(|item| (*kind, item.name.clone())).collect::<Vec<_>>()
    };
    let hidden = seen.iter().flat_map(names).collect();
    let silent = |with: &Arc<Agreement>| Agreement { instructions: None, ..(**with).clone() };
    Screened {
        offers: nothing(&server.offers),
        agreement: server.agreement.as_ref().map(|with| Arc::new(silent(with))),
        held: HeldServer { whole: Some(why), definitions, hidden },
        first: Book::new(),
    }
}

#[cfg(test)]
#[path = "pins_tests.rs"]
mod tests;
