//! The servers of one moment, what they offer and the connections to them.

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

/// All configured servers at one moment. Never changed, only replaced.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// The servers by name.
    pub servers: BTreeMap<ServerId, Arc<Server>>,
    /// Grows with every change of what is offered, or of what may be shown of it.
    pub edition: u64,
    /// What a person stands by in spite of what was found in it.
    pub accepted: Arc<AcceptedFindings>,
}

/// One server at one moment.
#[derive(Clone, Debug)]
pub struct Server {
    pub id: ServerId,
    /// Its configuration; absent when that cannot be read.
    pub config: Option<Arc<ServerConfig>>,
    /// Its state: the best one of its instances.
    pub status: ServerStatus,
    pub instances: Vec<Instance>,
    /// What it offers; kept while it is down.
    pub offers: Arc<Offers>,
    /// What was agreed on with it, last time.
    pub agreement: Option<Arc<Agreement>>,
}

/// One connection to a server.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its number, from 0.
    pub number: usize,
    pub status: ServerStatus,
    /// How to talk to it, when it is ready.
    pub peer: Option<Peer>,
    /// How it is doing.
    pub health: Arc<Health>,
}

/// What a server offers.
#[derive(Debug, Default)]
pub struct Offers {
    pub tools: Vec<Tool>,
    pub resources: Vec<ListedItem>,
    pub templates: Vec<ListedItem>,
    pub prompts: Vec<ListedItem>,
    /// What was left out of the lists, and why.
    pub faults: Vec<String>,
    /// The lists that could not be had; what stands in their place is what was known before.
    pub unlisted: Vec<ItemKind>,
    /// Which place a tool has, worked out when first needed.
    places: OnceLock<HashMap<Box<str>, usize>>,
}

/// A tool, with what is worked out about it once.
#[derive(Debug)]
pub struct Tool {
    /// Its name and definition.
    pub item: ListedItem,
    digest: OnceLock<Arc<str>>,
    facts: OnceLock<ToolFacts>,
}

/// What a call needs to know of a definition without reading it again.
#[derive(Clone, Copy, Debug)]
pub struct ToolFacts {
    /// Structured results have a schema.
    pub has_output_schema: bool,
    /// Some arguments are mirrored in HTTP headers.
    pub has_mirrored_arguments: bool,
    /// Whether the server goes on with it by itself if asked to.
    pub task_support: TaskSupport,
}

/// Whether a tool runs as a task: 2025-11-25 lets the tool say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskSupport {
    #[default]
    Forbidden,
    /// If the caller asks for it.
    Optional,
    Required,
}

/// The parts of a definition that we look at.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition<'a> {
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What arguments it takes.
    #[serde(borrow)]
    pub input_schema: Option<&'a RawValue>,
    /// What its structured results look like.
    #[serde(borrow)]
    pub output_schema: Option<&'a RawValue>,
    /// What the server says about its effects.
    #[serde(borrow)]
    pub annotations: Option<&'a RawValue>,
    /// A resource's or prompt's name.
    pub name: Option<String>,
    pub mime_type: Option<String>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

impl Tool {
    /// A tool as it was listed.
    #[must_use]
    pub const fn new(item: ListedItem) -> Self {
        Self { item, digest: OnceLock::new(), facts: OnceLock::new() }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.item.key
    }

    /// The parts of its definition.
    #[must_use]
    pub fn definition(&self) -> Definition<'_> {
        definition(&self.item)
    }

    /// The fingerprint of its definition.
    #[must_use]
    pub fn digest(&self) -> &Arc<str> {
        self.digest
            .get_or_init(|| switchboard_text::hex_digest([self.item.raw.get().as_bytes()]).into())
    }

    /// The address of its page for people, where its definition names one.
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
        if !text.contains("resourceUri") {
            return None;
        }
        let UiDefinition { meta } = serde_json::from_str(text).ok()?;
        meta.ui.and_then(|ui| ui.page).or(meta.older)
    }

    /// What a call needs to know of it.
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

/// The parts of an item's definition; odd ones are left empty.
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
    /// Whether both say the same, to the letter.
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

    /// What the lists gave.
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

    /// The tool of that name.
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
    /// Lines on its output that are not messages, on the connections of this moment.
    #[must_use]
    pub fn noise_lines(&self) -> u64 {
        let peers = self.instances.iter().filter_map(|instance| instance.peer.as_ref());
        peers.map(|peer| peer.stats().noise).sum()
    }

    /// Why its tools are not known, where it says that it has some.
    #[must_use]
    pub fn missing_tools_reason(&self) -> Option<&str> {
        let has_tools =
            self.agreement.as_ref().is_some_and(|agreement| agreement.has_capability("tools"));
        let is_missing = has_tools && self.offers.unlisted.contains(&ItemKind::Tools);
        let told = self.offers.faults.iter().find(|fault| fault.starts_with("tools: "));
        told.filter(|_| is_missing).map(String::as_str)
    }

    /// The ready instance with the fewest calls under way.
    #[must_use]
    pub fn least_busy(&self) -> Option<(&Instance, &Peer)> {
        self.instances
            .iter()
            .filter_map(|instance| Some((instance, instance.peer.as_ref()?)))
            .filter(|(instance, peer)| {
                !peer.is_closed() && instance.health.breaker_reason().is_none()
            })
            .min_by_key(|(instance, _)| instance.health.in_flight())
    }
}
