//! View models of tools: search results, and one tool with its definition.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_catalog::{Server, Tool};
use switchboard_core::{Caller, Face, Origin, Risk, Target, TargetKind};
use switchboard_host::Host;
use switchboard_host::policy::{PolicyFacts, SessionFacts, assess_risk};
use switchboard_json::property_names;

use crate::catalog::{is_wanted, matching_tools};
use crate::error::ViewError;
use crate::pins::{HeldShown, PinShown, held_tool, pin_view};

const MAX_LISTED: usize = 200;
/// Maximum length in base64. Every row of a list carries its icon.
const MAX_ICON_BYTES: usize = 16 << 10;

/// Search words and filters of the tool list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ToolQuery {
    /// Search words; without them, all tools are listed.
    pub q: Option<String>,
    /// Only tools of this server.
    pub server: Option<String>,
}

/// A tool in a list.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolRow {
    /// Name of the server.
    pub server: String,
    /// Name of the tool on its server.
    pub name: String,
    /// Display name, if the server sends one.
    pub title: Option<String>,
    /// Description of the tool by its server.
    pub description: Option<String>,
    /// Annotations as words, such as `read only`: claims of the server, not facts.
    pub marks: Vec<String>,
    /// Embedded icon in base64, unverified: check that it is an image before you show it.
    pub icon: Option<String>,
}

/// A tool with its definition.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ToolShown {
    #[serde(flatten)]
    pub row: ToolRow,
    /// Fingerprint of the definition.
    pub digest: String,
    /// JSON Schema of the arguments.
    pub input_schema: Option<Value>,
    /// Names of the arguments in the server's order.
    pub order: Vec<String>,
    /// JSON Schema of the results.
    pub output_schema: Option<Value>,
    /// Annotations as the server sent them.
    pub annotations: Option<Value>,
    /// Whether calls run without approval.
    pub auto_approved: bool,
    /// URI of the tool's app page, if it has one.
    pub app: Option<String>,
    /// Risk of a call by a model, from 0 to 100, with reasons, before arguments are known.
    pub risk: Risk,
    /// Approval state of the definition.
    pub pin: PinShown,
    /// Definition in quarantine, if there is one; the tool then cannot be called.
    pub held: Option<HeldShown>,
}

/// Returns the best matches for the search words, or all tools.
pub fn tools(host: &Host, query: &ToolQuery) -> Vec<ToolRow> {
    let lease = host.lease();
    let catalog = lease.catalog();
    let entries = matching_tools(catalog, query.q.as_deref(), MAX_LISTED).into_iter();
    let server = query.server.as_deref();
    let wanted = entries.filter(|entry| is_wanted(entry.server.id.as_str(), server));
    wanted.take(MAX_LISTED).map(|entry| tool_row(entry.server, entry.tool)).collect()
}

/// Returns one tool. A quarantined one comes without its schemas.
pub async fn tool(host: &Host, server: &str, name: &str) -> Result<ToolShown, ViewError> {
    let pin = pin_view(host, server, name).await;
    // Quarantine first: the fleet also has the definition that is not approved.
    if let Some(held) = held_tool(host, server, name) {
        return Ok(held_tool_view(pin, held));
    }
    let fleet = host.fleet().load();
    let missing = || ViewError::NotFound(format!("no tool named `{name}` on server `{server}`"));
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

/// Returns the risk of a call by a model, before its arguments are known.
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

/// Returns the view of a quarantined tool, of which only the name and the diff are shown.
fn held_tool_view(pin: PinShown, held: HeldShown) -> ToolShown {
    ToolShown {
        row: ToolRow { server: held.server.clone(), name: held.name.clone(), ..ToolRow::default() },
        digest: held.digest.clone(),
        pin,
        held: Some(held),
        ..ToolShown::default()
    }
}

pub(crate) fn tool_row(server: &Server, tool: &Tool) -> ToolRow {
    let definition = tool.definition();
    let annotations: Value = definition
        .annotations
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    // Servers older than revision 2025-06-18 send the display name among the annotations.
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

/// Returns the first icon that is embedded in the definition. Icons are never fetched.
fn icon(definition: &str) -> Option<String> {
    // A substring search is cheaper than parsing the many definitions without icons.
    if !definition.contains("\"icons\"") {
        return None;
    }
    let definition: Value = serde_json::from_str(definition).ok()?;
    let icons = definition.get("icons")?.as_array()?;
    // Fetching a URL would tell its owner who looks at the list, and could reach internal hosts.
    let mut sources = icons.iter().filter_map(|icon| icon["src"].as_str());
    let data = sources.find_map(|src| src.strip_prefix("data:")?.split_once(";base64,"))?.1;
    (data.len() <= MAX_ICON_BYTES).then(|| data.to_owned())
}

/// Returns the annotations in words. They are claims of the server, not facts.
fn marks(annotations: &Value) -> Vec<String> {
    let says = |key: &str| annotations[key].as_bool();
    let is_read_only = says("readOnlyHint") == Some(true);
    let marks = [
        (is_read_only, "read only"),
        // The protocol gives `destructiveHint` no meaning for a read-only tool.
        (!is_read_only && says("destructiveHint") == Some(true), "destructive"),
        (says("idempotentHint") == Some(true), "idempotent"),
        (says("openWorldHint") == Some(true), "open world"),
    ];
    marks.into_iter().filter(|(is_said, _)| *is_said).map(|(_, mark)| mark.to_owned()).collect()
}

/// Returns the URI of the tool's app page (MCP Apps), if it has one.
pub fn app_uri(definition: &str) -> Option<String> {
    let meta = ui_meta(definition)?;
    // Early versions of MCP Apps used the flat key.
    let named = meta.pointer("/ui/resourceUri").or_else(|| meta.get("ui/resourceUri"))?.as_str()?;
    // The console reads the page as a resource of the same server, never from the web.
    named.starts_with("ui://").then(|| named.to_owned())
}

/// Returns whether an app may call the tool. Without a declared visibility, any caller may.
pub fn is_for_apps(definition: &str) -> bool {
    let visible =
        ui_meta(definition).and_then(|meta| meta.pointer("/ui/visibility")?.as_array().cloned());
    visible.is_none_or(|visible| visible.iter().any(|who| who == "app"))
}

fn ui_meta(definition: &str) -> Option<Value> {
    let definition: Value = serde_json::from_str(definition).ok()?;
    definition.get("_meta").cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_says_where_its_app_is_and_who_may_call_it() {
        for (definition, app, for_apps) in [
            (r#"{"name":"a"}"#, None, true),
            (r#"{"_meta":{"ui":{"resourceUri":"ui://a"}}}"#, Some("ui://a"), true),
            (r#"{"_meta":{"ui/resourceUri":"ui://b"}}"#, Some("ui://b"), true),
            (r#"{"_meta":{"ui":{"resourceUri":"https://a.example"}}}"#, None, true),
            (r#"{"_meta":{"ui":{"visibility":["model"]}}}"#, None, false),
            (r#"{"_meta":{"ui":{"visibility":["app"]}}}"#, None, true),
            ("odd", None, true),
        ] {
            assert_eq!(app_uri(definition).as_deref(), app, "{definition}");
            assert_eq!(is_for_apps(definition), for_apps, "{definition}");
        }
    }
}
