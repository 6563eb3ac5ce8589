//! The tool `echo`: gives back what it was given, to try out a connection.

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::content::ToolResult;
use crate::error::Refusal;
use crate::tools;

const MOST_TIMES: u64 = 100;
const MOST_BYTES: usize = 256 * 1024;

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
                    "type": "integer", "minimum": 1, "maximum": MOST_TIMES, "default": 1,
                    "description": "How often to repeat it, one line each."
                }
            },
            "required": ["text"],
            "additionalProperties": false
        },
        "annotations": tools::read_only("Echo")
    })
}

pub(crate) fn run(arguments: &Arguments) -> Result<ToolResult, Refusal> {
    let text = arguments.text("text")?;
    let times = usize::try_from(arguments.whole("times", 1..=MOST_TIMES, 1)?).unwrap_or(1);
    if text.len().saturating_add(1).saturating_mul(times) > MOST_BYTES {
        let problem = format!("repeated {times} times is longer than {MOST_BYTES} bytes");
        return Err(Refusal::parameter("text", &problem).hint("shorten `text` or lower `times`"));
    }
    Ok(ToolResult::text(vec![text; times].join("\n")))
}
