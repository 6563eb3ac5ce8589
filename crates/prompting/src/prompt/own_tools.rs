//! The tools of the conversation: two that read resources and long results, and three that replace
//! a catalog that is too large to show (find, describe, call).

use crate::prompt::native::{Definitions, Vendor, define};
use crate::prompt::options::PromptOptions;
use crate::prompt::parameters;
use crate::prompt::schema::object_schema;
use crate::prompt::views::ShownTool;

/// Name of the tool that reads a resource.
pub const ACCESS_RESOURCE: &str = "access_mcp_resource";
/// Name of the tool that reads a part of a long result.
pub const READ_RESULT: &str = "read_result";
/// Name of the tool that searches tools.
pub const FIND_TOOLS: &str = "find_tools";
/// Name of the tool that shows one tool with its arguments.
pub const DESCRIBE_TOOL: &str = "describe_tool";
/// Name of the tool that runs a tool.
pub const CALL_TOOL: &str = "call_tool";

const ACCESS_SCHEMA: &str = r#"{"type":"object","properties":{
"server_name":{"type":"string","description":"The server, spelled as listed."},
"uri":{"type":"string","description":"The address of the resource, as listed or filled in."}},
"required":["server_name","uri"]}"#;
const READ_SCHEMA: &str = r#"{"type":"object","properties":{
"result":{"type":"string","description":"The name of the long text, such as r3."},
"from_line":{"type":"integer","minimum":1,"default":1,"description":"The first line to read."},
"lines":{"type":"integer","minimum":1,"default":200,"description":"How many lines to read."},
"containing":{"type":"string","description":"Only lines with these words in them."}},
"required":["result"]}"#;
const FIND_SCHEMA: &str = r#"{"type":"object","properties":{
"query":{"type":"string","description":"What the tool should do, in a few words."},
"server":{"type":"string","description":"Look only at this server."},
"limit":{"type":"integer","minimum":1,"maximum":50,"default":8,"description":"How many tools to return."}},
"required":["query"]}"#;
const DESCRIBE_SCHEMA: &str = r#"{"type":"object","properties":{
"server":{"type":"string","description":"The server, spelled as listed or found."},
"tool":{"type":"string","description":"The tool, spelled as listed or found."}},
"required":["server","tool"]}"#;
const CALL_SCHEMA: &str = r#"{"type":"object","properties":{
"server":{"type":"string","description":"The server, spelled as listed or found."},
"tool":{"type":"string","description":"The tool, spelled as listed or found."},
"arguments":{"type":"object","description":"The arguments, as describe_tool shows them."}},
"required":["server","tool","arguments"]}"#;

/// Returns the tools that read resources and long results, for models that take tool definitions.
#[must_use]
pub const fn conversation_tools() -> [ShownTool<'static>; 2] {
    [
        tool(
            ACCESS_RESOURCE,
            "Reads one resource of an MCP server; the system prompt lists what there is.",
            ACCESS_SCHEMA,
        ),
        tool(
            READ_RESULT,
            "Reads lines of an earlier result that was too long to show whole, or of an earlier \
             part of this conversation. The name to use is where the text was cut.",
            READ_SCHEMA,
        ),
    ]
}

/// Returns the three search tools.
#[must_use]
pub const fn search_tools() -> [ShownTool<'static>; 3] {
    [
        tool(
            FIND_TOOLS,
            "Searches all connected MCP servers for tools that do something, best match first.",
            FIND_SCHEMA,
        ),
        tool(
            DESCRIBE_TOOL,
            "Shows the full description of one tool and what arguments it takes. Look here before \
             the first call of a tool.",
            DESCRIBE_SCHEMA,
        ),
        tool(CALL_TOOL, "Runs one tool of one server with the given arguments.", CALL_SCHEMA),
    ]
}

#[must_use]
pub(crate) fn native(vendor: Vendor, options: &PromptOptions) -> Definitions {
    let own = conversation_tools();
    let search = search_tools();
    define(own.iter().chain(&search).map(|tool| ("switchboard", tool)), vendor, options)
}

#[must_use]
pub(crate) fn text(options: &PromptOptions) -> String {
    let mut out = String::from(
        "## Finding tools\n\nThe servers offer more tools than fit here. These three elements find, \
         describe and run any of them; they are written like any other call.\n\n",
    );
    let examples = [
        "<find_tools><query>send an email</query></find_tools>",
        "<describe_tool><server>library</server><tool>find_books</tool></describe_tool>",
        "<call_tool><server>library</server><tool>find_books</tool><arguments>{\"limit\": 3}</arguments></call_tool>",
    ];
    for (tool, example) in search_tools().iter().zip(examples) {
        let said = tool.description.unwrap_or_default();
        let schema = object_schema(tool.input_schema);
        let lines = parameters::lines(&schema, "      ", options.max_description_chars);
        out.push_str(&format!(
            "- `{}`\n    {said}\n    Arguments:\n{lines}    Example: {example}\n",
            tool.name
        ));
    }
    out
}

const fn tool(
    name: &'static str,
    description: &'static str,
    schema: &'static str,
) -> ShownTool<'static> {
    ShownTool {
        name,
        model_name: name,
        title: None,
        description: Some(description),
        input_schema: Some(schema),
        output_schema: None,
    }
}
