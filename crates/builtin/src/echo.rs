//! The tool `echo`: gives back what it was given, to try out a connection.

use serde_json::{Value, json};

use crate::arguments::ToolArguments;
use crate::content::ToolResult;
use crate::error::ToolRefusal;
use crate::tools;

const MAX_TIMES: u64 = 100;
const MAX_BYTES: usize = 256 * 1024;

pub(crate) fn definition() -> Value {
    json!({
        "name": "echo",
        "title": "Echo",
        "description": "Gives back the text it was given. Useful to try out a connection.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "The text to give back." },
                "times": {
                    "type": "integer", "minimum": 1, "maximum": MAX_TIMES, "default": 1,
                    "description": "How often to repeat it, one line each."
                }
            },
            "required": ["text"],
            "additionalProperties": false
        },
        "annotations": tools::read_only_annotations("Echo")
    })
}

pub(crate) fn run(arguments: &ToolArguments) -> Result<ToolResult, ToolRefusal> {
    let text = arguments.text("text")?;
    let times = usize::try_from(arguments.whole_number("times", 1..=MAX_TIMES, 1)?).unwrap_or(1);
    if text.len().saturating_add(1).saturating_mul(times) > MAX_BYTES {
        let problem = format!("repeated {times} times is longer than {MAX_BYTES} bytes");
        return Err(
            ToolRefusal::parameter("text", &problem).with_hint("shorten `text` or lower `times`")
        );
    }
    Ok(ToolResult::text(vec![text; times].join("\n")))
}
