//! View models of the catalog with the definitions exactly as the servers sent them, for programs.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use switchboard_catalog::{Catalog, CatalogEntry, Flagged, Lease};
use switchboard_core::{Target, TargetKind};
use switchboard_host::Host;
use switchboard_wire::ListedItem;

use crate::error::ViewError;

const DEFAULT_MATCHES: usize = 10;

/// Search words and filters of the tool catalog.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct CatalogQuery {
    /// Search words; without them, all tools are listed.
    pub q: Option<String>,
    /// Only definitions of this server.
    pub server: Option<String>,
    /// Maximum number of search results: 10 by default.
    pub limit: Option<usize>,
    /// Whether to include tools that a rule denies to every caller.
    pub all: Option<bool>,
}

/// Filter of catalog lists by server.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ServerQuery {
    /// Only definitions of this server.
    pub server: Option<String>,
}

/// A tool with its definition.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CatalogTool {
    /// Name of the server.
    pub server: String,
    /// Name of the tool on its server.
    pub name: String,
    /// Name of the tool in the catalog of models.
    pub model_name: Option<String>,
    /// Fingerprint of the definition.
    pub fingerprint: String,
    /// Scanner findings in the definition.
    #[schemars(with = "Option<Flagged>")]
    pub found: Option<Box<RawValue>>,
    /// Rule that denies the tool to every caller.
    pub forbidden_by: Option<String>,
    /// Definition exactly as the server sent it.
    pub definition: Box<RawValue>,
}

/// A resource, a template or a prompt with its definition.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CatalogItem {
    /// Name of the server.
    pub server: String,
    /// Kind: `resource`, `template` or `prompt`.
    pub kind: String,
    /// URI, URI template or name.
    pub key: String,
    /// Definition exactly as the server sent it.
    pub definition: Box<RawValue>,
}

/// The lists of the catalog other than tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemList {
    Resources,
    Prompts,
}

impl CatalogTool {
    /// Returns the definition as the server sent it.
    pub fn item(&self) -> ListedItem {
        ListedItem { key: self.name.as_str().into(), raw: self.definition.clone() }
    }
}

impl CatalogItem {
    /// Returns the definition as the server sent it.
    pub fn item(&self) -> ListedItem {
        ListedItem { key: self.key.as_str().into(), raw: self.definition.clone() }
    }
}

/// Returns the tools that match the search words, or all of them.
pub fn catalog_tools(host: &Host, query: &CatalogQuery) -> Vec<CatalogTool> {
    let lease = host.lease();
    let catalog = lease.catalog();
    let limit = query.limit.unwrap_or(DEFAULT_MATCHES);
    let entries = matching_tools(catalog, query.q.as_deref(), limit);
    let is_shown = |entry: &CatalogEntry<'_>| {
        let id = entry.server.id.as_str();
        let is_listed = lease.is_listed(TargetKind::Tool, id, entry.tool.name());
        is_wanted(id, query.server.as_deref()) && (is_listed || query.all == Some(true))
    };
    entries.into_iter().filter(is_shown).map(|entry| tool(&lease, entry)).collect()
}

/// Returns one tool, even a quarantined one, so that a person can inspect it.
pub fn catalog_tool(host: &Host, server: &str, name: &str) -> Result<CatalogTool, ViewError> {
    let fleet = host.fleet().load();
    let catalog = Arc::new(Catalog::from_fleet(&fleet));
    // The host's lease lacks quarantined tools; an empty quarantine makes them visible here.
    let unlisted = Arc::clone(host.lease().deny_list());
    let lease = Lease::new(fleet, catalog, Arc::default())
        .with_flagged(host.flagged())
        .with_deny_list(unlisted);
    let mut tools = lease.catalog().tools();
    let found = tools.find(|entry| entry.server.id.as_str() == server && entry.tool.name() == name);
    let missing = || ViewError::NotFound(format!("no tool named `{name}` on server `{server}`"));
    found.map(|entry| tool(&lease, entry)).ok_or_else(missing)
}

/// Returns the resources and templates, or the prompts, of one server or of all.
pub fn catalog_items(host: &Host, list: ItemList, server: Option<&str>) -> Vec<CatalogItem> {
    let lease = host.lease();
    let mut all = Vec::new();
    for one in lease.catalog().servers().iter().filter(|one| is_wanted(one.id.as_str(), server)) {
        let offers = &one.offers;
        let lists: &[(&str, &[ListedItem])] = match list {
            ItemList::Resources => {
                &[("resource", &offers.resources), ("template", &offers.templates)]
            }
            ItemList::Prompts => &[("prompt", &offers.prompts)],
        };
        for (kind, items) in lists {
            all.extend(items.iter().map(|item| CatalogItem {
                server: one.id.to_string(),
                kind: (*kind).to_owned(),
                key: item.key.to_string(),
                definition: item.raw.clone(),
            }));
        }
    }
    all
}

/// Returns the best matches for the search words, or all tools if there are none.
pub(crate) fn matching_tools<'a>(
    catalog: &'a Catalog,
    words: Option<&str>,
    limit: usize,
) -> Vec<CatalogEntry<'a>> {
    match words.map(str::trim).filter(|words| !words.is_empty()) {
        Some(words) => catalog.search(words, limit).into_iter().map(|(entry, _)| entry).collect(),
        None => catalog.tools().collect(),
    }
}

pub(crate) fn is_wanted(server: &str, wanted: Option<&str>) -> bool {
    // A form sends `server=` for all servers.
    wanted.filter(|name| !name.is_empty()).is_none_or(|name| name == server)
}

fn tool(lease: &Lease, entry: CatalogEntry<'_>) -> CatalogTool {
    let id = entry.server.id.as_str();
    let name = entry.tool.name();
    let target = Target::new(TargetKind::Tool, id, name);
    CatalogTool {
        server: id.to_owned(),
        name: name.to_owned(),
        model_name: lease.catalog().names().get(entry.place).map(str::to_owned),
        fingerprint: entry.tool.digest().to_string(),
        found: lease.flagged_definition(&target).and_then(|found| to_raw_value(found).ok()),
        forbidden_by: lease.forbidding_rule(TargetKind::Tool, id, name).map(str::to_owned),
        definition: entry.tool.item.raw.clone(),
    }
}
