//! What servers offer with their definitions to the letter, as programs want it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_catalog::{Catalog, CatalogEntry, Flagged, Lease, Server};
use switchboard_core::{Target, TargetKind};
use switchboard_host::Host;

use crate::error::ViewError;

/// So many tools fit some words unless told otherwise.
const DEFAULT_MATCHES: usize = 10;

/// Which part of the catalog is wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct CatalogQuery {
    /// Words to search for.
    pub q: Option<String>,
    /// Only of this server.
    pub server: Option<String>,
    /// At most so many that fit the words; 10 unless told.
    pub limit: Option<usize>,
    /// Also what a rule forbids to everybody.
    pub all: Option<bool>,
}

/// Of which server something is wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ServerQuery {
    /// Only of this server.
    pub server: Option<String>,
}

/// A tool with its definition.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogTool {
    /// The server.
    pub server: String,
    /// Its name there.
    pub name: String,
    /// What models call it.
    pub model_name: Option<String>,
    /// The fingerprint of its definition.
    pub fingerprint: String,
    /// What the scanner found in it.
    pub found: Option<Flagged>,
    /// The rule that forbids it to everybody.
    pub forbidden_by: Option<String>,
    /// Its definition to the letter.
    pub definition: Box<RawValue>,
}

/// A resource, a template or a prompt with its definition.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogItem {
    /// The server.
    pub server: String,
    /// `resource`, `template` or `prompt`.
    pub kind: &'static str,
    /// Its address, its template or its name.
    pub key: String,
    /// Its definition to the letter.
    pub definition: Box<RawValue>,
}

/// Tools, all or those that fit the words.
pub fn catalog_tools(host: &Host, query: &CatalogQuery) -> Vec<CatalogTool> {
    let lease = host.lease();
    let catalog = lease.catalog();
    let words = query.q.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let entries: Vec<CatalogEntry<'_>> = match words {
        Some(words) => {
            let found = catalog.search(words, query.limit.unwrap_or(DEFAULT_MATCHES));
            found.into_iter().map(|(entry, _)| entry).collect()
        }
        None => catalog.tools().collect(),
    };
    let is_wanted = |entry: &CatalogEntry<'_>| {
        let id = entry.server.id.as_str();
        let is_listed = lease.is_listed(TargetKind::Tool, id, entry.tool.name());
        is_wanted_server(id, query.server.as_deref()) && (is_listed || query.all == Some(true))
    };
    entries.into_iter().filter(is_wanted).map(|entry| tool(&lease, entry)).collect()
}

/// One tool; a person may look at what is held, too.
pub fn catalog_tool(host: &Host, server: &str, name: &str) -> Result<CatalogTool, ViewError> {
    let host = &host;
    let fleet = host.fleet().load();
    let catalog = Arc::new(Catalog::from_fleet(&fleet));
    let unlisted = Arc::clone(host.lease().deny_list());
    let lease = Lease::new(fleet, catalog, Arc::default())
        .with_flagged(host.flagged())
        .with_deny_list(unlisted);
    let mut tools = lease.catalog().tools();
    let found = tools.find(|entry| entry.server.id.as_str() == server && entry.tool.name() == name);
    let missing = || ViewError::NotFound(format!("there is no tool `{name}` on `{server}`"));
    found.map(|entry| tool(&lease, entry)).ok_or_else(missing)
}

/// Resources and templates.
pub fn catalog_resources(host: &Host, query: &ServerQuery) -> Vec<CatalogItem> {
    let of = |server: &Server| {
        let offers = &server.offers;
        let resources = offers.resources.iter().map(|item| (item, "resource"));
        let templates = offers.templates.iter().map(|item| (item, "template"));
        resources
            .chain(templates)
            .map(|(item, kind)| CatalogItem {
                server: server.id.to_string(),
                kind,
                key: item.key.to_string(),
                definition: item.raw.clone(),
            })
            .collect::<Vec<_>>()
    };
    catalog_items(host, query, of)
}

/// Prompts.
pub fn catalog_prompts(host: &Host, query: &ServerQuery) -> Vec<CatalogItem> {
    let of = |server: &Server| {
        let prompts = server.offers.prompts.iter().map(|item| CatalogItem {
            server: server.id.to_string(),
            kind: "prompt",
            key: item.key.to_string(),
            definition: item.raw.clone(),
        });
        prompts.collect::<Vec<_>>()
    };
    catalog_items(host, query, of)
}

fn catalog_items(
    host: &Host,
    query: &ServerQuery,
    of: impl Fn(&Server) -> Vec<CatalogItem>,
) -> Vec<CatalogItem> {
    let lease = host.lease();
    let servers = lease.catalog().servers().iter();
    let wanted =
        servers.filter(|server| is_wanted_server(server.id.as_str(), query.server.as_deref()));
    wanted.flat_map(|server| of(server)).collect()
}

fn is_wanted_server(server: &str, wanted: Option<&str>) -> bool {
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
        found: lease.flagged_definition(&target).cloned(),
        forbidden_by: lease.forbidding_rule(TargetKind::Tool, id, name).map(str::to_owned),
        definition: entry.tool.item.raw.clone(),
    }
}
