//! A snapshot of the servers, their offers and the connections to them.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use foldhash::HashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_config::ServerConfig;
use switchboard_core::ServerId;
use switchboard_wire::{Agreement, ItemKind, ListedItem, Peer};

use crate::flagged::AcceptedFindings;
use crate::health::Health;
use crate::status::ServerStatus;

/// A snapshot of all configured servers. Immutable: a change publishes a new one.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    pub servers: BTreeMap<ServerId, Arc<Server>>,
    /// Incremented whenever the offers, or the visible part of them, change.
    pub edition: u64,
    pub accepted: Arc<AcceptedFindings>,
}

/// A snapshot of one server.
#[derive(Clone, Debug)]
pub struct Server {
    pub id: ServerId,
    /// `None` if the configuration cannot be read.
    pub config: Option<Arc<ServerConfig>>,
    /// The best state among its instances.
    pub status: ServerStatus,
    pub instances: Vec<Instance>,
    /// Kept while the server is down, so that catalogs do not change with every restart.
    pub offers: Arc<Offers>,
    pub agreement: Option<Arc<Agreement>>,
}

/// One connection to a server.
#[derive(Clone, Debug)]
pub struct Instance {
    pub number: usize,
    pub status: ServerStatus,
    pub peer: Option<Peer>,
    pub health: Arc<Health>,
}

/// The offers of a server.
#[derive(Debug, Default)]
pub struct Offers {
    pub tools: Vec<Tool>,
    pub resources: Vec<ListedItem>,
    pub templates: Vec<ListedItem>,
    pub prompts: Vec<ListedItem>,
    /// Reasons why items were left out of the lists.
    pub faults: Vec<String>,
    /// Kinds that could not be listed; their previous items are kept.
    pub unlisted: Vec<ItemKind>,
    places: OnceLock<HashMap<Box<str>, usize>>,
}

/// A listed tool, with its digest and facts computed once.
#[derive(Debug)]
pub struct Tool {
    pub item: ListedItem,
    digest: OnceLock<Arc<str>>,
    facts: OnceLock<ToolFacts>,
}

/// Properties of a definition that calls need, cached so that it is not parsed again.
#[derive(Clone, Copy, Debug)]
pub struct ToolFacts {
    pub has_output_schema: bool,
    /// Whether some arguments are repeated in HTTP headers.
    pub has_mirrored_arguments: bool,
    pub task_support: TaskSupport,
}

/// Whether a tool runs as a task, as declared in protocol version 2025-11-25.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskSupport {
    #[default]
    Forbidden,
    /// Only if the caller requests it.
    Optional,
    Required,
}

/// The members of a definition that Switchboard reads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition<'a> {
    pub title: Option<String>,
    pub description: Option<String>,
    #[serde(borrow)]
    pub input_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    pub output_schema: Option<&'a RawValue>,
    /// The server's hints about side effects.
    #[serde(borrow)]
    pub annotations: Option<&'a RawValue>,
    pub name: Option<String>,
    pub mime_type: Option<String>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

impl Tool {
    /// Creates a tool from its list entry.
    #[must_use]
    pub const fn new(item: ListedItem) -> Self {
        Self { item, digest: OnceLock::new(), facts: OnceLock::new() }
    }

    /// Returns the name on the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.item.key
    }

    /// Returns the parsed members of the definition.
    #[must_use]
    pub fn definition(&self) -> Definition<'_> {
        definition(&self.item)
    }

    /// Returns the fingerprint of the definition.
    #[must_use]
    pub fn digest(&self) -> &Arc<str> {
        self.digest
            .get_or_init(|| switchboard_text::hex_digest([self.item.raw.get().as_bytes()]).into())
    }

    /// Returns the URI of the tool's UI page, if the definition names one.
    #[must_use]
    pub fn ui_resource(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct UiDefinition {
            #[serde(rename = "_meta")]
            meta: UiMeta,
        }
        #[derive(Deserialize)]
        struct UiMeta {
            ui: Option<UiMember>,
            #[serde(rename = "ui/resourceUri")]
            older: Option<String>,
        }
        #[derive(Deserialize)]
        struct UiMember {
            #[serde(rename = "resourceUri")]
            page: Option<String>,
        }
        let text = self.item.raw.get();
        // Most definitions have no UI page, and a search is cheaper than parsing.
        if !text.contains("resourceUri") {
            return None;
        }
        let UiDefinition { meta } = serde_json::from_str(text).ok()?;
        meta.ui.and_then(|ui| ui.page).or(meta.older)
    }

    /// Returns the cached properties of the definition.
    #[must_use]
    pub fn facts(&self) -> ToolFacts {
        *self.facts.get_or_init(|| {
            let definition = self.definition();
            let schema = definition.input_schema.map(RawValue::get).unwrap_or_default();
            ToolFacts {
                has_output_schema: definition.output_schema.is_some(),
                has_mirrored_arguments: schema.contains("x-mcp-header"),
                task_support: task_support(self.item.raw.get()),
            }
        })
    }
}

