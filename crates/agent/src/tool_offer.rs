//! The tools shown to a model in one step, and the mapping from its calls back to targets.

use serde_json::Value;
use switchboard_catalog::Lease;
use switchboard_config::{ChatSettings, McpMode};
use switchboard_prompting::{
    ACCESS_RESOURCE, CALL_TOOL, CallDialect, CallForm, CallMode, DESCRIBE_TOOL, Definitions,
    FIND_TOOLS, FittedPrompt, ModelInfo, NativeCall, ParseError, PromptMode, PromptOptions,
    READ_RESULT, StableOrder, ToolShape, WrittenCall, WrittenTarget, conversation_tools, fit,
    fit_native, read_arguments, search_tools, with_shown_servers,
};
use switchboard_text::nearest_names;

use crate::system;
use crate::turn::{CallKind, ParallelCalls, TurnCall, TurnCallKind};

/// The lease of one step, with the prompt built from it.
#[derive(Clone, Debug)]
pub(crate) struct ToolOffer {
    pub(crate) lease: Lease,
    pub(crate) system: String,
    pub(crate) plan: FittedPrompt,
    pub(crate) native: bool,
    pub(crate) options: PromptOptions,
}

const OWN_TOOLS: [&str; 3] = [FIND_TOOLS, DESCRIBE_TOOL, READ_RESULT];

impl ToolOffer {
    /// Builds the offer of `lease` for a model, within the settings' token budget.
    pub(crate) fn new(
        lease: Lease,
        about: &ModelInfo,
        settings: &ChatSettings,
        several: ParallelCalls,
        order: &mut StableOrder,
    ) -> Self {
        let options = PromptOptions {
            mode: match settings.mcp {
                McpMode::Off => PromptMode::Off,
                McpMode::UseOnly => PromptMode::UseOnly,
                McpMode::Full => PromptMode::Full,
            },
            parallel: several != ParallelCalls::One,
            call_form: match about.calls {
                CallMode::Native(_) => CallForm::Wrapper,
                CallMode::Text(form) => form,
            },
            ..PromptOptions::default()
        };
        // Every request carries the definitions; the rest of the window is for the conversation.
        let budget = settings.prompt_tokens.unwrap_or(about.window / 5);
        let plan = with_shown_servers(&lease, |servers| {
            let mut servers = servers.to_vec();
            // Vendors cache a prompt up to the first byte that differs.
            order.arrange(&mut servers);
            match about.calls {
                CallMode::Native(vendor) => fit_native(&servers, budget, vendor, &options),
                CallMode::Text(_) => fit(&servers, budget, &options),
            }
        });
        let system = system::system_prompt(&plan.text, settings.instructions.as_deref());
        Self { lease, system, plan, native: matches!(about.calls, CallMode::Native(_)), options }
    }

    /// Returns the value of `tools` in a request.
    pub(crate) fn tools(&self) -> Value {
        self.plan.definitions.as_ref().map_or(Value::Null, Definitions::request_value)
    }

    /// Returns the elements to parse as calls, for a model that calls tools in its text.
    pub(crate) fn dialect(&self) -> CallDialect {
        let mut shapes: Vec<ToolShape> = Vec::new();
        let own = conversation_tools();
        let search = search_tools();
        let searching: &[_] = if self.plan.level.has_search_tools() { &search } else { &[] };
        // The dialect has the wrapper elements; these are the tools with elements of their own.
        for tool in own.iter().filter(|tool| tool.name == READ_RESULT).chain(searching) {
            shapes.push(tool_shape(tool.name, tool.input_schema));
        }
        if self.options.call_form == CallForm::ToolTags {
            let catalog = self.lease.catalog();
            for (entry, name) in catalog.tools().zip(catalog.names().iter()) {
                let schema = entry.tool.definition().input_schema.map(|raw| raw.get().to_owned());
                shapes.push(tool_shape(name, schema.as_deref()));
            }
        }
        CallDialect::new().with_tools(shapes)
    }

    /// Resolves a call in the text of an answer.
    pub(crate) fn call_from_text(&self, id: String, call: WrittenCall) -> TurnCall {
        let WrittenCall { target, arguments, .. } = call;
        let (name, what) = match target {
            WrittenTarget::Tool { server, tool } => {
                ("use_mcp_tool".to_owned(), tool_call(server, tool, arguments.clone()))
            }
            WrittenTarget::Resource { server, uri } => {
                (ACCESS_RESOURCE.to_owned(), resource_call(server, uri))
            }
            WrittenTarget::Named { tool } => {
                let what = self.resolve_name(&tool, &arguments);
                (tool, what)
            }
        };
        TurnCall { id, name, arguments, what }
    }

    /// Converts a malformed call in the text into a mistake.
    pub(crate) fn call_from_parse_error(id: String, reason: &ParseError) -> TurnCall {
        TurnCall {
            id,
            name: "call".to_owned(),
            arguments: "{}".to_owned(),
            what: TurnCallKind::Mistake { message: reason.for_model() },
        }
    }

