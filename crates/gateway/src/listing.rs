//! What one caller is shown of one catalog, under the names that we give out.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use switchboard_catalog::{Catalog, Lease, Server, Tool, fits as fits_template};
use switchboard_core::{ProposedCall, Target, TargetKind};
use switchboard_text::digest;

use crate::addresses::{ADDRESS, prefix, shown_definition, shown_result};
use crate::cursor::Cursor;
use crate::lists::Kind;
use crate::named::{Addresses, Collision, Entry, Named};
use crate::naming::{NameMode, Naming};
use crate::owners::Owners;
use crate::view::View;

/// What one caller is shown. Never changed; texts are made when they are first needed.
pub(crate) struct Listing {
    pub(crate) lease: Lease,
    view: Arc<View>,
    tools: Named,
    /// Where a tool of the catalog is among the shown ones.
    by_place: HashMap<usize, usize>,
    prompts: Named,
    /// The server behind every listed URI.
    resources: Named,
    templates: Named,
    collisions: Vec<Collision>,
    /// What the servers want a model to know, once somebody asked.
    instructions: OnceLock<Option<String>>,
}

impl Listing {
    /// What `view` shows of a catalog, where these servers own the names that two of them use.
    pub(crate) fn of(lease: Lease, view: &Arc<View>, (mode, owners): (NameMode, &Owners)) -> Self {
        let catalog = Arc::clone(lease.catalog());
        let mut listing = Self {
            lease,
            view: Arc::clone(view),
            tools: Named::new(|offers, place| offers.tools.get(place).map(|tool| &tool.item)),
            by_place: HashMap::new(),
            prompts: Named::new(|offers, place| offers.prompts.get(place)),
            resources: Named::new(|offers, place| offers.resources.get(place)),
            templates: Named::new(|offers, place| offers.templates.get(place)),
            collisions: Vec::new(),
            instructions: OnceLock::new(),
        };
        let in_order = in_order(&catalog, mode);
        for (naming, server, first) in &in_order {
            listing.add_tools((*naming, owners), server, (&catalog, *first));
            listing.add_prompts((*naming, owners), server);
            let late = *naming != Naming::Server;
            let addresses = Addresses { server, view, lease: &listing.lease, late, owners };
            addresses.add(&mut listing.resources, &server.offers.resources);
            addresses.add(&mut listing.templates, &server.offers.templates);
        }
        // After what is listed: a page that no list has takes no address away.
        for (_, server, _) in &in_order {
            listing.add_pages(server);
        }
        listing
    }

