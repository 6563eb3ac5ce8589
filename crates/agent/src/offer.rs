//! What a model is shown at one step, and the way back from what it asks for.

use serde_json::Value;
use switchboard_catalog::Lease;
use switchboard_config::{ChatSettings, McpMode};
use switchboard_prompting::prompt::{own_tools, search_tools};
use switchboard_prompting::{
    ACCESS_RESOURCE, About, CALL_TOOL, CallForm, Calls, DESCRIBE_TOOL, Definitions, Dialect,
    FIND_TOOLS, Mode, NativeCall, Options, ParseError, Plan, READ_RESULT, StableOrder, ToolShape,
    WrittenCall, WrittenTarget, fit, fit_native, read_arguments, shown,
};
use switchboard_text::nearest;

use crate::system;
use crate::turn::{Asked, Several, WantedKind, What};

/// The lease of one step and what the model is shown of it.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) lease: Lease,
    pub(crate) system: String,
    pub(crate) plan: Plan,
    pub(crate) native: bool,
    pub(crate) options: Options,
}

/// The conversation's own tools; all others belong to servers.
const OWN: [&str; 3] = [FIND_TOOLS, DESCRIBE_TOOL, READ_RESULT];

impl Offer {
    /// What `about` is shown of `lease`, within the budget of the settings.
    pub(crate) fn make(
        lease: Lease,
        about: &About,
        settings: &ChatSettings,
        several: Several,
        order: &mut StableOrder,
    ) -> Self {
        let options = Options {
            mode: match settings.mcp {
                McpMode::Off => Mode::Off,
                McpMode::UseOnly => Mode::UseOnly,
                McpMode::Full => Mode::Full,
            },
            parallel: several != Several::One,
            call_form: match about.calls {
                Calls::Native(_) => CallForm::Wrapper,
                Calls::Text(form) => form,
            },
            ..Options::default()
        };
        let budget = settings.prompt_tokens.unwrap_or(about.window / 5);
        let plan = shown(&lease, |servers| {
            let mut servers = servers.to_vec();
            order.arrange(&mut servers);
            match about.calls {
                Calls::Native(vendor) => fit_native(&servers, budget, vendor, &options),
                Calls::Text(_) => fit(&servers, budget, &options),
            }
        });
        let system = system::prompt(&plan.text, settings.instructions.as_deref());
        Self { lease, system, plan, native: matches!(about.calls, Calls::Native(_)), options }
    }

    /// What goes under `tools` in a request.
    pub(crate) fn tools(&self) -> Value {
        self.plan.definitions.as_ref().map_or(Value::Null, Definitions::request_value)
    }

    /// Which elements are calls, for a model that calls in text.
    pub(crate) fn dialect(&self) -> Dialect {
        let mut shapes: Vec<ToolShape> = Vec::new();
        let own = own_tools::tools();
        let search = search_tools::tools();
        let searching: &[_] = if self.plan.level.searches() { &search } else { &[] };
        for tool in own.iter().filter(|tool| tool.name == READ_RESULT).chain(searching) {
            shapes.push(shape(tool.name, tool.input_schema));
        }
        if self.options.call_form == CallForm::ToolTags {
            let catalog = self.lease.catalog();
            for (entry, name) in catalog.tools().zip(catalog.names().iter()) {
                let schema = entry.tool.definition().input_schema.map(|raw| raw.get().to_owned());
                shapes.push(shape(name, schema.as_deref()));
            }
        }
        Dialect::new().with_tools(shapes)
    }

    /// What a call in the text of an answer means.
    pub(crate) fn written(&self, id: String, call: WrittenCall) -> Asked {
        let WrittenCall { target, arguments, .. } = call;
        let (name, what) = match target {
            WrittenTarget::Tool { server, tool } => {
                ("use_mcp_tool".to_owned(), tool_call(server, tool, arguments.clone()))
            }
            WrittenTarget::Resource { server, uri } => {
                (ACCESS_RESOURCE.to_owned(), resource_call(server, uri))
            }
            WrittenTarget::Named { tool } => {
                let what = self.named(&tool, &arguments);
                (tool, what)
            }
        };
        Asked { id, name, arguments, what }
    }

    /// What was meant as a call in the text and cannot be one.
    pub(crate) fn refused(id: String, reason: &ParseError) -> Asked {
        Asked {
            id,
            name: "call".to_owned(),
            arguments: "{}".to_owned(),
            what: What::Mistake { message: reason.for_model() },
        }
    }

