//! View models of the resources, templates and prompts of all servers.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_catalog::{Server, definition};
use switchboard_host::Host;

use crate::error::ViewError;

/// Resources, templates and prompts of all servers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ResourcesShown {
    /// Resources that can be read.
    pub resources: Vec<OfferedResource>,
    /// Templates of resource URIs.
    pub templates: Vec<OfferedResource>,
    /// Prompts that can be fetched.
    pub prompts: Vec<OfferedPrompt>,
}

/// A resource or a resource template.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferedResource {
    /// Name of the server.
    pub server: String,
    /// URI, or URI template.
    pub uri: String,
    /// Display name, if the server sends one.
    pub name: Option<String>,
    /// Description of the resource by its server.
    pub description: Option<String>,
    /// Media type of the content.
    pub mime_type: Option<String>,
}

/// A prompt with its arguments.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferedPrompt {
    /// Name of the server.
    pub server: String,
    /// Name of the prompt on its server.
    pub name: String,
    /// Display name, if the server sends one.
    pub title: Option<String>,
    /// Description of the prompt by its server.
    pub description: Option<String>,
    /// Arguments as the server lists them.
    pub arguments: Value,
}

/// Returns all resources, templates and prompts, grouped by server.
pub fn resources(host: &Host) -> ResourcesShown {
    let lease = host.lease();
    let mut shown = ResourcesShown::default();
    for server in lease.catalog().servers() {
        let offers = &server.offers;
        for (items, into) in
            [(&offers.resources, &mut shown.resources), (&offers.templates, &mut shown.templates)]
        {
            into.extend(items.iter().map(|item| {
                let definition = definition(item);
                OfferedResource {
                    server: server.id.to_string(),
                    uri: item.key.to_string(),
                    name: definition.title.or(definition.name),
                    description: definition.description,
                    mime_type: definition.mime_type,
                }
            }));
        }
        shown.prompts.extend(prompts(server));
    }
    shown
}

/// Returns one prompt of a server.
pub fn prompt(host: &Host, server: &str, name: &str) -> Result<OfferedPrompt, ViewError> {
    let fleet = host.fleet().load();
    let offered = fleet.servers.get(server).map(|server| prompts(server)).unwrap_or_default();
    let found = offered.into_iter().find(|prompt| prompt.name == name);
    let missing = || format!("no prompt named `{name}` on server `{server}`");
    found.ok_or_else(|| ViewError::NotFound(missing()))
}

fn prompts(server: &Server) -> Vec<OfferedPrompt> {
    let listed = server.offers.prompts.iter().map(|item| {
        let definition = definition(item);
        let arguments = definition.arguments.and_then(|raw| serde_json::from_str(raw.get()).ok());
        OfferedPrompt {
            server: server.id.to_string(),
            name: item.key.to_string(),
            title: definition.title,
            description: definition.description,
            arguments: arguments.unwrap_or_default(),
        }
    });
    listed.collect()
}
