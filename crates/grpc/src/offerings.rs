//! The offers and states of servers, in each of the forms that editors and agents use.

use std::path::Path;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use switchboard_catalog::{Lease, Server, definition};
use switchboard_config::Transport;
use switchboard_prompting::{index_places, with_shown_servers};
use switchboard_rules::AllowedServer;
use switchboard_wire::ListedItem;
use tonic::Status;

use crate::access::AuthorizedCaller;
use crate::generated::agent::v1::{McpDescriptor, McpToolDefinition, McpToolDescriptor};
use crate::generated::v1::offerings::{Prompt, Resource, Tool};
use crate::generated::v1::{
    AllowedMcpConfiguration, AllowedMcpServer, GetControlsResponse, McpControls, McpInstructions,
    Offerings, ServerState,
};
use crate::grpc_service::GrpcService;
use crate::values::{parse_struct, string_members};

impl GrpcService {
    pub(crate) fn servers(&self, visitor: &AuthorizedCaller) -> Vec<ServerState> {
        let fleet = self.host().fleet().load();
        let seen = fleet.servers.values().filter(|server| visitor.sees_server(server));
        seen.map(|server| server_state(server, visitor)).collect()
    }

    /// Returns the state of one server, if the caller sees anything of it.
    pub(crate) fn server(&self, visitor: &AuthorizedCaller, id: &str) -> Option<ServerState> {
        let fleet = self.host().fleet().load();
        let server = fleet.servers.get(id).filter(|server| visitor.sees_server(server))?;
        Some(server_state(server, visitor))
    }

    pub(crate) fn offerings(
        &self,
        visitor: &AuthorizedCaller,
        only: Option<&str>,
    ) -> Vec<Offerings> {
        let lease = self.host().lease();
        let servers = lease.catalog().servers().iter();
        let selected = servers.filter(|server| is_selected(server, visitor, only));
        selected.map(|server| server_offerings(server, visitor)).collect()
    }

    /// Returns the tool definitions of a server, unchanged.
    pub(crate) fn raw_tools(
        &self,
        visitor: &AuthorizedCaller,
        id: &str,
    ) -> Result<Vec<String>, Status> {
        let lease = self.host().lease();
        let mut servers = lease.catalog().servers().iter();
        let found = servers.find(|server| server.id.as_str() == id && visitor.sees_server(server));
        let server = found.ok_or_else(|| no_server(id))?;
        let tools = server.offers.tools.iter().filter(|tool| visitor.sees(id, tool.name()));
        Ok(tools.map(|tool| tool.item.raw.get().to_owned()).collect())
    }

    /// Returns the tools under the names that models use; of all servers without `descriptors`.
    pub(crate) fn tools(
        &self,
        visitor: &AuthorizedCaller,
        descriptors: &[McpDescriptor],
    ) -> Vec<McpToolDefinition> {
        let lease = self.host().lease();
        let catalog = lease.catalog();
        let is_described = |server: &str, tool: &str| {
            let mut of = descriptors.iter().filter(|one| one.server_identifier == server);
            // A descriptor without tools selects all tools of its server.
            let named = |one: &McpDescriptor| {
                one.tools.is_empty() || one.tools.iter().any(|known| known.tool_name == tool)
            };
            descriptors.is_empty() || of.any(named)
        };
        let seen = catalog.tools().filter(|entry| {
            let id = entry.server.id.as_str();
            let own = entry.tool.name();
            visitor.sees(id, own) && is_described(id, own)
        });
        let shown = seen.map(|entry| {
            let about = entry.tool.definition();
            McpToolDefinition {
                name: catalog.names().get(entry.place).unwrap_or_default().to_owned(),
                description: about.description.unwrap_or_default(),
                input_schema: parse_struct(about.input_schema.map_or("{}", RawValue::get)),
                provider_identifier: entry.server.id.to_string(),
                tool_name: entry.tool.name().to_owned(),
            }
        });
        shown.collect()
    }

    /// Returns short descriptions of the servers, with the paths of their index files.
    pub(crate) fn descriptors(&self, visitor: &AuthorizedCaller) -> Vec<McpDescriptor> {
        let lease = self.host().lease();
        // The index contains everything and belongs to the owner.
        let index = self.inner.options.index.as_deref().filter(|_| visitor.is_owner());
        server_descriptors(&lease, visitor, index)
    }

    pub(crate) fn instructions(
        &self,
        visitor: &AuthorizedCaller,
        only: Option<&str>,
    ) -> Vec<McpInstructions> {
        let lease = self.host().lease();
        let servers = lease.catalog().servers().iter();
        let selected = servers.filter(|server| is_selected(server, visitor, only));
        let said = selected.filter_map(|server| {
            Some(McpInstructions {
                // The id of the configuration: the server could claim any other name.
                server_name: server.id.to_string(),
                server_identifier: server.id.to_string(),
                instructions: instructions_text(server)?,
            })
        });
        said.collect()
    }

    pub(crate) fn controls(&self, visitor: &AuthorizedCaller) -> GetControlsResponse {
        let lease = self.host().lease();
        let seen = lease.catalog().tools().filter_map(|entry| {
            let id = entry.server.id.as_str();
            let own = entry.tool.name();
            visitor.sees(id, own).then(|| format!("{id}/{own}"))
        });
        let controls = McpControls { enabled: true, allowed_tools: seen.collect() };
        let mut allowed = AllowedMcpConfiguration::default();
        let config = self.host().config().load();
        // The allow-list may contain internal commands and URLs, so guests do not get it.
        let files = config.policies.files.iter().filter(|_| visitor.is_owner());
        for servers in files.filter_map(|file| file.servers.as_ref()) {
            if servers.disable_all {
                allowed.disable_all = Some(true);
            }
            // The files come in order of precedence, and the first list applies.
            if allowed.allowed_mcp_servers.is_empty() {
                let listed = servers.allowed.iter().flatten().map(allowed_server);
                allowed.allowed_mcp_servers = listed.collect();
            }
        }
        let controls = McpControls { enabled: allowed.disable_all != Some(true), ..controls };
        GetControlsResponse { controls: Some(controls), allowed: Some(allowed) }
    }
}