    fn add_tools(
        &mut self,
        (naming, owners): (Naming<'_>, &Owners),
        server: &Arc<Server>,
        (catalog, first): (&Catalog, usize),
    ) {
        let id = server.id.as_str();
        for (place, tool) in server.offers.tools.iter().enumerate() {
            if !self.view.shows(id, tool.name()) {
                continue;
            }
            let name = match naming {
                Naming::Server => catalog.names().get(first + place).map(Into::into),
                naming => naming.name(id, tool.name()),
            };
            if !self.lease.lists(TargetKind::Tool, id, tool.name()) {
                let target = Target::new(TargetKind::Tool, id, tool.name());
                self.tools.unshown.insert(name.unwrap_or_else(|| tool.name().into()), target);
                continue;
            }
            let late = naming != Naming::Server;
            let shown = name.as_deref().unwrap_or(tool.name());
            if let Some(owner) = self.owner(owners, (TargetKind::Tool, shown), server, naming) {
                self.collisions.push(owner);
                continue;
            }
            match self.tools.add(Entry { server: Arc::clone(server), place, late, name }) {
                Ok(()) => {
                    self.by_place.insert(first + place, self.tools.entries.len() - 1);
                }
                Err(collision) => self.collisions.push(collision),
            }
        }
    }

    /// Who else has had a name for longer.
    fn owner(
        &self,
        owners: &Owners,
        (kind, name): (TargetKind, &str),
        server: &Server,
        naming: Naming<'_>,
    ) -> Option<Collision> {
        if naming == Naming::Server {
            return None;
        }
        let owner = owners.other((kind, name), server, &self.view)?;
        let (kept, left_out) = (owner.to_string(), server.id.to_string());
        Some(Collision { name: name.to_owned(), kept, left_out })
    }

    fn add_prompts(&mut self, (naming, owners): (Naming<'_>, &Owners), server: &Arc<Server>) {
        let id = server.id.as_str();
        for (place, item) in server.offers.prompts.iter().enumerate() {
            if !self.view.shows(id, &item.key) {
                continue;
            }
            let name = naming.name(id, &item.key);
            if self.lease.lists(TargetKind::Prompt, id, &item.key) {
                let shown = name.as_deref().unwrap_or(&item.key);
                let other = self.owner(owners, (TargetKind::Prompt, shown), server, naming);
                let late = naming != Naming::Server;
                let entry = Entry { server: Arc::clone(server), place, late, name };
                self.collisions.extend(other.or_else(|| self.prompts.add(entry).err()));
            } else {
                let target = Target::new(TargetKind::Prompt, id, &item.key);
                self.prompts.unshown.insert(name.unwrap_or_else(|| item.key.clone()), target);
            }
        }
    }

    /// Pages of tools may be in no list; they are read all the same.
    fn add_pages(&mut self, server: &Arc<Server>) {
        let id = server.id.as_str();
        let shown = server.offers.tools.iter().filter(|tool| self.view.shows(id, tool.name()));
        let pages: Vec<String> = shown.filter_map(Tool::page).collect();
        for page in pages {
            if server.offers.resources.iter().any(|item| *item.key == *page) {
                continue;
            }
            let target = Target::new(TargetKind::Resource, id, &page);
            let taken = self.resource(&page);
            if taken.as_ref().is_some_and(|taken| taken.server != target.server) {
                self.resources.is_renamed = true;
                self.resources.unshown.insert(format!("{}{page}", prefix(id)).into(), target);
            } else if taken.is_none() {
                self.resources.unshown.insert(page.into(), target);
            }
        }
    }

    /// Names that two servers use; the second of them is left out.
    pub(crate) fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// How many names there are, of whatever kind.
    pub(crate) fn size(&self) -> usize {
        let all = [&self.tools, &self.prompts, &self.resources, &self.templates];
        1 + all.iter().map(|named| named.places.len() + named.unshown.len()).sum::<usize>()
    }

    /// How many tools there are.
    pub(crate) fn tool_count(&self) -> usize {
        self.tools.entries.len()
    }

    /// Whether nothing is left out for this caller alone.
    pub(crate) fn shows_all(&self) -> bool {
        self.view.is_whole()
    }

    /// The names of the prompts, in order.
    pub(crate) fn prompt_names(&self) -> impl Iterator<Item = &str> {
        self.prompts.entries.iter().map(|entry| self.prompts.shown(entry))
    }

    /// The names of the tools, in order.
    pub(crate) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.entries.iter().map(|entry| self.tools.shown(entry))
    }

    /// The servers that a tool is shown of, in order.
    pub(crate) fn tool_servers(&self) -> Vec<&str> {
        let mut servers: Vec<&str> =
            self.tools.entries.iter().map(|entry| entry.server.id.as_str()).collect();
        servers.dedup();
        servers
    }

    /// The texts of all items of a kind, in order.
    pub(crate) fn texts(&self, kind: Kind) -> Arc<[String]> {
        Arc::clone(match kind {
            Kind::Tools => self.tool_texts(),
            Kind::Prompts => self.prompts.texts("name", |_, _| None),
            Kind::Resources => self.resources.texts("uri", |_, _| None),
            Kind::Templates => self.templates.texts("uriTemplate", |_, _| None),
        })
    }

    fn tool_texts(&self) -> &Arc<[String]> {
        self.tools.texts("name", |entry, own| {
            let shown = |uri: &str| self.renamed(entry.server.id.as_str(), uri);
            if self.renames() { shown_definition(own, &shown) } else { None }
        })
    }

    /// The cursor that leads to a place of a list.
    pub(crate) fn cursor(&self, kind: Kind, place: usize) -> Option<Cursor> {
        let (position, key) = self.named(kind).positions().nth(place)?;
        Some(Cursor { list: self.list_name(kind), position, key: key.to_owned() })
    }

    /// The place in a list that a cursor leads to; nothing if it is one of another list, or of
    /// somebody who is shown another one.
    pub(crate) fn place(&self, kind: Kind, cursor: &Cursor) -> Option<usize> {
        let is_ours = cursor.list == self.list_name(kind);
        is_ours.then(|| cursor.find(self.named(kind).positions()))
    }

    fn list_name(&self, kind: Kind) -> String {
        let view = digest::of([self.view.key().as_bytes()]);
        format!("{} {}", kind.word(), view.get(..16).unwrap_or(&view))
    }

    const fn named(&self, kind: Kind) -> &Named {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
            Kind::Resources => &self.resources,
            Kind::Templates => &self.templates,
        }
    }

