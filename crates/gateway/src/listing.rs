//! What one caller is shown of one catalog, under the names that we give out.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use switchboard_host::catalog::Catalog;
use switchboard_host::connect::Server;
use switchboard_host::{Lease, ProposedCall, Target, TargetKind};
use switchboard_wire::Json;
use switchboard_wire::list::Item;

use crate::members::with_text;
use crate::naming::{NameMode, Naming};
use crate::view::View;

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

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

/// What one caller is shown. Never changed; texts are made when they are first needed.
pub(crate) struct Listing {
    pub(crate) lease: Lease,
    tools: Named,
    /// Where a tool of the catalog is among the shown ones.
    by_place: HashMap<usize, usize>,
    prompts: Named,
    /// The server behind every listed URI.
    resources: Named,
    templates: Named,
    collisions: Vec<Collision>,
}

/// Names given out, in order.
#[derive(Default)]
struct Named {
    entries: Vec<Entry>,
    places: HashMap<Box<str>, usize>,
    /// What rules forbid to everybody: not shown, but whoever knows the name is told of the rule.
    forbidden: HashMap<Box<str>, Entry>,
    texts: OnceLock<Arc<[String]>>,
}

/// One thing under the name that we give out.
struct Entry {
    server: Arc<Server>,
    item: Item,
    /// Only where it is another than its own.
    name: Option<Box<str>>,
}

impl Entry {
    fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.item.key)
    }
}

impl Named {
    fn add(&mut self, entry: Entry) -> Result<(), Collision> {
        let name: Box<str> = entry.shown().into();
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

    fn get(&self, name: &str) -> Option<&Entry> {
        match self.places.get(name) {
            Some(place) => self.entries.get(*place),
            None => self.forbidden.get(name),
        }
    }

    fn forbid(&mut self, entry: Entry) {
        self.forbidden.insert(entry.shown().into(), entry);
    }

    fn texts(&self, key: &str) -> &Arc<[String]> {
        self.texts.get_or_init(|| {
            let text = |entry: &Entry| match &entry.name {
                None => entry.item.raw.get().to_owned(),
                Some(name) => with_text(entry.item.raw.get(), key, name)
                    .unwrap_or_else(|| entry.item.raw.get().to_owned()),
            };
            self.entries.iter().map(text).collect()
        })
    }
}

impl Listing {
    /// What `view` shows of a catalog.
    pub(crate) fn of(lease: Lease, view: &View, mode: NameMode) -> Self {
        let catalog = Arc::clone(lease.catalog());
        let mut listing = Self {
            lease,
            tools: Named::default(),
            by_place: HashMap::new(),
            prompts: Named::default(),
            resources: Named::default(),
            templates: Named::default(),
            collisions: Vec::new(),
        };
        for (naming, server, first) in in_order(&catalog, mode) {
            let id = server.id.as_str();
            for (place, tool) in (first..).zip(&server.offers.tools) {
                let name = match naming {
                    Naming::Server => catalog.names().get(place).map(Into::into),
                    naming => naming.name(id, tool.name()),
                };
                if view.shows(id, tool.name()) {
                    let server = Arc::clone(server);
                    let entry = Entry { server, item: tool.item.clone(), name };
                    if !listing.lease.lists(TargetKind::Tool, id, tool.name()) {
                        listing.tools.forbid(entry);
                        continue;
                    }
                    match listing.tools.add(entry) {
                        Ok(()) => {
                            listing.by_place.insert(place, listing.tools.entries.len() - 1);
                        }
                        Err(collision) => listing.collisions.push(collision),
                    }
                }
            }
            for item in server.offers.prompts.iter().filter(|item| view.shows(id, &item.key)) {
                let name = naming.name(id, &item.key);
                let entry = Entry { server: Arc::clone(server), item: item.clone(), name };
                if listing.lease.lists(TargetKind::Prompt, id, &item.key) {
                    listing.collisions.extend(listing.prompts.add(entry).err());
                } else {
                    listing.prompts.forbid(entry);
                }
            }
            let addresses = Addresses { server, view, lease: &listing.lease };
            addresses.add(&mut listing.resources, &server.offers.resources);
            addresses.add(&mut listing.templates, &server.offers.templates);
        }
        listing
    }

    /// Names that two servers use; the second of them is left out.
    pub(crate) fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// How many tools there are.
    pub(crate) fn tool_count(&self) -> usize {
        self.tools.entries.len()
    }

    /// The texts of all items of a kind, in order.
    pub(crate) fn texts(&self, kind: Kind) -> Arc<[String]> {
        Arc::clone(match kind {
            Kind::Tools => self.tools.texts("name"),
            Kind::Prompts => self.prompts.texts("name"),
            Kind::Resources => self.resources.texts("uri"),
            Kind::Templates => self.templates.texts("uriTemplate"),
        })
    }

