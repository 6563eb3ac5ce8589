//! Names and addresses given out, in order, how they are made, and what is behind each of them.

use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashMapExt as _};
use switchboard_access::View;
use switchboard_catalog::{Lease, Offers, Server, model_name};
use switchboard_core::{Target, TargetKind};
use switchboard_trust::PinKind;
use switchboard_wire::ListedItem;

use crate::cursor::ListPosition;
use crate::gateway::Gateway;
use crate::members::with_string_member;
use crate::name_owners::NameOwners;
use crate::uri_rewrite::uri_prefix;

/// A name that two servers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    pub name: String,
    /// The server that keeps it.
    pub kept: String,
    /// The server whose own is left out.
    pub left_out: String,
}

/// Names given out, in order.
pub(crate) struct NameTable {
    item: fn(&Offers, usize) -> Option<&ListedItem>,
    pub(crate) entries: Vec<NamedItem>,
    pub(crate) positions: HashMap<Box<str>, usize>,
    /// What is not shown, though whoever knows the name may ask for it: what rules forbid to
    /// everybody, to be told of the rule, and pages of tools that no list has.
    pub(crate) unlisted: HashMap<Box<str>, Target>,
    /// Some are known under another address than their own.
    pub(crate) is_renamed: bool,
    texts: OnceLock<Arc<[String]>>,
}

/// One thing under the name that we give out: what a server has at a place.
pub(crate) struct NamedItem {
    pub(crate) server: Arc<Server>,
    pub(crate) place: usize,
    /// Its server is not named after itself.
    pub(crate) late: bool,
    /// Only where it is another than its own.
    pub(crate) name: Option<Box<str>>,
}

impl NameTable {
    pub(crate) fn new(item: fn(&Offers, usize) -> Option<&ListedItem>) -> Self {
        Self {
            item,
            entries: Vec::new(),
            positions: HashMap::new(),
            unlisted: HashMap::new(),
            is_renamed: false,
            texts: OnceLock::new(),
        }
    }

    pub(crate) fn own_item<'a>(&self, entry: &'a NamedItem) -> Option<&'a ListedItem> {
        (self.item)(&entry.server.offers, entry.place)
    }

    /// The name that we give out; everything has one.
    pub(crate) fn public_name<'a>(&self, entry: &'a NamedItem) -> &'a str {
        match &entry.name {
            Some(name) => name,
            None => self.own_item(entry).map_or("", |item| &item.key),
        }
    }

    pub(crate) fn add(&mut self, entry: NamedItem) -> Result<(), Collision> {
        let name: Box<str> = self.public_name(&entry).into();
        if let Some(first) = self.positions.get(&name).and_then(|place| self.entries.get(*place)) {
            return Err(Collision {
                kept: first.server.id.to_string(),
                left_out: entry.server.id.to_string(),
                name: name.into(),
            });
        }
        self.positions.insert(name, self.entries.len());
        self.entries.push(entry);
        Ok(())
    }

    pub(crate) fn get(&self, kind: TargetKind, name: &str) -> Option<Target> {
        match self.positions.get(name) {
            Some(place) => {
                let entry = self.entries.get(*place)?;
                Some(Target::new(kind, entry.server.id.as_str(), &self.own_item(entry)?.key))
            }
            None => self.unlisted.get(name).cloned(),
        }
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = (ListPosition, &str)> + Clone {
        self.entries.iter().map(|entry| {
            let server = entry.server.id.to_string();
            let key = self.own_item(entry).map_or("", |item| &item.key);
            (ListPosition { late: entry.late, server, place: entry.place }, key)
        })
    }

    pub(crate) fn texts(
        &self,
        key: &str,
        shown: impl Fn(&NamedItem, &str) -> Option<String>,
    ) -> &Arc<[String]> {
        self.texts.get_or_init(|| {
            let text = |entry: &NamedItem| {
                let own = self.own_item(entry).map_or("{}", |item| item.raw.get());
                let other = shown(entry, own);
                let own = other.as_deref().unwrap_or(own);
                let named =
                    entry.name.as_deref().and_then(|name| with_string_member(own, key, name));
                named.unwrap_or_else(|| own.to_owned())
            };
            self.entries.iter().map(text).collect()
        })
    }
}

