//! Everything that the servers of one moment offer, with names for models and a search index.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::catalog::name::Names;
use crate::catalog::search::{Document, Index, Parameter};
use crate::connect::{Fleet, Server, Status, Tool};

/// All offers of one fleet. Never changed; names and index are worked out when first needed.
#[derive(Debug)]
pub struct Catalog {
    servers: Vec<Arc<Server>>,
    /// For each tool: which server, and which of its tools.
    tools: Vec<(u32, u32)>,
    names: OnceLock<Names>,
    index: OnceLock<Index>,
}

/// A tool together with its server.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The server.
    pub server: &'a Server,
    /// The tool.
    pub tool: &'a Tool,
    /// Its place in the catalog.
    pub place: usize,
}

impl Catalog {
    /// Gathers what the fleet offers; servers that may not be used offer nothing.
    #[must_use]
    pub fn of(fleet: &Fleet) -> Self {
        let usable = |server: &&Arc<Server>| {
            !matches!(server.status, Status::Disabled | Status::NeedsApproval | Status::Failed(_))
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
    pub fn tools(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.tools.len()).filter_map(|place| self.tool(place))
    }

    /// The tool at a place.
    #[must_use]
    pub fn tool(&self, place: usize) -> Option<Entry<'_>> {
        let (server, tool) = *self.tools.get(place)?;
        let server = self.servers.get(usize::try_from(server).ok()?)?;
        let tool = server.offers.tools.get(usize::try_from(tool).ok()?)?;
        Some(Entry { server, tool, place })
    }

    /// The names that models use.
    #[must_use]
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            Names::of(self.tools().map(|entry| (entry.server.id.as_str(), entry.tool.name())))
        })
    }

    /// The tools that fit the words best, with how well they do.
    #[must_use]
    pub fn search(&self, words: &str, limit: usize) -> Vec<(Entry<'_>, f32)> {
        let hits = self.index().search(words, limit);
        hits.iter().filter_map(|hit| Some((self.tool(hit.document)?, hit.score))).collect()
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let pieces: Vec<Piece<'_>> = self.tools().map(Piece::of).collect();
            let parameters: Vec<Vec<Parameter<'_>>> =
                pieces.iter().map(Piece::parameters).collect();
            Index::build(pieces.iter().zip(&parameters).map(|(piece, parameters)| Document {
                server: piece.entry.server.id.as_str(),
                name: piece.entry.tool.name(),
                title: piece.title.as_deref(),
                description: piece.description.as_deref(),
                parameters,
            }))
        })
    }
}

/// What the index needs to see of a tool.
struct Piece<'a> {
    entry: Entry<'a>,
    title: Option<String>,
    description: Option<String>,
    schema: Value,
}

impl<'a> Piece<'a> {
    fn of(entry: Entry<'a>) -> Self {
        let definition = entry.tool.definition();
        let schema = definition.input_schema.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Self {
            entry,
            title: definition.title,
            description: definition.description,
            schema: schema.unwrap_or(Value::Null),
        }
    }

    fn parameters(&self) -> Vec<Parameter<'_>> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Parameter {
                name,
                description: schema.get("description").and_then(Value::as_str),
            })
            .collect()
    }
}
