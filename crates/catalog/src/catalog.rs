//! The catalog: all offers of a fleet, with names for models and a search index.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fleet::{Fleet, Server, Tool};
use crate::name::ModelNames;
use crate::search::{SearchDocument, SearchIndex, SearchParameter};
use crate::search_build::SearchIndexBuilder;
use crate::status::ServerStatus;

/// All offers of one fleet. Immutable.
#[derive(Debug)]
pub struct Catalog {
    servers: Vec<Arc<Server>>,
    /// For each tool, the index of its server and its index within that server.
    tools: Vec<(u32, u32)>,
    // Computed on first use, because not every catalog is searched.
    names: OnceLock<ModelNames>,
    index: OnceLock<SearchIndex>,
}

/// A tool together with its server.
#[derive(Clone, Copy, Debug)]
pub struct CatalogEntry<'a> {
    pub server: &'a Server,
    pub tool: &'a Tool,
    pub place: usize,
}

impl Catalog {
    /// Collects the offers of the fleet, except those of servers that cannot be used.
    #[must_use]
    pub fn from_fleet(fleet: &Fleet) -> Self {
        let usable = |server: &&Arc<Server>| {
            !matches!(
                server.status,
                ServerStatus::Disabled
                    | ServerStatus::NeedsApproval
                    | ServerStatus::NotAllowed(_)
                    | ServerStatus::Failed(_)
            )
        };
        let servers: Vec<Arc<Server>> = fleet.servers.values().filter(usable).cloned().collect();
        let mut tools = Vec::new();
        for (number, server) in (0..).zip(&servers) {
            tools.extend((0..).zip(&server.offers.tools).map(|(tool, _)| (number, tool)));
        }
        Self { servers, tools, names: OnceLock::new(), index: OnceLock::new() }
    }

    /// Returns the servers that can be used.
    #[must_use]
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns whether the catalog has no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns all tools, server by server.
    pub fn tools(&self) -> impl Iterator<Item = CatalogEntry<'_>> {
        (0..self.tools.len()).filter_map(|place| self.tool(place))
    }

    /// Returns the tool at an index.
    #[must_use]
    pub fn tool(&self, place: usize) -> Option<CatalogEntry<'_>> {
        let (server, tool) = *self.tools.get(place)?;
        let server = self.servers.get(usize::try_from(server).ok()?)?;
        let tool = server.offers.tools.get(usize::try_from(tool).ok()?)?;
        Some(CatalogEntry { server, tool, place })
    }

    /// Returns the names by which models call the tools.
    #[must_use]
    pub fn names(&self) -> &ModelNames {
        self.names.get_or_init(|| {
            ModelNames::new(self.tools().map(|entry| (entry.server.id.as_str(), entry.tool.name())))
        })
    }

    /// Returns the best matches for a query, each with its score.
    #[must_use]
    pub fn search(&self, words: &str, limit: usize) -> Vec<(CatalogEntry<'_>, f32)> {
        let hits = self.index().search(words, limit);
        hits.iter().filter_map(|hit| Some((self.tool(hit.document)?, hit.score))).collect()
    }

    fn index(&self) -> &SearchIndex {
        self.index.get_or_init(|| {
            // Index tool by tool, so that only one parsed definition is in memory at a time.
            let mut builder = SearchIndexBuilder::default();
            for entry in self.tools() {
                add_to_index(&mut builder, entry);
            }
            builder.finish()
        })
    }
}

fn add_to_index(builder: &mut SearchIndexBuilder, entry: CatalogEntry<'_>) {
    #[derive(Default, Deserialize)]
    struct PropertiesOnly<'a> {
        #[serde(borrow, default)]
        properties: BTreeMap<Cow<'a, str>, &'a RawValue>,
    }
    #[derive(Default, Deserialize)]
    struct Property<'a> {
        #[serde(borrow)]
        description: Option<Cow<'a, str>>,
    }
    let definition = entry.tool.definition();
    let schema: PropertiesOnly<'_> = definition
        .input_schema
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let described: Vec<(&str, Property<'_>)> = schema
        .properties
        .iter()
        .map(|(name, raw)| (&**name, serde_json::from_str(raw.get()).unwrap_or_default()))
        .collect();
    let parameters: Vec<SearchParameter<'_>> = described
        .iter()
        .map(|(name, property)| SearchParameter {
            name,
            description: property.description.as_deref(),
        })
        .collect();
    builder.add(&SearchDocument {
        server: entry.server.id.as_str(),
        name: entry.tool.name(),
        title: definition.title.as_deref(),
        description: definition.description.as_deref(),
        parameters: &parameters,
    });
}
