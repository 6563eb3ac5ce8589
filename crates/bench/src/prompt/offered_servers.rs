//! The catalog to show: read from a file, or generated.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_catalog::ModelNames;
use switchboard_prompting::{ShownServer, ShownTool};

use crate::error::Result;
use crate::server::definitions;

/// Number of generated servers, and of tools per server.
const MADE_UP: (u64, usize) = (20, 25);

pub(super) struct OfferedServers {
    servers: Vec<OfferedServer>,
    /// Unique name of each tool for the model, in the order of the servers.
    names: Vec<String>,
}

#[derive(Deserialize)]
struct OfferedServer {
    server: String,
    tools: Vec<OfferedTool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfferedTool {
    name: String,
    title: Option<String>,
    description: Option<String>,
    input_schema: Option<Box<RawValue>>,
    output_schema: Option<Box<RawValue>>,
}

impl OfferedServers {
    /// Reads a JSON array of servers: `{"server": name, "tools": [definition, ...]}`.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|cause| format!("cannot read {shown}: {cause}"))?;
        let servers = serde_json::from_str(&text)
            .map_err(|cause| format!("{shown} is not a catalog: {cause}"))?;
        Ok(Self::new(servers))
    }

    pub(super) fn made_up() -> Result<Self> {
        let (servers, tools) = MADE_UP;
        let server = |number: u64| {
            let tools = definitions(tools, number);
            let tools: serde_json::Result<Vec<OfferedTool>> =
                tools.iter().map(|made| serde_json::from_str(&made.definition)).collect();
            Ok(OfferedServer { server: format!("made{number}"), tools: tools? })
        };
        Ok(Self::new((0..servers).map(server).collect::<Result<_>>()?))
    }

    fn new(mut servers: Vec<OfferedServer>) -> Self {
        servers.sort_by(|left, right| left.server.cmp(&right.server));
        let pairs = servers.iter().flat_map(|server| {
            server.tools.iter().map(|tool| (server.server.as_str(), tool.name.as_str()))
        });
        let names = ModelNames::assign(pairs);
        Self { servers, names }
    }

    pub(super) const fn tools(&self) -> usize {
        self.names.len()
    }

    /// Returns the servers as shown to a model, sorted by name.
    pub(super) fn shown_servers(&self) -> Vec<ShownServer<'_>> {
        let mut names = self.names.iter();
        self.servers
            .iter()
            .map(|server| ShownServer {
                name: &server.server,
                tools: server
                    .tools
                    .iter()
                    .zip(names.by_ref())
                    .map(|(tool, model_name)| ShownTool {
                        name: &tool.name,
                        model_name,
                        title: tool.title.as_deref(),
                        description: tool.description.as_deref(),
                        input_schema: tool.input_schema.as_deref().map(RawValue::get),
                        output_schema: tool.output_schema.as_deref().map(RawValue::get),
                    })
                    .collect(),
                ..ShownServer::default()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::OfferedServers;

    #[test]
    fn a_file_is_read_whatever_else_it_holds() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = r#"[
            {"server": "b", "category": "x", "tools": []},
            {"server": "a", "tools": [
                {"name": "t", "inputSchema": {"type": "object"}, "annotations": {}},
                {"name": "u", "description": "Does it."}
            ]}
        ]"#;
        std::fs::write(file.path(), text).unwrap();
        let offered = OfferedServers::read(file.path()).unwrap();
        let shown = offered.shown_servers();
        let tools: Vec<_> = shown
            .iter()
            .flat_map(|server| {
                server.tools.iter().map(|tool| {
                    (server.name, tool.name, tool.model_name, tool.description, tool.input_schema)
                })
            })
            .collect();
        let expected = [
            ("a", "t", "a__t", None, Some(r#"{"type": "object"}"#)),
            ("a", "u", "a__u", Some("Does it."), None),
        ];
        assert_eq!((tools.as_slice(), offered.tools(), shown.len()), (expected.as_slice(), 2, 2));
    }

    #[test]
    fn the_made_up_catalog_has_five_hundred_tools() {
        assert_eq!(OfferedServers::made_up().unwrap().tools(), 500);
    }
}
