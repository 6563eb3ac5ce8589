//! The list of tools, and the way from a name to the function behind it.

use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::content::ToolResult;
use crate::error::{Refusal, RpcError};
use crate::server::{Reply, Surroundings};
use crate::{display_text, echo, list, read, search, time};

/// One tool: what it says about itself and what it does.
#[derive(Clone, Copy)]
pub(crate) struct Tool {
    name: &'static str,
    definition: fn() -> Value,
    run: fn(&Surroundings, &Arguments) -> Result<ToolResult, Refusal>,
}

/// Sorted by name, so that the list is the same each time.
const TOOLS: [Tool; 6] = [
    Tool { name: "echo", definition: echo::definition, run: |_, given| echo::run(given) },
    Tool { name: "files_list", definition: list::definition, run: list::run },
    Tool { name: "files_read", definition: read::definition, run: read::run },
    Tool { name: "files_search", definition: search::definition, run: search::run },
    Tool { name: "time_convert", definition: time::convert_definition, run: time::convert },
    Tool { name: "time_now", definition: time::now_definition, run: time::now },
];

impl Tool {
    /// Runs the tool; whatever goes wrong from here on is a result.
    pub(crate) fn call(self, around: &Surroundings, arguments: Map<String, Value>) -> Reply {
        let result = self
            .checked(arguments)
            .and_then(|arguments| (self.run)(around, &arguments))
            .unwrap_or_else(|refusal| ToolResult::refused(&refusal));
        Reply::new(result.into_body())
    }

    /// The schema that is shown is the one that is held.
    fn checked(self, arguments: Map<String, Value>) -> Result<Arguments, Refusal> {
        let definition = (self.definition)();
        let known = definition.pointer("/inputSchema/properties").and_then(Value::as_object);
        let known: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
        Arguments::checked(arguments, &known)
    }
}

/// The tool of that name.
pub(crate) fn find(name: &str) -> Result<Tool, RpcError> {
    TOOLS.into_iter().find(|tool| tool.name == name).ok_or_else(|| {
        RpcError::invalid(format!(
            "there is no tool `{}`; see `tools/list`",
            display_text::brief(name)
        ))
    })
}

/// What `tools/list` shows.
pub(crate) fn definitions() -> Value {
    TOOLS.iter().map(|tool| (tool.definition)()).collect()
}

/// The annotations of a tool that only looks, and only at this machine.
pub(crate) fn read_only(title: &str) -> Value {
    json!({
        "title": title,
        "readOnlyHint": true,
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false
    })
}
