//! Tools: a list by words, and one with its definition.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_catalog::{Server, Tool};
use switchboard_core::{Caller, Face, Origin, Risk, Target, TargetKind};
use switchboard_host::policy::{PolicyFacts, SessionFacts, assess_risk};
use switchboard_json::property_names;

use super::pins::{HeldShown, PinShown, held_tool, pin_view};
use crate::apps::app_uri;
use crate::console::Console;
use crate::reply::ApiError;

/// So many tools are listed at once.
const MAX_LISTED: usize = 200;

/// The most base64 text of an icon.
const MAX_ICON_BYTES: usize = 16 << 10;

/// Which tools are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct ToolQuery {
    /// Words to search for.
    pub(crate) q: Option<String>,
    /// Only of this server.
    pub(crate) server: Option<String>,
}

/// A tool in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolRow {
    /// The server.
    pub(crate) server: String,
    /// Its name there.
    pub(crate) name: String,
    /// What it is called.
    pub(crate) title: Option<String>,
    /// What it does, in the server's words.
    pub(crate) description: Option<String>,
    /// What its server says about its effects, in words.
    pub(crate) marks: Vec<&'static str>,
    /// A small picture of it, in base64; whether it is one is for whoever shows it to find out.
    pub(crate) icon: Option<String>,
}

/// A tool with its definition.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolShown {
    #[serde(flatten)]
    pub(crate) row: ToolRow,
    /// The fingerprint of its definition.
    pub(crate) digest: String,
    /// The schema of its arguments.
    pub(crate) input_schema: Option<Value>,
    /// The names of the arguments in the server's order.
    pub(crate) order: Vec<String>,
    /// The schema of its results.
    pub(crate) output_schema: Option<Value>,
    /// What its server says about its effects.
    pub(crate) annotations: Option<Value>,
    /// Whether it runs without a question.
    pub(crate) auto_approved: bool,
    /// The address of its app's page, if it has an app.
    pub(crate) app: Option<String>,
    /// How much harm a model's call of it could do, from 0 to 100, and why, whatever the arguments.
    pub(crate) risk: Risk,
    /// How its definition stands to what was approved.
    pub(crate) pin: PinShown,
    /// Its definition that nobody approved, if there is one: then it cannot be called.
    pub(crate) held: Option<HeldShown>,
}

/// Tools that fit the words best, or all.
pub(crate) fn tools(console: &Console, query: &ToolQuery) -> Vec<ToolRow> {
    let lease = console.host.lease();
    let catalog = lease.catalog();
    let words = query.q.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let of_server = |name: &str| {
        let wanted = query.server.as_deref().filter(|server| !server.is_empty());
        wanted.is_none_or(|wanted| wanted == name)
    };
    let entries: Vec<_> = match words {
        Some(words) => {
            catalog.search(words, MAX_LISTED).into_iter().map(|(entry, _)| entry).collect()
        }
        None => catalog.tools().collect(),
    };
    let wanted = entries.into_iter().filter(|entry| of_server(entry.server.id.as_str()));
    wanted.take(MAX_LISTED).map(|entry| tool_row(entry.server, entry.tool)).collect()
}

/// One tool.
pub(crate) async fn tool(
    console: &Console,
    server: &str,
    name: &str,
) -> Result<ToolShown, ApiError> {
    let pin = pin_view(console, server, name).await;
    if let Some(held) = held_tool(console, server, name) {
        return Ok(held_tool_view(pin, held));
    }
    let fleet = console.host.fleet().load();
    let missing = || ApiError::not_found(format!("there is no tool `{name}` on `{server}`"));
    let server = fleet.servers.get(server).ok_or_else(missing)?;
    let tool = server.offers.tool(name).ok_or_else(missing)?;
    let definition = tool.definition();
    let value = |raw: Option<&serde_json::value::RawValue>| {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
    };
    let config = server.config.as_ref();
    Ok(ToolShown {
        row: tool_row(server, tool),
        digest: tool.digest().to_string(),
        order: definition.input_schema.map(|raw| property_names(raw.get())).unwrap_or_default(),
        input_schema: value(definition.input_schema),
        output_schema: value(definition.output_schema),
        annotations: value(definition.annotations),
        auto_approved: config.is_some_and(|config| config.auto_approve.contains(name)),
        app: app_uri(tool.item.raw.get()),
        risk: risk(server, tool),
        pin,
        held: None,
    })
}

/// The risk of a call before its arguments are known.
fn risk(server: &Server, tool: &Tool) -> Risk {
    let target = Target::new(TargetKind::Tool, server.id.as_str(), tool.name());
    let name = Origin::Model.to_string();
    let caller = Caller { face: Face::Chat, origin: Origin::Model, name, reference: None };
    let config = server.config.as_deref();
    let session = SessionFacts::default();
    let facts = PolicyFacts::without_definition(&target, "{}", config, &caller, &session);
    match tool.definition().annotations {
        Some(annotations) => assess_risk(&facts.with_annotations(annotations.get(), config)),
        None => assess_risk(&facts),
    }
}

/// A tool of which nothing may be used until somebody approves it.
fn held_tool_view(pin: PinShown, held: HeldShown) -> ToolShown {
    ToolShown {
        row: ToolRow {
            server: held.server.clone(),
            name: held.name.clone(),
            title: None,
            description: None,
            marks: Vec::new(),
            icon: None,
        },
        digest: held.digest.clone(),
        input_schema: None,
        order: Vec::new(),
        output_schema: None,
        annotations: None,
        auto_approved: false,
        app: None,
        risk: Risk::default(),
        pin,
        held: Some(held),
    }
}

pub(super) fn tool_row(server: &Server, tool: &Tool) -> ToolRow {
    let definition = tool.definition();
    let annotations: Value = definition
        .annotations
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let hinted = || annotations.get("title")?.as_str().map(str::to_owned);
    let title = definition.title.or_else(hinted);
    ToolRow {
        server: server.id.to_string(),
        name: tool.name().to_owned(),
        title,
        description: definition.description,
        marks: marks(&annotations),
        icon: icon(tool.item.raw.get()),
    }
}

/// The first icon that is in the definition itself: nothing is fetched for it.
fn icon(definition: &str) -> Option<String> {
    // Most have none, and lists are long.
    if !definition.contains("\"icons\"") {
        return None;
    }
    let definition: Value = serde_json::from_str(definition).ok()?;
    let icons = definition.get("icons")?.as_array()?;
    let mut sources = icons.iter().filter_map(|icon| icon["src"].as_str());
    let data = sources.find_map(|src| src.strip_prefix("data:")?.split_once(";base64,"))?.1;
    (data.len() <= MAX_ICON_BYTES).then(|| data.to_owned())
}

/// The server's own words about its tool: a claim, not a fact.
fn marks(annotations: &Value) -> Vec<&'static str> {
    let says = |key: &str| annotations[key].as_bool();
    let mut marks = Vec::new();
    if says("readOnlyHint") == Some(true) {
        marks.push("read only");
    } else if says("destructiveHint") == Some(true) {
        marks.push("destructive");
    }
    if says("idempotentHint") == Some(true) {
        marks.push("idempotent");
    }
    if says("openWorldHint") == Some(true) {
        marks.push("open world");
    }
    marks
}
