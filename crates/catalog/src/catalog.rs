//! Everything that the servers of one moment offer, with names for models and a search index.

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

/// All offers of one fleet. Never changed; names and index are worked out when first needed.
#[derive(Debug)]
pub struct Catalog {
    servers: Vec<Arc<Server>>,
    /// For each tool: which server, and which of its tools.
    tools: Vec<(u32, u32)>,
    names: OnceLock<ModelNames>,
    index: OnceLock<SearchIndex>,
}

/// A tool together with its server.
#[derive(Clone, Copy, Debug)]
pub struct CatalogEntry<'a> {
    pub server: &'a Server,
    pub tool: &'a Tool,
    /// Its place in the catalog.
    pub place: usize,
}

impl Catalog {
    /// Gathers what the fleet offers; servers that may not be used offer nothing.
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

    /// The servers that may be used.
    #[must_use]
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// All tools, server by server.
    pub fn tools(&self) -> impl Iterator<Item = CatalogEntry<'_>> {
        (0..self.tools.len()).filter_map(|place| self.tool(place))
    }

    /// The tool at a place.
    #[must_use]
    pub fn tool(&self, place: usize) -> Option<CatalogEntry<'_>> {
        let (server, tool) = *self.tools.get(place)?;
        let server = self.servers.get(usize::try_from(server).ok()?)?;
        let tool = server.offers.tools.get(usize::try_from(tool).ok()?)?;
        Some(CatalogEntry { server, tool, place })
    }

    /// The names that models use.
    #[must_use]
    pub fn names(&self) -> &ModelNames {
        self.names.get_or_init(|| {
            ModelNames::new(self.tools().map(|entry| (entry.server.id.as_str(), entry.tool.name())))
        })
    }

    /// The tools that fit the words best, with how well they do.
    #[must_use]
    pub fn search(&self, words: &str, limit: usize) -> Vec<(CatalogEntry<'_>, f32)> {
        let hits = self.index().search(words, limit);
        hits.iter().filter_map(|hit| Some((self.tool(hit.document)?, hit.score))).collect()
    }

    fn index(&self) -> &SearchIndex {
        self.index.get_or_init(|| {
            // Tool by tool: nothing of a definition is kept but its words.
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
