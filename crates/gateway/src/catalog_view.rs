//! One caller's view of one catalog, under the names that the gateway assigns.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use switchboard_access::View;
use switchboard_catalog::{Catalog, Lease, Server, Tool, fits_template};
use switchboard_core::{ProposedCall, Target, TargetKind};
use switchboard_text::hex_digest;

use crate::cursor::ListCursor;
use crate::lists::ListKind;
use crate::name_owners::NameOwners;
use crate::name_table::{Collision, NameMode, NameTable, NamedItem, NamingScheme, ServerResources};
use crate::uri_rewrite::{URI_SCHEME, rewrite_definition, rewrite_result, uri_prefix};

/// The items of a catalog that one caller sees. Immutable; list texts are rendered on first use.
pub(crate) struct CatalogView {
    pub(crate) lease: Lease,
    view: Arc<View>,
    tools: NameTable,
    /// Position in `tools` by position in the catalog.
    tool_positions: HashMap<usize, usize>,
    prompts: NameTable,
    resources: NameTable,
    templates: NameTable,
    collisions: Vec<Collision>,
    /// Instructions of the visible servers, collected on first use.
    instructions: OnceLock<Option<String>>,
}

#[derive(Clone, Copy)]
struct ServerNames<'a> {
    naming: NamingScheme<'a>,
    owners: &'a NameOwners,
    server: &'a Arc<Server>,
}

impl CatalogView {
    /// Builds the view of a catalog. `owners` decides which server keeps a name that several use.
    pub(crate) fn new(lease: Lease, view: &Arc<View>, mode: NameMode, owners: &NameOwners) -> Self {
        let catalog = Arc::clone(lease.catalog());
        let mut listing = Self {
            lease,
            view: Arc::clone(view),
            tools: NameTable::new(|offers, place| offers.tools.get(place).map(|tool| &tool.item)),
            tool_positions: HashMap::new(),
            prompts: NameTable::new(|offers, place| offers.prompts.get(place)),
            resources: NameTable::new(|offers, place| offers.resources.get(place)),
            templates: NameTable::new(|offers, place| offers.templates.get(place)),
            collisions: Vec::new(),
            instructions: OnceLock::new(),
        };
        let in_order = servers_in_order(&catalog, mode);
        for (naming, server, first) in &in_order {
            let names = ServerNames { naming: *naming, owners, server };
            listing.add_tools(names, &catalog, *first);
            listing.add_prompts(names);
            let late = *naming != NamingScheme::Server;
            let addresses = ServerResources { server, view, lease: &listing.lease, late, owners };
            addresses.add(&mut listing.resources, &server.offers.resources);
            addresses.add(&mut listing.templates, &server.offers.templates);
        }
        // Added after the listed resources, so that an unlisted page never takes a listed URI.
        for (_, server, _) in &in_order {
            listing.add_ui_resources(server);
        }
        listing
    }

    fn add_tools(&mut self, names: ServerNames<'_>, catalog: &Catalog, first: usize) {
        let id = names.server.id.as_str();
        for (place, tool) in names.server.offers.tools.iter().enumerate() {
            let name = match names.naming {
                NamingScheme::Server => catalog.names().get(first + place).map(Into::into),
                naming => naming.public_name(id, tool.name()),
            };
            if self.add_item(names, TargetKind::Tool, place, tool.name(), name) {
                self.tool_positions.insert(first + place, self.tools.entries.len() - 1);
            }
        }
    }

    fn add_prompts(&mut self, names: ServerNames<'_>) {
        for (place, item) in names.server.offers.prompts.iter().enumerate() {
            let name = names.naming.public_name(names.server.id.as_str(), &item.key);
            self.add_item(names, TargetKind::Prompt, place, &item.key, name);
        }
    }

    /// Adds a tool or a prompt under its public name. Returns whether it is listed.
    fn add_item(
        &mut self,
        names: ServerNames<'_>,
        kind: TargetKind,
        place: usize,
        own: &str,
        name: Option<Box<str>>,
    ) -> bool {
        let ServerNames { naming, owners, server } = names;
        let id = server.id.as_str();
        if !self.view.shows(id, own) {
            return false;
        }
        let table = if kind == TargetKind::Tool { &mut self.tools } else { &mut self.prompts };
        if !self.lease.is_listed(kind, id, own) {
            let target = Target::new(kind, id, own);
            table.unlisted.insert(name.unwrap_or_else(|| own.into()), target);
            return false;
        }
        let late = naming != NamingScheme::Server;
        let shown = name.as_deref().unwrap_or(own);
        // A server that appears later must not take over calls meant for an established one.
        let owner = owners.other_owner(kind, shown, server, &self.view).filter(|_| late);
        let added = match owner {
            Some(owner) => Err(Collision {
                name: shown.to_owned(),
                kept: owner.to_string(),
                left_out: id.to_owned(),
            }),
            None => table.add(NamedItem { server: Arc::clone(server), place, late, name }),
        };
        let is_added = added.is_ok();
        self.collisions.extend(added.err());
        is_added
    }