    /// The tool behind a name.
    pub(crate) fn tool(&self, name: &str) -> Option<Target> {
        self.tools.get(name).map(|entry| target(TargetKind::Tool, entry))
    }

    /// The name that we give to the tool at a place of the catalog, if it is shown.
    pub(crate) fn tool_name(&self, place: usize) -> Option<&str> {
        self.tools.entries.get(*self.by_place.get(&place)?).map(Entry::shown)
    }

    /// The text of a shown tool.
    pub(crate) fn tool_text(&self, name: &str) -> Option<&str> {
        let place = self.tools.places.get(name)?;
        self.tools.texts("name").get(*place).map(String::as_str)
    }

    /// The prompt behind a name.
    pub(crate) fn prompt(&self, name: &str) -> Option<Target> {
        self.prompts.get(name).map(|entry| target(TargetKind::Prompt, entry))
    }

    /// The resource behind an address: listed, or made from a template.
    pub(crate) fn resource(&self, uri: &str) -> Option<Target> {
        if let Some(entry) = self.resources.get(uri) {
            return Some(target(TargetKind::Resource, entry));
        }
        let fits = |server: &str, uri: &str| {
            let target = Target::new(TargetKind::Resource, server, uri);
            let arguments = Json::from(&serde_json::json!({}));
            let proposed = ProposedCall { target: target.clone(), arguments };
            self.lease.resolve(proposed).is_ok().then_some(target)
        };
        for entry in self.templates.entries.iter().chain(self.templates.forbidden.values()) {
            let server = entry.server.id.as_str();
            let own = match &entry.name {
                Some(_) => uri.strip_prefix(&prefix(server)),
                None => Some(uri),
            };
            if let Some(found) = own.and_then(|own| fits(server, own)) {
                return Some(found);
            }
        }
        None
    }

    /// The family of resources behind its template.
    pub(crate) fn template(&self, text: &str) -> Option<Target> {
        self.templates.get(text).map(|entry| target(TargetKind::Resource, entry))
    }

    /// The address that we give to a resource of a server.
    pub(crate) fn shown_address(&self, server: &str, uri: &str) -> String {
        match self.resources.get(uri) {
            Some(entry) if entry.server.id.as_str() != server => {
                format!("{}{uri}", prefix(server))
            }
            _ => uri.to_owned(),
        }
    }

    /// What the servers want a model to know, each under its name.
    pub(crate) fn instructions(&self) -> Option<String> {
        let mut text = String::new();
        let has_something = |server: &&Arc<Server>| {
            let all = [&self.tools, &self.prompts, &self.resources, &self.templates];
            all.iter().any(|named| named.entries.iter().any(|entry| entry.server.id == server.id))
        };
        // Whoever sees nothing of a server has no use for its words.
        for server in self.lease.catalog().servers().iter().filter(has_something) {
            let said = server.agreement.as_ref().and_then(|with| with.instructions.as_deref());
            if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
                // Writing to a `String` cannot fail.
                _ = write!(text, "# {}\n\n{}\n\n", server.id, said.trim());
            }
        }
        (!text.is_empty()).then(|| text.trim_end().to_owned())
    }
}

/// The servers with the place of their first tool. Who is named after itself comes first: what a
/// file says about another server must not take a name away from it.
fn in_order(catalog: &Catalog, mode: NameMode) -> Vec<(Naming<'_>, &Arc<Server>, usize)> {
    let mut first = 0;
    let mut servers = Vec::new();
    for server in catalog.servers() {
        servers.push((Naming::of(server, mode), server, first));
        first += server.offers.tools.len();
    }
    servers.sort_by_key(|(naming, ..)| *naming != Naming::Server);
    servers
}

/// Resources and templates of a server, for one caller.
struct Addresses<'a> {
    server: &'a Arc<Server>,
    view: &'a View,
    lease: &'a Lease,
}

impl Addresses<'_> {
    /// An address keeps its own text; where another server has it already, ours says whose it is.
    fn add(&self, named: &mut Named, items: &[Item]) {
        let id = self.server.id.as_str();
        for item in items.iter().filter(|item| self.view.shows(id, &item.key)) {
            let entry = |name| Entry { server: Arc::clone(self.server), item: item.clone(), name };
            if !self.lease.lists(TargetKind::Resource, id, &item.key) {
                named.forbid(entry(None));
            } else if named.add(entry(None)).is_err() {
                let name = format!("{}{}", prefix(id), item.key);
                // Twice in one server's list: the first one is as good.
                named.add(entry(Some(name.into()))).ok();
            }
        }
    }
}

fn prefix(server: &str) -> String {
    format!("switchboard:{server}:")
}

fn target(kind: TargetKind, entry: &Entry) -> Target {
    Target::new(kind, entry.server.id.as_str(), &entry.item.key)
}
