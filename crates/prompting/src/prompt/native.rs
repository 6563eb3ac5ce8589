//! Tool definitions for vendors whose models call tools through the API.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::prompt::clean::{clean, clean_line, remove_hidden};
use crate::prompt::inline::{has_references, inline};
use crate::prompt::keys::{Alphabet, KeyTable, RenamedKey};
use crate::prompt::options::PromptOptions;
use crate::prompt::schema::{WRAPPER_ARGUMENT, object_schema};
use crate::prompt::views::{ShownServer, ShownTool};
use crate::prompt::{gemini, keys, own_tools};

/// Whose form the definitions take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vendor {
    /// OpenAI and everything that speaks like it.
    OpenAi,
    Anthropic,
    Gemini,
}

impl Vendor {
    /// The most tools one request may hold; nothing where no limit is known.
    #[must_use]
    pub const fn max_tools(self) -> Option<usize> {
        match self {
            Self::OpenAi | Self::Gemini => Some(128),
            Self::Anthropic => None,
        }
    }

    const fn max_description_chars(self) -> usize {
        match self {
            Self::OpenAi => 1_024,
            Self::Anthropic | Self::Gemini => usize::MAX,
        }
    }

    const fn alphabet(self) -> Alphabet {
        match self {
            Self::OpenAi | Self::Anthropic => Alphabet::Dotted,
            Self::Gemini => Alphabet::Plain,
        }
    }

    fn accepts_tool_name(self, name: &str) -> bool {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        (1..=64).contains(&name.len())
            && name.chars().all(fine)
            && !(self == Self::Gemini
                && name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_'))
    }
}

/// Tool definitions and the way back to the names the servers use.
#[derive(Debug, Clone)]
pub struct Definitions {
    /// The vendor they are for.
    pub vendor: Vendor,
    /// One definition per tool, in the order of the tools.
    pub tools: Vec<Value>,
    /// Tools whose model name the vendor refuses: from the shown to the given name.
    pub names: BTreeMap<String, String>,
    /// Arguments whose name the vendor refuses.
    pub renamed: Vec<RenamedKey>,
    /// Tools whose arguments are not an object and stand under `value`.
    pub wrapped: BTreeSet<String>,
}

impl Definitions {
    /// What goes under `tools` in a request.
    #[must_use]
    pub fn request_value(&self) -> Value {
        match self.vendor {
            Vendor::Gemini if !self.tools.is_empty() => {
                json!([{ "functionDeclarations": self.tools }])
            }
            _ => Value::Array(self.tools.clone()),
        }
    }

    /// The model name behind the name in a call.
    #[must_use]
    pub fn model_name<'a>(&'a self, shown: &'a str) -> &'a str {
        self.names.get(shown).map_or(shown, String::as_str)
    }

