//! View models of the resources, templates and prompts of all servers.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_catalog::{Server, definition};
use switchboard_host::Host;

use crate::error::ViewError;

/// Everything that can be read or fetched.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ResourcesShown {
    /// What can be read.
    pub resources: Vec<OfferedResource>,
    /// Families of what can be read.
    pub templates: Vec<OfferedResource>,
    /// What can be fetched.
    pub prompts: Vec<OfferedPrompt>,
}

/// A resource, or a template of several.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferedResource {
    /// The server.
    pub server: String,
    /// Its address, or the template of addresses.
    pub uri: String,
    /// What it is called.
    pub name: Option<String>,
    /// What it is, in the server's words.
    pub description: Option<String>,
    /// What kind of content it has.
    pub mime_type: Option<String>,
}

/// A prompt.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferedPrompt {
    /// The server.
    pub server: String,
    /// Its name there.
    pub name: String,
    /// What it is called.
    pub title: Option<String>,
    /// What it is for, in the server's words.
    pub description: Option<String>,
    /// Its arguments as the server lists them.
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

/// Returns one prompt.
pub fn prompt(host: &Host, server: &str, name: &str) -> Result<OfferedPrompt, ViewError> {
    let fleet = host.fleet().load();
    let found = fleet
        .servers
        .get(server)
        .and_then(|server| prompts(server).into_iter().find(|prompt| prompt.name == name));
    found.ok_or_else(|| ViewError::NotFound(format!("there is no prompt `{name}` on `{server}`")))
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
