//! Conversion of a lease to the borrowed views that prompts are rendered from.

use std::sync::Arc;

use serde_json::value::RawValue;
use switchboard_catalog::{Definition, Lease, Server, definition};
use switchboard_config::Transport;
use switchboard_core::TargetKind;
use switchboard_wire::ListedItem;

use crate::prompt::views::{
    ShownArgument, ShownPrompt, ShownResource, ShownServer, ShownTemplate, ShownTool,
};

/// Calls `maker` with views of the lease, which borrow from decoded definitions.
pub fn with_shown_servers<R>(lease: &Lease, maker: impl FnOnce(&[ShownServer<'_>]) -> R) -> R {
    let decoded: Vec<DecodedServer<'_>> =
        lease.catalog().servers().iter().map(DecodedServer::new).collect();
    let mut place = 0;
    let servers: Vec<ShownServer<'_>> = decoded
        .iter()
        .map(|decoded| {
            // The catalog numbers the tools of all servers consecutively.
            let first = place;
            place += decoded.tools.len();
            let name = |tool: usize| lease.catalog().names().get(first + tool).unwrap_or_default();
            decoded.to_shown(name, lease)
        })
        .collect();
    maker(&servers)
}

struct DecodedServer<'a> {
    server: &'a Server,
    command_line: Option<String>,
    trouble: Option<String>,
    tools: Vec<Definition<'a>>,
    resources: Vec<Definition<'a>>,
    templates: Vec<Definition<'a>>,
    prompts: Vec<(Definition<'a>, Vec<PromptArgument>)>,
}

#[derive(serde::Deserialize)]
struct PromptArgument {
    name: String,
    description: Option<String>,
    #[serde(default)]
    required: bool,
}

impl<'a> DecodedServer<'a> {
    fn new(server: &'a Arc<Server>) -> Self {
        let offers = &server.offers;
        let prompt = |item: &'a ListedItem| {
            let about = definition(item);
            let arguments = about.arguments.and_then(|raw| serde_json::from_str(raw.get()).ok());
            (about, arguments.unwrap_or_default())
        };
        // Only the program: arguments may contain secrets.
        let command_line = match server.config.as_ref().map(|config| &config.transport) {
            Some(Transport::Stdio { command, .. }) => Some(command.clone()),
            Some(Transport::Builtin | Transport::Http { .. }) | None => None,
        };
        Self {
            server,
            command_line,
            trouble: server.status.failure().map(|failure| failure.message.clone()),
            tools: offers.tools.iter().map(|tool| tool.definition()).collect(),
            resources: offers.resources.iter().map(definition).collect(),
            templates: offers.templates.iter().map(definition).collect(),
            prompts: offers.prompts.iter().map(prompt).collect(),
        }
    }

    /// Returns the view without the items that rules hide from everyone.
    fn to_shown<'s>(
        &'s self,
        model_name: impl Fn(usize) -> &'s str,
        lease: &Lease,
    ) -> ShownServer<'s> {
        let offers = &self.server.offers;
        let lists = |kind, name: &str| lease.is_listed(kind, self.server.id.as_str(), name);
        let read = |item: &ListedItem| lists(TargetKind::Resource, &item.key);
        let tools = offers.tools.iter().zip(&self.tools).enumerate();
        let tools = tools.filter(|(_, (tool, _))| lists(TargetKind::Tool, tool.name()));
        let resources = offers.resources.iter().zip(&self.resources).filter(|(item, _)| read(item));
        let templates = offers.templates.iter().zip(&self.templates).filter(|(item, _)| read(item));
        let prompts = offers.prompts.iter().zip(&self.prompts);
        let prompts = prompts.filter(|(item, _)| lists(TargetKind::Prompt, &item.key));
        let agreement = self.server.agreement.as_ref();
        ShownServer {
            name: self.server.id.as_str(),
            command_line: self.command_line.as_deref(),
            instructions: agreement.and_then(|agreement| agreement.instructions.as_deref()),
            trouble: self.trouble.as_deref(),
            tools: tools
                .map(|(number, (tool, about))| ShownTool {
                    name: tool.name(),
                    model_name: model_name(number),
                    title: about.title.as_deref(),
                    description: about.description.as_deref(),
                    input_schema: about.input_schema.map(RawValue::get),
                    output_schema: about.output_schema.map(RawValue::get),
                })
                .collect(),
            resources: resources
                .map(|(item, about)| ShownResource {
                    uri: &item.key,
                    name: about.name.as_deref().unwrap_or_default(),
                    description: about.description.as_deref(),
                    mime_type: about.mime_type.as_deref(),
                })
                .collect(),
            templates: templates
                .map(|(item, about)| ShownTemplate {
                    uri_template: &item.key,
                    name: about.name.as_deref().unwrap_or_default(),
                    description: about.description.as_deref(),
                    mime_type: about.mime_type.as_deref(),
                })
                .collect(),
            prompts: prompts
                .map(|(item, (about, arguments))| ShownPrompt {
                    name: &item.key,
                    description: about.description.as_deref(),
                    arguments: arguments
                        .iter()
                        .map(|argument| ShownArgument {
                            name: &argument.name,
                            description: argument.description.as_deref(),
                            required: argument.required,
                        })
                        .collect(),
                })
                .collect(),
        }
    }
}
