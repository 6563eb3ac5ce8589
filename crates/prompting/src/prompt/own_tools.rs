//! The tools of the conversation itself: reading resources, and reading long results in parts.

use crate::prompt::search_tools::tool;
use crate::prompt::views::ShownTool;

/// Reads a resource of a server.
pub const ACCESS_RESOURCE: &str = "access_mcp_resource";
/// Reads a part of a result that was too long to show.
pub const READ_RESULT: &str = "read_result";

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

/// The two tools as views, for models that take definitions.
#[must_use]
pub const fn tools() -> [ShownTool<'static>; 2] {
    [
        tool(
            ACCESS_RESOURCE,
            "Reads one resource of an MCP server; the system prompt lists what there is.",
            ACCESS_SCHEMA,
        ),
        tool(
            READ_RESULT,
            "Reads lines of an earlier result that was too long to show whole, or of an earlier \
             part of this conversation. The name to use stands where the text was cut.",
            READ_SCHEMA,
        ),
    ]
}
