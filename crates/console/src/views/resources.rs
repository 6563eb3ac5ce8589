//! Resources, templates and prompts of all servers.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_catalog::{Server, definition};

use crate::console::Console;
use crate::reply::ApiError;

/// Everything that can be read or fetched.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ResourcesShown {
    /// What can be read.
    pub(crate) resources: Vec<OfferedResource>,
    /// Families of what can be read.
    pub(crate) templates: Vec<OfferedResource>,
    /// What can be fetched.
    pub(crate) prompts: Vec<OfferedPrompt>,
}

/// A resource, or a template of several.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OfferedResource {
    /// The server.
    pub(crate) server: String,
    /// Its address, or the template of addresses.
    pub(crate) uri: String,
    /// What it is called.
    pub(crate) name: Option<String>,
    /// What it is, in the server's words.
    pub(crate) description: Option<String>,
    /// What kind of content it has.
    pub(crate) mime_type: Option<String>,
}

/// A prompt.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OfferedPrompt {
    /// The server.
    pub(crate) server: String,
    /// Its name there.
    pub(crate) name: String,
    /// What it is called.
    pub(crate) title: Option<String>,
    /// What it is for, in the server's words.
    pub(crate) description: Option<String>,
    /// Its arguments as the server lists them.
    pub(crate) arguments: Value,
}

/// All of them, server by server.
pub(crate) fn resources(console: &Console) -> ResourcesShown {
    let lease = console.host.lease();
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

/// One prompt.
pub(crate) fn prompt(
    console: &Console,
    server: &str,
    name: &str,
) -> Result<OfferedPrompt, ApiError> {
    let fleet = console.host.fleet().load();
    let found = fleet
        .servers
        .get(server)
        .and_then(|server| prompts(server).into_iter().find(|prompt| prompt.name == name));
    found.ok_or_else(|| ApiError::not_found(format!("there is no prompt `{name}` on `{server}`")))
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