fn allowed_server(allowed: &AllowedServer) -> AllowedMcpServer {
    let (command, server_url) = match allowed {
        AllowedServer::Command(pattern) => (Some(pattern.clone()), None),
        AllowedServer::Url(pattern) => (None, Some(pattern.to_string())),
    };
    AllowedMcpServer { command, server_url }
}

pub(crate) fn no_server(id: &str) -> Status {
    Status::not_found(format!("unknown server `{id}`"))
}

fn is_selected(server: &Server, visitor: &AuthorizedCaller, only: Option<&str>) -> bool {
    only.is_none_or(|only| only.is_empty() || server.id.as_str() == only)
        && visitor.sees_server(server)
}

pub(crate) fn server_state(server: &Server, visitor: &AuthorizedCaller) -> ServerState {
    let id = server.id.as_str();
    // Failures quote command lines and standard error, which are not for guests.
    let failure = server.status.failure().filter(|_| visitor.is_owner());
    let kind = server.config.as_ref().map(|config| match config.transport {
        Transport::Stdio { .. } => "stdio",
        Transport::Http { .. } => "http",
        Transport::Builtin => "builtin",
    });
    let count = |items: &[ListedItem]| {
        let seen = items.iter().filter(|item| visitor.sees(id, &item.key)).count();
        i32::try_from(seen).unwrap_or(i32::MAX)
    };
    let tools = server.offers.tools.iter().filter(|tool| visitor.sees(id, tool.name())).count();
    ServerState {
        server_identifier: id.to_owned(),
        status: server.status.word().to_owned(),
        detail: failure.map(|failure| failure.message.clone()).unwrap_or_default(),
        hint: failure.and_then(|failure| failure.hint.clone()).unwrap_or_default(),
        kind: kind.unwrap_or_default().to_owned(),
        tools: i32::try_from(tools).unwrap_or(i32::MAX),
        prompts: count(&server.offers.prompts),
        resources: count(&server.offers.resources),
    }
}

fn server_offerings(server: &Server, visitor: &AuthorizedCaller) -> Offerings {
    let id = server.id.as_str();
    let tools = server.offers.tools.iter().filter(|tool| visitor.sees(id, tool.name()));
    let tools = tools.map(|tool| {
        let about = tool.definition();
        Tool {
            name: tool.name().to_owned(),
            description: about.description.unwrap_or_default(),
            parameters: about.input_schema.map_or("{}", RawValue::get).to_owned(),
            output_schema: about.output_schema.map(|schema| schema.get().to_owned()),
        }
    });
    let seen = |item: &&ListedItem| visitor.sees(id, &item.key);
    let prompts = server.offers.prompts.iter().filter(seen).map(prompt);
    let resources = server.offers.resources.iter().filter(seen).map(|item| {
        let about = definition(item);
        Resource {
            uri: item.key.to_string(),
            name: about.title.or(about.name).unwrap_or_default(),
            description: about.description.unwrap_or_default(),
            mime_type: about.mime_type.unwrap_or_default(),
            annotations: string_members(about.annotations.map(RawValue::get)),
        }
    });
    Offerings {
        server_identifier: id.to_owned(),
        tools: tools.collect(),
        prompts: prompts.collect(),
        resources: resources.collect(),
    }
}

fn prompt(item: &ListedItem) -> Prompt {
    let about = definition(item);
    let listed: Vec<Value> =
        about.arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    // The arguments of a prompt are strings by definition, so the protocol has no schema for them.
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in &listed {
        let Some(name) = argument.get("name").and_then(Value::as_str) else { continue };
        let mut property = json!({"type": "string"});
        if let (Some(said), Some(members)) =
            (argument.get("description").filter(|said| said.is_string()), property.as_object_mut())
        {
            members.insert("description".to_owned(), said.clone());
        }
        properties.insert(name.to_owned(), property);
        if argument.get("required").and_then(Value::as_bool) == Some(true) {
            required.push(name);
        }
    }
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Prompt {
        name: item.key.to_string(),
        description: about.description.unwrap_or_default(),
        parameters: schema.to_string(),
    }
}

fn server_descriptors(
    lease: &Lease,
    visitor: &AuthorizedCaller,
    index: Option<&Path>,
) -> Vec<McpDescriptor> {
    let servers = lease.catalog().servers();
    let places = with_shown_servers(lease, index_places);
    let mut all = Vec::new();
    for (server, place) in servers.iter().zip(&places) {
        if !visitor.sees_server(server) {
            continue;
        }
        let id = server.id.as_str();
        let path = |relative: &str| index.map(|root| root.join(relative).display().to_string());
        let tools = server.offers.tools.iter().zip(&place.tools);
        let tools = tools.filter(|(tool, _)| visitor.sees(id, tool.name()));
        all.push(McpDescriptor {
            server_name: id.to_owned(),
            server_identifier: id.to_owned(),
            folder_path: path(&place.folder),
            server_use_instructions: instructions_text(server),
            tools: tools
                .map(|(tool, file)| McpToolDescriptor {
                    tool_name: tool.name().to_owned(),
                    definition_path: path(file),
                })
                .collect(),
        });
    }
    all
}

fn instructions_text(server: &Server) -> Option<String> {
    let said = server.agreement.as_ref().and_then(|with| with.instructions.as_deref());
    said.map(str::trim).filter(|said| !said.is_empty()).map(str::to_owned)
}
