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

/// The vendor whose format the definitions have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vendor {
    OpenAi,
    Anthropic,
    Gemini,
}

impl Vendor {
    /// Returns the maximum number of tools per request, or `None` if no limit is known.
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

/// Tool definitions, and the mapping back to the names of the servers.
#[derive(Debug, Clone)]
pub struct Definitions {
    pub vendor: Vendor,
    /// One definition per tool, in order.
    pub tools: Vec<Value>,
    /// From the shown name to the model name, for tools whose model name the vendor rejects.
    pub names: BTreeMap<String, String>,
    pub renamed: Vec<RenamedKey>,
    /// Tools whose arguments are not an object. Their value is wrapped as `value`.
    pub wrapped: BTreeSet<String>,
}

impl Definitions {
    /// Returns the value of `tools` in a request.
    #[must_use]
    pub fn request_value(&self) -> Value {
        match self.vendor {
            Vendor::Gemini if !self.tools.is_empty() => {
                json!([{ "functionDeclarations": self.tools }])
            }
            _ => Value::Array(self.tools.clone()),
        }
    }

    /// Returns the model name for the name in a call.
    #[must_use]
    pub fn model_name<'a>(&'a self, shown: &'a str) -> &'a str {
        self.names.get(shown).map_or(shown, String::as_str)
    }

    /// Restores the arguments of a call to the names and shape that the server expects.
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

/// Converts every tool of the servers to the vendor's format. No tool is omitted.
#[must_use]
pub fn definitions(
    servers: &[ShownServer<'_>],
    vendor: Vendor,
    options: &PromptOptions,
) -> Definitions {
    define(named_tools(servers), vendor, options)
}

pub(crate) fn definitions_with_own(
    servers: &[ShownServer<'_>],
    vendor: Vendor,
    options: &PromptOptions,
) -> Definitions {
    // Our own tools first: they never change, so the cached prefix survives a change of servers.
    let own = own_tools::conversation_tools();
    let own = own.iter().map(|tool| ("switchboard", tool));
    define(own.chain(named_tools(servers)), vendor, options)
}

fn named_tools<'a>(
    servers: &'a [ShownServer<'_>],
) -> impl Iterator<Item = (&'a str, &'a ShownTool<'a>)> {
    servers.iter().flat_map(|server| server.tools.iter().map(|tool| (server.name, tool)))
}

pub(crate) fn define<'a>(
    tools: impl Iterator<Item = (&'a str, &'a ShownTool<'a>)>,
    vendor: Vendor,
    options: &PromptOptions,
) -> Definitions {
    let tools: Vec<_> = tools.collect();
    // Accepted names are reserved first, so that a generated name cannot shadow another tool.
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
        // Reserve space for the note that `clean` appends to a truncated text.
        let longest =
            options.max_description_chars.min(vendor.max_description_chars().saturating_sub(60));
        let said = clean(tool.description.unwrap_or_default(), longest);
        let description =
            if said.is_empty() { default_description(server, tool.name) } else { said };
        out.tools.push(definition(vendor, &name, &description, schema));
    }
    out
}

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
            // Gemini rejects an object without properties, but accepts absent `parameters`.
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
    // A referenced definition has no path of its own, and a renamed key needs one.
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

/// Removes hidden characters from all strings of a schema, and truncates long descriptions.
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
            // A reference is an address and must not change.
            Value::String(_) if keyword == "$ref" => {}
            other => clean_strings(other, longest),
        }
    }
}

#[cfg(test)]
#[path = "native_tests.rs"]
mod tests;