    /// What a call through the vendor's API means.
    pub(crate) fn native(&self, id: String, call: NativeCall) -> Asked {
        let id = call.id.unwrap_or(id);
        // A name that no vendor takes would spoil every later request.
        let name = if is_plain(&call.name) { call.name } else { plain(&call.name) };
        match call.arguments {
            Err(reason) => Asked {
                id,
                name,
                arguments: "{}".to_owned(),
                what: What::Mistake { message: reason.for_model() },
            },
            Ok(arguments) => {
                let what = self.restored(&name, &arguments.text);
                Asked { id, name, arguments: arguments.text, what }
            }
        }
    }

    /// Undoes what was changed about names and arguments to please the vendor.
    fn restored(&self, name: &str, arguments: &str) -> What {
        let Some(definitions) = &self.plan.definitions else { return self.unknown(name) };
        let changed = definitions.renamed.iter().any(|key| key.tool == name)
            || definitions.wrapped.contains(name);
        let model_name = definitions.model_name(name);
        if !changed {
            return self.named(model_name, arguments);
        }
        match serde_json::from_str(arguments) {
            Ok(value) => self.named(model_name, &definitions.restore(name, value).to_string()),
            Err(error) => {
                What::Mistake { message: format!("The arguments cannot be read: {error}") }
            }
        }
    }

    /// What a name among all tools stands for.
    fn named(&self, name: &str, arguments: &str) -> What {
        if OWN.contains(&name) {
            return What::Own;
        }
        match name {
            ACCESS_RESOURCE => {
                let of = |key| text_member(arguments, key);
                match (of("server_name"), of("uri")) {
                    (Some(server), Some(uri)) => resource_call(server, uri),
                    _ => mistake("`access_mcp_resource` needs `server_name` and `uri`"),
                }
            }
            CALL_TOOL => call_tool(arguments),
            _ => {
                let catalog = self.lease.catalog();
                let entry = catalog.names().index_of(name).and_then(|place| catalog.tool(place));
                match entry {
                    Some(entry) => tool_call(
                        entry.server.id.to_string(),
                        entry.tool.name().to_owned(),
                        arguments.to_owned(),
                    ),
                    None => self.unknown(name),
                }
            }
        }
    }

    fn unknown(&self, name: &str) -> What {
        let near = nearest(name, self.lease.catalog().names().iter(), 3);
        let hint = match near.as_slice() {
            [] => String::new(),
            near => format!(" Names that come close: `{}`.", near.join("`, `")),
        };
        mistake(&format!("there is no tool `{name}`.{hint}"))
    }
}

/// Whether every vendor takes the name of a tool.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && plain(name) == name
}

/// The name as every vendor takes it.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut plain: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(64).collect();
    if plain.is_empty() {
        plain.push('_');
    }
    plain
}

fn mistake(problem: &str) -> What {
    let stop = if problem.ends_with('.') { "" } else { "." };
    What::Mistake { message: format!("Nothing was called: {problem}{stop}") }
}

fn shape(name: &str, schema: Option<&str>) -> ToolShape {
    let schema = schema.and_then(|text| serde_json::from_str(text).ok());
    ToolShape { name: name.to_owned(), schema }
}

fn tool_call(server: String, target: String, arguments: String) -> What {
    What::Call { server, wanted: WantedKind::Tool, target, arguments }
}

fn resource_call(server: String, target: String) -> What {
    What::Call { server, wanted: WantedKind::Resource, target, arguments: "{}".to_owned() }
}

/// `call_tool` names a tool of a server; its arguments may come as an object or as its text.
fn call_tool(arguments: &str) -> What {
    let of = |key| text_member(arguments, key);
    let (Some(server), Some(tool)) = (of("server"), of("tool")) else {
        return mistake("`call_tool` needs `server`, `tool` and `arguments`");
    };
    let inner = serde_json::from_str::<Value>(arguments)
        .ok()
        .and_then(|value| value.get("arguments").cloned())
        .unwrap_or_default();
    let text = match inner {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text,
        other => other.to_string(),
    };
    match read_arguments(&text) {
        Ok(read) => tool_call(server, tool, read.text),
        Err(reason) => What::Mistake { message: reason.for_model() },
    }
}

pub(crate) fn text_member(arguments: &str, key: &str) -> Option<String> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    value.get(key)?.as_str().map(str::to_owned)
}