    /// Makes the UI resources of visible tools readable, even if no list contains them.
    fn add_ui_resources(&mut self, server: &Arc<Server>) {
        let id = server.id.as_str();
        let shown = server.offers.tools.iter().filter(|tool| self.view.shows(id, tool.name()));
        let pages: Vec<String> = shown.filter_map(Tool::ui_resource).collect();
        for page in pages {
            if server.offers.resources.iter().any(|item| *item.key == *page) {
                continue;
            }
            // Another server may list the same URI; the page is then reached by its prefix.
            let target = Target::new(TargetKind::Resource, id, &page);
            let taken = self.resource(&page);
            if taken.as_ref().is_some_and(|taken| taken.server != target.server) {
                self.resources.is_renamed = true;
                self.resources.unlisted.insert(format!("{}{page}", uri_prefix(id)).into(), target);
            } else if taken.is_none() {
                self.resources.unlisted.insert(page.into(), target);
            }
        }
    }

    /// Returns the names that two servers use; the second server's item is left out.
    pub(crate) fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// Returns the number of names of all kinds, plus 1, as a measure of the size in the cache.
    pub(crate) fn size(&self) -> usize {
        let all = [&self.tools, &self.prompts, &self.resources, &self.templates];
        1 + all.iter().map(|named| named.positions.len() + named.unlisted.len()).sum::<usize>()
    }

    pub(crate) fn tool_count(&self) -> usize {
        self.tools.entries.len()
    }

    pub(crate) fn is_unfiltered(&self) -> bool {
        self.view.is_unrestricted()
    }

    pub(crate) fn prompt_names(&self) -> impl Iterator<Item = &str> {
        self.prompts.entries.iter().map(|entry| self.prompts.public_name(entry))
    }