    /// Whether a tool of that name is shown.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.places.contains_key(name)
    }

    /// The tool behind a name.
    pub(crate) fn tool(&self, name: &str) -> Option<Target> {
        self.tools.get(TargetKind::Tool, name)
    }

    /// The name that we give to the tool at a place of the catalog, if it is shown.
    pub(crate) fn tool_name(&self, place: usize) -> Option<&str> {
        self.tools.entries.get(*self.by_place.get(&place)?).map(|entry| self.tools.shown(entry))
    }

    /// The text of a shown tool.
    pub(crate) fn tool_text(&self, name: &str) -> Option<&str> {
        let place = self.tools.places.get(name)?;
        self.tool_texts().get(*place).map(String::as_str)
    }

    /// The prompt behind a name.
    pub(crate) fn prompt(&self, name: &str) -> Option<Target> {
        self.prompts.get(TargetKind::Prompt, name)
    }

    /// The resource behind an address: listed, or made from a template.
    pub(crate) fn resource(&self, uri: &str) -> Option<Target> {
        self.given_out(uri).or_else(|| self.by_whole_address(uri))
    }

    fn given_out(&self, uri: &str) -> Option<Target> {
        if let Some(target) = self.resources.get(TargetKind::Resource, uri) {
            return Some(target);
        }
        for entry in &self.templates.entries {
            let server = entry.server.id.as_str();
            let own = match &entry.name {
                Some(_) => uri.strip_prefix(&prefix(server)),
                None => Some(uri),
            };
            let template = self.templates.own(entry).map_or("", |item| &item.key);
            if let Some(found) = own.and_then(|own| self.fitting((server, template), own)) {
                return Some(found);
            }
        }
        let unshown = &mut self.templates.unshown.values();
        unshown.find_map(|target| self.fitting((&target.server, &target.name), uri))
    }

    /// The resource behind an address of ours where its own is given out: a client may have it from
    /// when another server had the same.
    fn by_whole_address(&self, uri: &str) -> Option<Target> {
        if !uri.starts_with(ADDRESS) {
            return None;
        }
        let servers = self.lease.fleet().servers.keys();
        let mut owned =
            servers.filter_map(|id| Some((id, uri.strip_prefix(&prefix(id.as_str()))?)));
        owned
            .find_map(|(id, own)| self.given_out(own).filter(|target| target.server == id.as_str()))
    }

    /// What a server has at an address that its template stands for. Whatever else it has there
    /// may be hidden from this caller.
    fn fitting(&self, (server, template): (&str, &str), uri: &str) -> Option<Target> {
        if !fits_template(template, uri) {
            return None;
        }
        let proposed = ProposedCall::resource(server, uri);
        let target = proposed.target.clone();
        self.lease.resolve(proposed).is_ok().then_some(target)
    }

    /// The family of resources behind its template.
    pub(crate) fn template(&self, text: &str) -> Option<Target> {
        self.templates.get(TargetKind::Resource, text)
    }

    /// The address under which this caller knows a resource of a server, if it sees it at all.
    pub(crate) fn known_address(&self, server: &str, uri: &str) -> Option<String> {
        let shown = self.renamed(server, uri).unwrap_or_else(|| uri.to_owned());
        self.resource(&shown).is_some_and(|target| target.server == server).then_some(shown)
    }

    /// Whether a client that knows a resource of a server under `shown` may know it as `other` too.
    pub(crate) fn is_same_address(server: &str, shown: &str, other: &str) -> bool {
        other == shown || other.strip_prefix(&prefix(server)) == Some(shown)
    }

    /// The same, only where it is another than its own.
    fn renamed(&self, server: &str, uri: &str) -> Option<String> {
        let ours = format!("{}{uri}", prefix(server));
        let leads_elsewhere = self.resource(uri).is_some_and(|target| target.server != server);
        let is_own = |target: &Target| target.server == server;
        (leads_elsewhere && self.resource(&ours).as_ref().is_some_and(is_own)).then_some(ours)
    }

    /// Whether any address is another than its server's own.
    const fn renames(&self) -> bool {
        self.resources.is_renamed || self.templates.is_renamed
    }

    /// The listing for a call whose result may name addresses that clients know under others.
    pub(crate) fn for_results(self: &Arc<Self>) -> Option<Arc<Self>> {
        self.renames().then(|| Arc::clone(self))
    }

    /// A result of a server with the addresses that clients know; nothing if they are its own.
    pub(crate) fn shown_result(&self, server: &str, result: &str) -> Option<String> {
        shown_result(result, &|uri| self.renamed(server, uri))
    }

    /// What the servers want a model to know, each under its name.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.instructions.get_or_init(|| self.gathered_instructions()).as_deref()
    }

    fn gathered_instructions(&self) -> Option<String> {
        let mut text = String::new();
        let all = [&self.tools, &self.prompts, &self.resources, &self.templates];
        let entries = all.iter().flat_map(|named| &named.entries);
        let seen: HashSet<&str> = entries.map(|entry| entry.server.id.as_str()).collect();
        // Whoever sees nothing of a server has no use for its words.
        let servers = self.lease.catalog().servers().iter();
        for server in servers.filter(|server| seen.contains(server.id.as_str())) {
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
