//! Public names and URIs: how they are assigned, their order, and the items behind them.

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

/// A name that several servers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    pub name: String,
    /// The server that keeps the name.
    pub kept: String,
    /// The server whose item is left out.
    pub left_out: String,
}

/// Public names in list order.
pub(crate) struct NameTable {
    item: fn(&Offers, usize) -> Option<&ListedItem>,
    pub(crate) entries: Vec<NamedItem>,
    pub(crate) positions: HashMap<Box<str>, usize>,
    /// Items that are not listed but resolve by name: denied by rules, so that a call reports the
    /// rule, or UI resources that are in no list.
    pub(crate) unlisted: HashMap<Box<str>, Target>,
    /// Whether any public URI differs from the server's own.
    pub(crate) is_renamed: bool,
    texts: OnceLock<Arc<[String]>>,
}

/// An item of a server under its public name.
pub(crate) struct NamedItem {
    pub(crate) server: Arc<Server>,
    pub(crate) place: usize,
    /// The server is not named by its own id, so its items come last.
    pub(crate) late: bool,
    /// The public name, if it differs from the server's own.
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

/// The resources or templates of a server, for one caller.
pub(crate) struct ServerResources<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) view: &'a View,
    pub(crate) lease: &'a Lease,
    pub(crate) late: bool,
    pub(crate) owners: &'a NameOwners,
}

impl ServerResources<'_> {
    /// Adds items under their own URIs, or under prefixed ones if another server owns the URI.
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
                // Fails if the server lists a URI twice; the first item is kept.
                named.is_renamed |= named.add(entry(Some(name.into()))).is_ok();
            }
        }
    }

    fn has_other_owner(&self, uri: &str) -> bool {
        self.owners.other_owner(TargetKind::Resource, uri, self.server, self.view).is_some()
    }
}

/// The naming of tools and prompts of servers without a `prefix` in their entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameMode {
    #[default]
    Prefixed,
    /// The server's own names; if several servers use one, the first keeps it.
    Plain,
}

/// The naming of the tools and prompts of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamingScheme<'a> {
    Server,
    /// Prefixed with the `prefix` of the server's entry.
    Prefix(&'a str),
    Plain,
}

impl<'a> NamingScheme<'a> {
    /// Returns the scheme of the server's entry, otherwise that of `mode`.
    pub(crate) fn for_server(server: &'a Server, mode: NameMode) -> Self {
        let prefix = server.config.as_ref().and_then(|config| config.prefix.as_deref());
        match (prefix, mode) {
            (Some(""), _) | (None, NameMode::Plain) => Self::Plain,
            (Some(prefix), _) => Self::Prefix(prefix),
            (None, NameMode::Prefixed) => Self::Server,
        }
    }

    /// Returns the public name, if it differs from the server's own.
    pub(crate) fn public_name(self, server: &str, own: &str) -> Option<Box<str>> {
        match self {
            Self::Server => Some(model_name(server, own).into()),
            Self::Prefix(prefix) => Some(model_name(prefix, own).into()),
            Self::Plain => None,
        }
    }
}

impl Gateway {
    /// Looks up a tool or prompt that is in quarantine, if the view would show it. The call is then
    /// rejected with the reason.
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
        // Quarantined items are in no catalog, so their public names are computed again.
        let quarantine = self.host().quarantine().load();
        let fleet = self.host().fleet().load();
        let names = self.inner.options.names;
        for (server, held) in &quarantine.servers {
            let of_kind = held.hidden.iter().filter(|(kind, _)| *kind == wanted);
            for (_, own) in of_kind.filter(|(_, own)| view.shows(server.as_str(), own)) {
                let found = fleet.servers.get(server.as_str());
                let naming = found.map(|found| NamingScheme::for_server(found, names));
                let given = naming.and_then(|naming| naming.public_name(server.as_str(), own));
                if given.as_deref().unwrap_or(own) == name {
                    return Some(Target::new(kind, server.as_str(), own));
                }
            }
        }
        None
    }
}