    pub(crate) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.entries.iter().map(|entry| self.tools.public_name(entry))
    }

    /// Returns the servers of the visible tools, in list order.
    pub(crate) fn tool_servers(&self) -> Vec<&str> {
        let mut servers: Vec<&str> =
            self.tools.entries.iter().map(|entry| entry.server.id.as_str()).collect();
        servers.dedup();
        servers
    }

    /// Returns the JSON texts of all items of a kind, in list order.
    pub(crate) fn texts(&self, kind: ListKind) -> Arc<[String]> {
        Arc::clone(match kind {
            ListKind::Tools => self.tool_texts(),
            ListKind::Prompts => self.prompts.texts("name", |_, _| None),
            ListKind::Resources => self.resources.texts("uri", |_, _| None),
            ListKind::Templates => self.templates.texts("uriTemplate", |_, _| None),
        })
    }

    fn tool_texts(&self) -> &Arc<[String]> {
        self.tools.texts("name", |entry, own| {
            let shown = |uri: &str| self.rewritten_uri(entry.server.id.as_str(), uri);
            if self.rewrites_uris() { rewrite_definition(own, &shown) } else { None }
        })
    }

    pub(crate) fn cursor(&self, kind: ListKind, place: usize) -> Option<ListCursor> {
        let (position, key) = self.name_table(kind).positions().nth(place)?;
        Some(ListCursor { list: self.list_name(kind), position, key: key.to_owned() })
    }

    /// Returns the list position of a cursor. `None` if the cursor belongs to another list or to a
    /// caller with a different view.
    pub(crate) fn place(&self, kind: ListKind, cursor: &ListCursor) -> Option<usize> {
        let is_ours = cursor.list == self.list_name(kind);
        is_ours.then(|| cursor.find(self.name_table(kind).positions()))
    }

    fn list_name(&self, kind: ListKind) -> String {
        // A digest: a client that decodes its cursor does not learn how its view is restricted.
        let view = hex_digest([self.view.key().as_bytes()]);
        format!("{} {}", kind.member_name(), view.get(..16).unwrap_or(&view))
    }

    const fn name_table(&self, kind: ListKind) -> &NameTable {
        match kind {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources => &self.resources,
            ListKind::Templates => &self.templates,
        }
    }

    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.positions.contains_key(name)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Target> {
        self.tools.get(TargetKind::Tool, name)
    }

    /// Returns the public name of the tool at a position of the catalog, if it is visible.
    pub(crate) fn tool_name(&self, place: usize) -> Option<&str> {
        let entry = self.tools.entries.get(*self.tool_positions.get(&place)?)?;
        Some(self.tools.public_name(entry))
    }

    pub(crate) fn tool_text(&self, name: &str) -> Option<&str> {
        let place = self.tools.positions.get(name)?;
        self.tool_texts().get(*place).map(String::as_str)
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<Target> {
        self.prompts.get(TargetKind::Prompt, name)
    }

    /// Looks up a resource by URI: listed, or an instance of a template.
    pub(crate) fn resource(&self, uri: &str) -> Option<Target> {
        self.by_public_uri(uri).or_else(|| self.by_prefixed_uri(uri))
    }

    fn by_public_uri(&self, uri: &str) -> Option<Target> {
        if let Some(target) = self.resources.get(TargetKind::Resource, uri) {
            return Some(target);
        }
        for entry in &self.templates.entries {
            let server = entry.server.id.as_str();
            let own = match &entry.name {
                Some(_) => uri.strip_prefix(&uri_prefix(server)),
                None => Some(uri),
            };
            let template = self.templates.own_item(entry).map_or("", |item| &item.key);
            if let Some(found) = own.and_then(|own| self.by_template(server, template, own)) {
                return Some(found);
            }
        }
        // Templates that rules hide still resolve, so that the call reports the rule.
        let unshown = &mut self.templates.unlisted.values();
        unshown.find_map(|target| self.by_template(&target.server, &target.name, uri))
    }

    /// Looks up a resource by its prefixed URI when it is now listed under its own. The client may
    /// have received the prefixed one while another server had the same URI.
    fn by_prefixed_uri(&self, uri: &str) -> Option<Target> {
        if !uri.starts_with(URI_SCHEME) {
            return None;
        }
        let servers = self.lease.fleet().servers.keys();
        let mut owned =
            servers.filter_map(|id| Some((id, uri.strip_prefix(&uri_prefix(id.as_str()))?)));
        owned.find_map(|(id, own)| {
            self.by_public_uri(own).filter(|target| target.server == id.as_str())
        })
    }

    /// Looks up a URI that matches a server's template.
    fn by_template(&self, server: &str, template: &str, uri: &str) -> Option<Target> {
        if !fits_template(template, uri) {
            return None;
        }
        // The lease has the last word: the resource may be in quarantine.
        let proposed = ProposedCall::resource(server, uri);
        let target = proposed.target.clone();
        self.lease.resolve(proposed).is_ok().then_some(target)
    }

    pub(crate) fn template(&self, text: &str) -> Option<Target> {
        self.templates.get(TargetKind::Resource, text)
    }

    /// Returns the URI under which this caller knows a server's resource, if it is visible.
    pub(crate) fn public_uri(&self, server: &str, uri: &str) -> Option<String> {
        let shown = self.rewritten_uri(server, uri).unwrap_or_else(|| uri.to_owned());
        self.resource(&shown).is_some_and(|target| target.server == server).then_some(shown)
    }

    /// Returns whether `shown` and `other` may be public URIs of the same resource of a server.
    pub(crate) fn is_same_resource(server: &str, shown: &str, other: &str) -> bool {
        other == shown || other.strip_prefix(&uri_prefix(server)) == Some(shown)
    }

    /// Returns the public URI, only if it differs from the server's own.
    fn rewritten_uri(&self, server: &str, uri: &str) -> Option<String> {
        let ours = format!("{}{uri}", uri_prefix(server));
        let leads_elsewhere = self.resource(uri).is_some_and(|target| target.server != server);
        let is_own = |target: &Target| target.server == server;
        (leads_elsewhere && self.resource(&ours).as_ref().is_some_and(is_own)).then_some(ours)
    }

    const fn rewrites_uris(&self) -> bool {
        self.resources.is_renamed || self.templates.is_renamed
    }

    /// Returns the view if the URIs in results may have to be rewritten.
    pub(crate) fn for_result_rewriting(self: &Arc<Self>) -> Option<Arc<Self>> {
        self.rewrites_uris().then(|| Arc::clone(self))
    }

    /// Replaces the URIs in a result by public ones. `None` if nothing changes.
    pub(crate) fn rewrite_result(&self, server: &str, result: &str) -> Option<String> {
        rewrite_result(result, &|uri| self.rewritten_uri(server, uri))
    }

    /// Returns the instructions of all visible servers, each below a heading with the server's id.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.instructions.get_or_init(|| self.collect_instructions()).as_deref()
    }

    fn collect_instructions(&self) -> Option<String> {
        let mut text = String::new();
        let all = [&self.tools, &self.prompts, &self.resources, &self.templates];
        let entries = all.iter().flat_map(|named| &named.entries);
        let seen: HashSet<&str> = entries.map(|entry| entry.server.id.as_str()).collect();
        // Instructions of a server with no visible items would only cost tokens.
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

/// Returns the servers with the catalog position of their first tool. Servers named by their own id
/// come first, so that a `prefix` in another server's entry cannot take their names.
fn servers_in_order(
    catalog: &Catalog,
    mode: NameMode,
) -> Vec<(NamingScheme<'_>, &Arc<Server>, usize)> {
    let mut first = 0;
    let mut servers = Vec::new();
    for server in catalog.servers() {
        servers.push((NamingScheme::for_server(server, mode), server, first));
        first += server.offers.tools.len();
    }
    servers.sort_by_key(|(naming, ..)| *naming != NamingScheme::Server);
    servers
}
