//! Names and addresses given out, in order, and what is behind each of them.

use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashMapExt as _};
use switchboard_catalog::{Lease, Offers, Server};
use switchboard_core::{Target, TargetKind};
use switchboard_wire::list::Item;

use crate::addresses::prefix;
use crate::cursor::Position;
use crate::members::with_text;
use crate::owners::Owners;
use crate::view::View;

/// A name that two servers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The name.
    pub name: String,
    /// The server that keeps it.
    pub kept: String,
    /// The server whose own is left out.
    pub left_out: String,
}

/// Names given out, in order.
pub(crate) struct Named {
    item: fn(&Offers, usize) -> Option<&Item>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) places: HashMap<Box<str>, usize>,
    /// What is not shown, though whoever knows the name may ask for it: what rules forbid to
    /// everybody, to be told of the rule, and pages of tools that no list has.
    pub(crate) unshown: HashMap<Box<str>, Target>,
    /// Some are known under another address than their own.
    pub(crate) is_renamed: bool,
    texts: OnceLock<Arc<[String]>>,
}

/// One thing under the name that we give out: what a server has at a place.
pub(crate) struct Entry {
    pub(crate) server: Arc<Server>,
    pub(crate) place: usize,
    /// Its server is not named after itself.
    pub(crate) late: bool,
    /// Only where it is another than its own.
    pub(crate) name: Option<Box<str>>,
}

impl Named {
    pub(crate) fn new(item: fn(&Offers, usize) -> Option<&Item>) -> Self {
        Self {
            item,
            entries: Vec::new(),
            places: HashMap::new(),
            unshown: HashMap::new(),
            is_renamed: false,
            texts: OnceLock::new(),
        }
    }

    pub(crate) fn own<'a>(&self, entry: &'a Entry) -> Option<&'a Item> {
        (self.item)(&entry.server.offers, entry.place)
    }

    /// The name that we give out; everything has one.
    pub(crate) fn shown<'a>(&self, entry: &'a Entry) -> &'a str {
        match &entry.name {
            Some(name) => name,
            None => self.own(entry).map_or("", |item| &item.key),
        }
    }

    pub(crate) fn add(&mut self, entry: Entry) -> Result<(), Collision> {
        let name: Box<str> = self.shown(&entry).into();
        if let Some(first) = self.places.get(&name).and_then(|place| self.entries.get(*place)) {
            return Err(Collision {
                kept: first.server.id.to_string(),
                left_out: entry.server.id.to_string(),
                name: name.into(),
            });
        }
        self.places.insert(name, self.entries.len());
        self.entries.push(entry);
        Ok(())
    }

    pub(crate) fn get(&self, kind: TargetKind, name: &str) -> Option<Target> {
        match self.places.get(name) {
            Some(place) => {
                let entry = self.entries.get(*place)?;
                Some(Target::new(kind, entry.server.id.as_str(), &self.own(entry)?.key))
            }
            None => self.unshown.get(name).cloned(),
        }
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = (Position, &str)> + Clone {
        self.entries.iter().map(|entry| {
            let (late, server) = (entry.late, entry.server.id.to_string());
            let key = self.own(entry).map_or("", |item| &item.key);
            (Position { late, server, place: entry.place }, key)
        })
    }

    pub(crate) fn texts(
        &self,
        key: &str,
        shown: impl Fn(&Entry, &str) -> Option<String>,
    ) -> &Arc<[String]> {
        self.texts.get_or_init(|| {
            let text = |entry: &Entry| {
                let own = self.own(entry).map_or("{}", |item| item.raw.get());
                let other = shown(entry, own);
                let own = other.as_deref().unwrap_or(own);
                let named = entry.name.as_deref().and_then(|name| with_text(own, key, name));
                named.unwrap_or_else(|| own.to_owned())
            };
            self.entries.iter().map(text).collect()
        })
    }
}

/// Resources and templates of a server, for one caller.
pub(crate) struct Addresses<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) view: &'a View,
    pub(crate) lease: &'a Lease,
    pub(crate) late: bool,
    pub(crate) owners: &'a Owners,
}

impl Addresses<'_> {
    /// An address keeps its own text; where another server has had it before, ours says whose it is.
    pub(crate) fn add(&self, named: &mut Named, items: &[Item]) {
        let id = self.server.id.as_str();
        for (place, item) in items.iter().enumerate() {
            if !self.view.shows(id, &item.key) {
                continue;
            }
            let (server, late) = (self.server, self.late);
            let entry = |name| Entry { server: Arc::clone(server), place, late, name };
            if !self.lease.lists(TargetKind::Resource, id, &item.key) {
                let target = Target::new(TargetKind::Resource, id, &item.key);
                named.unshown.insert(item.key.clone(), target);
            } else if self.has_other_owner(&item.key) || named.add(entry(None)).is_err() {
                let name = format!("{}{}", prefix(id), item.key);
                // Twice in one server's list: the first one is as good.
                named.is_renamed |= named.add(entry(Some(name.into()))).is_ok();
            }
        }
    }

    fn has_other_owner(&self, uri: &str) -> bool {
        self.owners.other((TargetKind::Resource, uri), self.server, self.view).is_some()
    }
}