    /// Resolves a native call.
    pub(crate) fn call_from_native(&self, id: String, call: NativeCall) -> TurnCall {
        let id = call.id.unwrap_or(id);
        // An invalid tool name would make vendors reject every later request.
        let name = if is_vendor_safe(&call.name) { call.name } else { vendor_safe(&call.name) };
        let (arguments, what) = match call.arguments {
            Err(reason) => ("{}".to_owned(), TurnCallKind::Mistake { message: reason.for_model() }),
            Ok(arguments) => {
                let what = self.restore_names(&name, &arguments.text);
                (arguments.text, what)
            }
        };
        TurnCall { id, name, arguments, what }
    }

    /// Reverts the changes of names and arguments that the vendor required.
    fn restore_names(&self, name: &str, arguments: &str) -> TurnCallKind {
        let Some(definitions) = &self.plan.definitions else { return self.unknown_tool(name) };
        let changed = definitions.renamed.iter().any(|key| key.tool == name)
            || definitions.wrapped.contains(name);
        let model_name = definitions.model_name(name);
        // Parsing would lose precision of large numbers, so untouched arguments keep their text.
        if !changed {
            return self.resolve_name(model_name, arguments);
        }
        match serde_json::from_str(arguments) {
            Ok(value) => {
                self.resolve_name(model_name, &definitions.restore(name, value).to_string())
            }
            Err(error) => {
                TurnCallKind::Mistake { message: format!("The arguments are not JSON: {error}") }
            }
        }
    }

    fn resolve_name(&self, name: &str, arguments: &str) -> TurnCallKind {
        if OWN_TOOLS.contains(&name) {
            return TurnCallKind::Own;
        }
        match name {
            ACCESS_RESOURCE => {
                let of = |key| text_member(arguments, key);
                match (of("server_name"), of("uri")) {
                    (Some(server), Some(uri)) => resource_call(server, uri),
                    _ => mistaken_call("`access_mcp_resource` needs `server_name` and `uri`"),
                }
            }
            CALL_TOOL => call_tool(arguments),
            _ => {
                let catalog = self.lease.catalog();
                let entry = catalog.names().position(name).and_then(|place| catalog.tool(place));
                match entry {
                    Some(entry) => tool_call(
                        entry.server.id.to_string(),
                        entry.tool.name().to_owned(),
                        arguments.to_owned(),
                    ),
                    None => self.unknown_tool(name),
                }
            }
        }
    }

    fn unknown_tool(&self, name: &str) -> TurnCallKind {
        let near = nearest_names(name, self.lease.catalog().names().iter(), 3);
        let hint = match near.as_slice() {
            [] => String::new(),
            near => format!(" Similar names: `{}`.", near.join("`, `")),
        };
        mistaken_call(&format!("unknown tool `{name}`.{hint}"))
    }
}

/// Returns whether every vendor accepts the name of a tool.
pub(crate) fn is_vendor_safe(name: &str) -> bool {
    !name.is_empty() && vendor_safe(name) == name
}

/// Replaces the characters of a name that not every vendor accepts.
fn vendor_safe(name: &str) -> String {
    // The common denominator of the vendors' APIs: `[a-zA-Z0-9_-]{1,64}`.
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut plain: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(64).collect();
    if plain.is_empty() {
        plain.push('_');
    }
    plain
}

fn mistaken_call(problem: &str) -> TurnCallKind {
    let stop = if problem.ends_with('.') { "" } else { "." };
    TurnCallKind::Mistake { message: format!("Nothing was called: {problem}{stop}") }
}

fn tool_shape(name: &str, schema: Option<&str>) -> ToolShape {
    let schema = schema.and_then(|text| serde_json::from_str(text).ok());
    ToolShape { name: name.to_owned(), schema }
}

fn tool_call(server: String, target: String, arguments: String) -> TurnCallKind {
    TurnCallKind::Call { server, wanted: CallKind::Tool, target, arguments }
}

fn resource_call(server: String, target: String) -> TurnCallKind {
    TurnCallKind::Call { server, wanted: CallKind::Resource, target, arguments: "{}".to_owned() }
}

fn call_tool(arguments: &str) -> TurnCallKind {
    let of = |key| text_member(arguments, key);
    let (Some(server), Some(tool)) = (of("server"), of("tool")) else {
        return mistaken_call("`call_tool` needs `server`, `tool` and `arguments`");
    };
    let inner = serde_json::from_str::<Value>(arguments)
        .ok()
        .and_then(|value| value.get("arguments").cloned())
        .unwrap_or_default();
    let text = match inner {
        Value::Null => "{}".to_owned(),
        // Models often write the object as a JSON string.
        Value::String(text) => text,
        other => other.to_string(),
    };
    match read_arguments(&text) {
        Ok(read) => tool_call(server, tool, read.text),
        Err(reason) => TurnCallKind::Mistake { message: reason.for_model() },
    }
}

pub(crate) fn text_member(arguments: &str, key: &str) -> Option<String> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    value.get(key)?.as_str().map(str::to_owned)
}