fn task_support(definition: &str) -> TaskSupport {
    #[derive(Deserialize)]
    struct ExecutionMember {
        #[serde(rename = "taskSupport")]
        support: String,
    }
    #[derive(Deserialize)]
    struct TaskDefinition {
        execution: ExecutionMember,
    }
    let part = serde_json::from_str::<TaskDefinition>(definition);
    match part.as_ref().map(|part| part.execution.support.as_str()) {
        Ok("required") => TaskSupport::Required,
        Ok("optional") => TaskSupport::Optional,
        Ok(_) | Err(_) => TaskSupport::Forbidden,
    }
}

/// Returns the members of an item's definition, without malformed ones.
#[must_use]
pub fn definition(item: &ListedItem) -> Definition<'_> {
    // A member of an unexpected type must not hide the others.
    serde_json::from_str(item.raw.get()).unwrap_or_else(|_| parse_leniently(item.raw.get()))
}

fn parse_leniently(text: &str) -> Definition<'_> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct LooseDefinition<'a> {
        #[serde(borrow)]
        title: Option<&'a RawValue>,
        #[serde(borrow)]
        description: Option<&'a RawValue>,
        #[serde(borrow)]
        input_schema: Option<&'a RawValue>,
        #[serde(borrow)]
        output_schema: Option<&'a RawValue>,
        #[serde(borrow)]
        annotations: Option<&'a RawValue>,
        #[serde(borrow)]
        name: Option<&'a RawValue>,
        #[serde(borrow)]
        mime_type: Option<&'a RawValue>,
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let Ok(loose) = serde_json::from_str::<LooseDefinition<'_>>(text) else {
        return Definition::default();
    };
    let string = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    Definition {
        title: string(loose.title),
        description: string(loose.description),
        input_schema: loose.input_schema,
        output_schema: loose.output_schema,
        annotations: loose.annotations,
        name: string(loose.name),
        mime_type: string(loose.mime_type),
        arguments: loose.arguments,
    }
}

impl Offers {
    /// Returns whether both have byte-identical items, faults and unlisted kinds.
    #[must_use]
    pub fn is_identical_to(&self, other: &Self) -> bool {
        fn are_identical(one: &[ListedItem], other: &[ListedItem]) -> bool {
            let pairs = || one.iter().zip(other);
            one.len() == other.len() && pairs().all(|(a, b)| a.raw.get() == b.raw.get())
        }
        let tools = || self.tools.iter().zip(&other.tools);
        self.tools.len() == other.tools.len()
            && tools().all(|(a, b)| a.item.raw.get() == b.item.raw.get())
            && are_identical(&self.resources, &other.resources)
            && are_identical(&self.templates, &other.templates)
            && are_identical(&self.prompts, &other.prompts)
            && self.faults == other.faults
            && self.unlisted == other.unlisted
    }

    /// Creates the offers from the results of the list requests.
    #[must_use]
    pub fn new(
        tools: Vec<ListedItem>,
        resources: Vec<ListedItem>,
        templates: Vec<ListedItem>,
        prompts: Vec<ListedItem>,
        faults: Vec<String>,
    ) -> Self {
        let tools = tools.into_iter().map(Tool::new).collect();
        let places = OnceLock::new();
        Self { tools, resources, templates, prompts, faults, unlisted: Vec::new(), places }
    }

    /// Returns the tool with this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let places = self.places.get_or_init(|| {
            let named = self.tools.iter().map(|tool| tool.item.key.clone());
            named.enumerate().map(|(place, name)| (name, place)).collect()
        });
        self.tools.get(*places.get(name)?)
    }
}

impl Server {
    /// Returns the number of output lines that are not messages, over the current connections.
    #[must_use]
    pub fn noise_lines(&self) -> u64 {
        let peers = self.instances.iter().filter_map(|instance| instance.peer.as_ref());
        peers.map(|peer| peer.stats().noise).sum()
    }

    /// Returns why the tools are unknown, if the server declares that it has tools.
    #[must_use]
    pub fn missing_tools_reason(&self) -> Option<&str> {
        let has_tools =
            self.agreement.as_ref().is_some_and(|agreement| agreement.has_capability("tools"));
        let is_missing = has_tools && self.offers.unlisted.contains(&ItemKind::Tools);
        let told = self.offers.faults.iter().find(|fault| fault.starts_with("tools: "));
        told.filter(|_| is_missing).map(String::as_str)
    }

    /// Returns the ready instance with the fewest calls in flight.
    #[must_use]
    pub fn least_busy(&self) -> Option<(&Instance, &Peer)> {
        self.instances
            .iter()
            .filter_map(|instance| Some((instance, instance.peer.as_ref()?)))
            // An instance with an open breaker gets no calls, only probes.
            .filter(|(instance, peer)| {
                !peer.is_closed() && instance.health.breaker_reason().is_none()
            })
            .min_by_key(|(instance, _)| instance.health.in_flight())
    }
}