    /// The arguments of a call as the server expects them.
    #[must_use]
    pub fn restore(&self, shown: &str, arguments: Value) -> Value {
        let renamed: Vec<&RenamedKey> =
            self.renamed.iter().filter(|key| key.tool == shown).collect();
        let mut restored = keys::restore(&renamed, arguments, "");
        if self.wrapped.contains(shown)
            && let Some(inner) = restored.get_mut(WRAPPER_ARGUMENT)
        {
            return inner.take();
        }
        restored
    }
}

/// Defines every tool of the servers in the vendor's form. No tool is left out.
#[must_use]
pub fn definitions(
    servers: &[ShownServer<'_>],
    vendor: Vendor,
    options: &PromptOptions,
) -> Definitions {
    define(named_tools(servers), vendor, options)
}

/// The same, and before them the tools of the conversation itself.
pub(crate) fn definitions_with_own(
    servers: &[ShownServer<'_>],
    vendor: Vendor,
    options: &PromptOptions,
) -> Definitions {
    let own = own_tools::conversation_tools();
    let own = own.iter().map(|tool| ("switchboard", tool));
    define(own.chain(named_tools(servers)), vendor, options)
}

fn named_tools<'a>(
    servers: &'a [ShownServer<'_>],
) -> impl Iterator<Item = (&'a str, &'a ShownTool<'a>)> {
    servers.iter().flat_map(|server| server.tools.iter().map(|tool| (server.name, tool)))
}

/// Defines tools that are given with the name of their server.
pub(crate) fn define<'a>(
    tools: impl Iterator<Item = (&'a str, &'a ShownTool<'a>)>,
    vendor: Vendor,
    options: &PromptOptions,
) -> Definitions {
    let tools: Vec<_> = tools.collect();
    let mut taken: BTreeSet<String> = tools
        .iter()
        .map(|(_, tool)| tool.model_name)
        .filter(|name| vendor.accepts_tool_name(name))
        .map(str::to_owned)
        .collect();
    let mut out = Definitions {
        vendor,
        tools: Vec::with_capacity(tools.len()),
        names: BTreeMap::new(),
        renamed: Vec::new(),
        wrapped: BTreeSet::new(),
    };
    for (server, tool) in tools {
        let mut name = tool.model_name.to_owned();
        if !vendor.accepts_tool_name(&name) {
            name = Alphabet::Plain.nearest(&name, |name| taken.contains(name));
            taken.insert(name.clone());
            out.names.insert(name.clone(), tool.model_name.to_owned());
        }
        let schema = parameters(&mut out, &name, tool, options);
        let longest =
            options.max_description_chars.min(vendor.max_description_chars().saturating_sub(60));
        let said = clean(tool.description.unwrap_or_default(), longest);
        let description =
            if said.is_empty() { default_description(server, tool.name) } else { said };
        out.tools.push(definition(vendor, &name, &description, schema));
    }
    out
}

/// What is said of a tool that says nothing of itself.
pub(crate) fn default_description(server: &str, tool: &str) -> String {
    let server = clean_line(server, 200);
    let tool = clean_line(tool, 200);
    format!("Runs the tool \"{tool}\" of the server \"{server}\".")
}

fn definition(vendor: Vendor, name: &str, description: &str, schema: Value) -> Value {
    match vendor {
        Vendor::OpenAi => json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": schema },
        }),
        Vendor::Anthropic => {
            json!({ "name": name, "description": description, "input_schema": schema })
        }
        Vendor::Gemini => {
            let mut out = json!({ "name": name, "description": description });
            // Gemini refuses an object without properties here; leaving it out means no arguments.
            if schema.get("properties").is_some()
                && let Some(fields) = out.as_object_mut()
            {
                fields.insert("parameters".to_owned(), schema);
            }
            out
        }
    }
}

fn parameters(
    out: &mut Definitions,
    name: &str,
    tool: &ShownTool<'_>,
    options: &PromptOptions,
) -> Value {
    let read = object_schema(tool.input_schema);
    if read.wrapped {
        out.wrapped.insert(name.to_owned());
    }
    let vendor = out.vendor;
    let mut schema = read.schema;
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
    }
    let rename = !vendor.alphabet().accepts_all(&schema);
    if (vendor == Vendor::Gemini || rename) && has_references(&schema) {
        schema = inline(&schema);
    }
    if rename {
        let mut table = KeyTable::new(vendor.alphabet());
        table.rename(&mut schema, "");
        out.renamed.extend(table.renamed_keys(name));
    }
    clean_strings(&mut schema, options.max_description_chars);
    if vendor == Vendor::Gemini { gemini::to_gemini_subset(&schema) } else { schema }
}

/// Removes hidden characters from every text in a schema and cuts long descriptions.
pub(crate) fn clean_strings(schema: &mut Value, longest: usize) {
    match schema {
        Value::Object(fields) => clean_fields(fields, longest),
        Value::Array(items) => {
            for item in items {
                clean_strings(item, longest);
            }
        }
        Value::String(text) => *text = remove_hidden(text),
        _ => {}
    }
}

fn clean_fields(fields: &mut Map<String, Value>, longest: usize) {
    for (keyword, value) in fields.iter_mut() {
        match value {
            Value::String(text) if matches!(keyword.as_str(), "description" | "title") => {
                *text = clean(text, longest);
            }
            // A reference is an address and must stay as it is.
            Value::String(_) if keyword == "$ref" => {}
            other => clean_strings(other, longest),
        }
    }
}

#[cfg(test)]
#[path = "native_tests.rs"]
mod tests;