/// Resources and templates of a server, for one caller.
pub(crate) struct ServerResources<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) view: &'a View,
    pub(crate) lease: &'a Lease,
    pub(crate) late: bool,
    pub(crate) owners: &'a NameOwners,
}

impl ServerResources<'_> {
    /// An address keeps its own text; where another server has had it before, ours says whose it is.
    pub(crate) fn add(&self, named: &mut NameTable, items: &[ListedItem]) {
        let id = self.server.id.as_str();
        for (place, item) in items.iter().enumerate() {
            if !self.view.shows(id, &item.key) {
                continue;
            }
            let server = self.server;
            let late = self.late;
            let entry = |name| NamedItem { server: Arc::clone(server), place, late, name };
            if !self.lease.is_listed(TargetKind::Resource, id, &item.key) {
                let target = Target::new(TargetKind::Resource, id, &item.key);
                named.unlisted.insert(item.key.clone(), target);
            } else if self.has_other_owner(&item.key) || named.add(entry(None)).is_err() {
                let name = format!("{}{}", uri_prefix(id), item.key);
                // Twice in one server's list: the first one is as good.
                named.is_renamed |= named.add(entry(Some(name.into()))).is_ok();
            }
        }
    }

    fn has_other_owner(&self, uri: &str) -> bool {
        self.owners.other_owner(TargetKind::Resource, uri, self.server, self.view).is_some()
    }
}

/// How tools and prompts are named where a server's entry has no `prefix`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameMode {
    #[default]
    Prefixed,
    /// As the server names them; where two servers use one name, the first keeps it.
    Plain,
}

/// How those of one server are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamingScheme<'a> {
    /// After the server itself.
    Server,
    /// After what its entry says.
    Prefix(&'a str),
    /// As the server names them.
    Plain,
}

impl<'a> NamingScheme<'a> {
    /// What its entry says, or else what holds for all.
    pub(crate) fn for_server(server: &'a Server, mode: NameMode) -> Self {
        let prefix = server.config.as_ref().and_then(|config| config.prefix.as_deref());
        match (prefix, mode) {
            (Some(""), _) | (None, NameMode::Plain) => Self::Plain,
            (Some(prefix), _) => Self::Prefix(prefix),
            (None, NameMode::Prefixed) => Self::Server,
        }
    }

    /// The name that is given out, where it is another than the server's.
    pub(crate) fn public_name(self, server: &str, own: &str) -> Option<Box<str>> {
        match self {
            Self::Server => Some(model_name(server, own).into()),
            Self::Prefix(prefix) => Some(model_name(prefix, own).into()),
            Self::Plain => None,
        }
    }
}

impl Gateway {
    /// What a client means by a name that is not listed, if that is held back and the client would
    /// see it otherwise.
    pub(crate) fn find_quarantined(
        &self,
        view: &View,
        kind: TargetKind,
        name: &str,
    ) -> Option<Target> {
        let wanted = match kind {
            TargetKind::Tool => PinKind::Tool,
            TargetKind::Prompt => PinKind::Prompt,
            TargetKind::Resource => return None,
        };
        let quarantine = self.host().quarantine().load();
        let fleet = self.host().fleet().load();
        let names = self.inner.options.names;
        for (server, held) in &quarantine.servers {
            let of_kind = held.hidden.iter().filter(|(kind, _)| *kind == wanted);
            for (_, own) in of_kind.filter(|(_, own)| view.shows(server.as_str(), own)) {
                let naming = fleet
                    .servers
                    .get(server.as_str())
                    .map(|server| NamingScheme::for_server(server, names));
                let given = naming.and_then(|naming| naming.public_name(server.as_str(), own));
                if given.as_deref().unwrap_or(own) == name {
                    return Some(Target::new(kind, server.as_str(), own));
                }
            }
        }
        None
    }
}
