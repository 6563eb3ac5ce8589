//! The list of tools, and the dispatch by name.

use serde_json::{Map, Value, json};

use crate::arguments::ToolArguments;
use crate::content::ToolResult;
use crate::error::{BuiltinRpcError, ToolRefusal};
use crate::server::{BuiltinReply, ToolContext};
use crate::{display_text, list, read, search, time};

const MAX_ECHO_TIMES: u64 = 100;
const MAX_ECHO_BYTES: usize = 256 * 1024;

#[derive(Clone, Copy)]
pub(crate) struct BuiltinTool {
    name: &'static str,
    definition: fn() -> Value,
    run: fn(&ToolContext, &ToolArguments) -> Result<ToolResult, ToolRefusal>,
}

/// The tools, sorted by name, so that the list is stable.
const TOOLS: [BuiltinTool; 6] = [
    BuiltinTool { name: "echo", definition: echo_definition, run: echo },
    BuiltinTool { name: "files_list", definition: list::definition, run: list::run },
    BuiltinTool { name: "files_read", definition: read::definition, run: read::run },
    BuiltinTool { name: "files_search", definition: search::definition, run: search::run },
    BuiltinTool { name: "time_convert", definition: time::convert_definition, run: time::convert },
    BuiltinTool { name: "time_now", definition: time::now_definition, run: time::now },
];

impl BuiltinTool {
    pub(crate) fn call(self, around: &ToolContext, arguments: Map<String, Value>) -> BuiltinReply {
        // A refusal is a result, because models do not see protocol errors.
        let result = self
            .check_arguments(arguments)
            .and_then(|arguments| (self.run)(around, &arguments))
            .unwrap_or_else(|refusal| ToolResult::from_refusal(&refusal));
        BuiltinReply::new(result.into_body())
    }

    /// Rejects arguments that the published schema does not declare.
    fn check_arguments(self, arguments: Map<String, Value>) -> Result<ToolArguments, ToolRefusal> {
        let definition = (self.definition)();
        let known = definition.pointer("/inputSchema/properties").and_then(Value::as_object);
        let known: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
        ToolArguments::parse(arguments, &known)
    }
}

pub(crate) fn find(name: &str) -> Result<BuiltinTool, BuiltinRpcError> {
    TOOLS.into_iter().find(|tool| tool.name == name).ok_or_else(|| {
        let name = display_text::brief(name);
        BuiltinRpcError::invalid_params(format!("unknown tool `{name}`; see `tools/list`"))
    })
}

pub(crate) fn definitions() -> Value {
    TOOLS.iter().map(|tool| (tool.definition)()).collect()
}

/// Returns the annotations of a tool that only reads, and only on this machine.
pub(crate) fn read_only_annotations(title: &str) -> Value {
    json!({
        "title": title,
        "readOnlyHint": true,
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false
    })
}

fn echo_definition() -> Value {
    json!({
        "name": "echo",
        "title": "Echo",
        "description": "Returns the given text. Useful for testing a connection.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "The text to return." },
                "times": {
                    "type": "integer", "minimum": 1, "maximum": MAX_ECHO_TIMES, "default": 1,
                    "description": "Number of repetitions, one per line."
                }
            },
            "required": ["text"],
            "additionalProperties": false
        },
        "annotations": read_only_annotations("Echo")
    })
}

fn echo(_: &ToolContext, arguments: &ToolArguments) -> Result<ToolResult, ToolRefusal> {
    let text = arguments.text("text")?;
    let times =
        usize::try_from(arguments.whole_number("times", 1..=MAX_ECHO_TIMES, 1)?).unwrap_or(1);
    // Before the text is built: a small request must not allocate a large result.
    if text.len().saturating_add(1).saturating_mul(times) > MAX_ECHO_BYTES {
        let problem = format!("repeated {times} times is longer than {MAX_ECHO_BYTES} bytes");
        return Err(
            ToolRefusal::parameter("text", &problem).with_hint("shorten `text` or lower `times`")
        );
    }
    Ok(ToolResult::text(vec![text; times].join("\n")))
}
