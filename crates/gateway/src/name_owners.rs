//! Ownership of names that several servers use. The first server keeps a name, so a later one
//! cannot receive calls meant for it.

use std::sync::Arc;

use foldhash::HashMap;
use switchboard_access::View;
use switchboard_catalog::{Lease, Server};
use switchboard_core::{ServerId, TargetKind};

use crate::name_table::{NameMode, NamingScheme};

/// The owners of names that do not contain the server's id.
#[derive(Clone, Default)]
pub(crate) struct NameOwners {
    tools: OwnersByName,
    prompts: OwnersByName,
    resources: OwnersByName,
}

/// The owner and its own name of the item, by public name.
type OwnersByName = HashMap<Box<str>, (ServerId, Box<str>)>;

impl NameOwners {
    /// Carries the ownership over to another catalog. A name that its owner no longer uses goes to
    /// the first server that does.
    pub(crate) fn for_catalog(&self, lease: &Lease, mode: NameMode) -> Self {
        let mut next = Self::default();
        for server in lease.catalog().servers() {
            let offers = &server.offers;
            let naming = NamingScheme::for_server(server, mode);
            // The server's id in a name makes it unique.
            if naming != NamingScheme::Server {
                let tools = offers.tools.iter().map(|tool| &tool.item.key);
                let of = ServerItems { lease, server, kind: TargetKind::Tool, naming };
                of.claim(tools, &self.tools, &mut next.tools);
                let prompts = offers.prompts.iter().map(|item| &item.key);
                let of = ServerItems { kind: TargetKind::Prompt, ..of };
                of.claim(prompts, &self.prompts, &mut next.prompts);
            }
            let resources = offers.resources.iter().map(|item| &item.key);
            // Resources keep their URIs, whatever the naming of tools.
            let of = ServerItems {
                lease,
                server,
                kind: TargetKind::Resource,
                naming: NamingScheme::Plain,
            };
            of.claim(resources, &self.resources, &mut next.resources);
        }
        next
    }

    /// Returns the owner of a name if it is another server whose item the view shows.
    pub(crate) fn other_owner(
        &self,
        kind: TargetKind,
        name: &str,
        server: &Server,
        view: &View,
    ) -> Option<&ServerId> {
        let names = match kind {
            TargetKind::Tool => &self.tools,
            TargetKind::Prompt => &self.prompts,
            TargetKind::Resource => &self.resources,
        };
        let (owner, own) = names.get(name)?;
        (*owner != server.id && view.shows(owner.as_str(), own)).then_some(owner)
    }
}

/// The items of one kind of a server.
#[derive(Clone, Copy)]
struct ServerItems<'a> {
    lease: &'a Lease,
    server: &'a Arc<Server>,
    kind: TargetKind,
    naming: NamingScheme<'a>,
}

impl ServerItems<'_> {
    fn claim<'i>(
        self,
        own: impl Iterator<Item = &'i Box<str>>,
        before: &OwnersByName,
        next: &mut OwnersByName,
    ) {
        let id = &self.server.id;
        for own in own.filter(|own| self.lease.is_listed(self.kind, id.as_str(), own)) {
            let name = self.naming.public_name(id.as_str(), own).unwrap_or_else(|| own.clone());
            // The servers come in a fixed order; an earlier owner takes its name back from them.
            let had_it = before.get(&name).is_some_and(|(owner, _)| owner == id);
            if had_it || !next.contains_key(&name) {
                next.insert(name, (id.clone(), own.clone()));
            }
        }
    }
}
