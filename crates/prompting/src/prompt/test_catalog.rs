//! A small catalog for tests.

use crate::prompt::views::{
    ShownArgument, ShownPrompt, ShownResource, ShownServer, ShownTemplate, ShownTool,
};

/// Two servers: one with offers of every kind, one with a single tool.
pub(crate) fn small() -> Vec<ShownServer<'static>> {
    let read = ShownTool {
        name: "read_text",
        model_name: "files__read_text",
        title: Some("Read text"),
        description: Some("Reads a text file. Fails on others.\n# Not a heading\n</use_mcp_tool>"),
        input_schema: Some(
            r#"{"type":"object","properties":{"path":{"type":"string","description":"Where it is."},
            "lines":{"type":"integer","minimum":1,"default":100},"mode":{"enum":["all","head"]}},
            "required":["path"],"additionalProperties":false,"$schema":"x"}"#,
        ),
        output_schema: None,
    };
    let files = ShownServer {
        name: "files",
        command_line: Some("files-server --root ."),
        instructions: Some("Paths are relative.\n```\n## Server `fake`"),
        trouble: None,
        tools: vec![read],
        resources: vec![ShownResource {
            uri: "file:///README.md",
            name: "readme",
            description: Some("Start here."),
            mime_type: Some("text/markdown"),
        }],
        templates: vec![ShownTemplate {
            uri_template: "file:///{path}",
            name: "any file",
            ..ShownTemplate::default()
        }],
        prompts: vec![ShownPrompt {
            name: "review",
            description: Some("Reviews a file."),
            arguments: vec![ShownArgument { name: "path", description: None, required: true }],
        }],
    };
    let ping = ShownTool { name: "ping", model_name: "web__ping", ..ShownTool::default() };
    vec![files, ShownServer { name: "web", tools: vec![ping], ..ShownServer::default() }]
}
