//! Writes types and functions as Rust source.

use std::collections::BTreeSet;

use crate::model::{EnumValue, FieldPresence, GeneratedItem, ItemBody, StructField};
use crate::module::ToolFunction;
use crate::text::{comment, line, literal};

/// Maximum number of parameters of a constructor.
const MAX_PARAMETERS: usize = 7;

/// Returns the source of a module.
pub(crate) fn module(
    server: &str,
    functions: &[ToolFunction<'_>],
    items: &[GeneratedItem],
) -> String {
    let mut body = String::new();
    for function in functions {
        body.push('\n');
        body.push_str(&function_text(function));
    }
    let defaults = types_with_default(items);
    for item in items {
        body.push('\n');
        body.push_str(&item_text(item, &defaults));
    }
    let mut text = String::new();
    // The name is put in backticks, which together with its own could begin a code block.
    let named = line(server).replace('`', "'");
    text.push_str(&format!("//! Typed calls of the tools of server `{named}`.\n\
         //!\n\
         //! Made by `switchboard generate rust`; what is changed here is lost when it is made again.\n"));
    text.push('\n');
    text.push_str(&imports(&body));
    let server = literal(server);
    text.push_str("\n/// The server's name in the configuration.\n");
    text.push_str(&format!("pub const SERVER: &str = {server};\n"));
    text.push_str(&body);
    text
}

/// Returns the imports that the module uses. Comments, attributes and strings are ignored, because
/// their text may contain type names.
fn imports(body: &str) -> String {
    let code: Vec<&str> = body
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with("///") && !line.starts_with("#["))
        .map(|line| line.split('"').next().unwrap_or_default())
        .collect();
    let has = |word: &str| code.iter().any(|line| line.contains(word));
    let mut text = String::new();
    if has("BTreeMap<") {
        text.push_str("use std::collections::BTreeMap;\n\n");
    }
    if has("pub struct ") || has("pub enum ") {
        text.push_str("use serde::{Deserialize, Serialize};\n");
    }
    let any = |line: &&str| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == "Value");
    if code.iter().any(any) {
        text.push_str("use serde_json::Value;\n");
    }
    if has("Result<Reply") {
        text.push_str("use switchboard_host::{CallError, Caller, Host, Reply};\n");
    } else if has("pub async fn ") {
        text.push_str("use switchboard_host::{CallError, Caller, Host};\n");
    }
    text
}

fn function_text(function: &ToolFunction<'_>) -> String {
    let tool = function.tool;
    let about = tool.description.as_deref().map(|text| comment(text, "")).unwrap_or_default();
    let mut text = match about.is_empty() {
        true => comment(&format!("Calls the tool {}.", tool.name), ""),
        false => about,
    };
    text.push_str(
        "///\n/// # Errors\n/// When the call does not end with a result, or with one of another shape.\n",
    );
    let (method, result) = match &function.output {
        Some(ty) => ("call_for", ty.to_text()),
        None => ("call_for_content", "Reply".to_owned()),
    };
    let (parameter, given) = match &function.arguments {
        Some(ty) => (format!("\n    arguments: &{},", ty.to_text()), "arguments"),
        None => (String::new(), "&()"),
    };
    let identifier = &function.identifier;
    let name = literal(&tool.name);
    text.push_str(&format!(
        "pub async fn {identifier}(\n    host: &Host,\n    caller: &Caller,{parameter}\n\
         ) -> Result<{result}, CallError> {{\n    \
         host.{method}(caller, SERVER, {name}, {given}).await\n}}\n"
    ));
    text
}

fn item_text(item: &GeneratedItem, defaults: &BTreeSet<&str>) -> String {
    let about = item.docs.as_deref().map(|text| comment(text, "")).unwrap_or_default();
    let mut text = if about.is_empty() { format!("/// {}\n", usual(item)) } else { about };
    let name = &item.name;
    match &item.body {
        ItemBody::Fields(fields) => {
            let default = if defaults.contains(name.as_str()) { "Default, " } else { "" };
            text.push_str(&format!(
                "#[derive(Clone, Debug, {default}PartialEq, Serialize, Deserialize)]\n\
                 pub struct {name} {{\n"
            ));
            fields.iter().for_each(|field| text.push_str(&field_text(field)));
        }
        ItemBody::Words(words) => {
            text.push_str(&format!(
                "#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]\n\
                 pub enum {name} {{\n"
            ));
            words.iter().for_each(|word| text.push_str(&word_text(word)));
        }
        ItemBody::Either(variants) => {
            text.push_str(&format!(
                "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]\n\
                 #[serde(untagged)]\n\
                 pub enum {name} {{\n"
            ));
            for (identifier, ty) in variants {
                let ty = ty.to_text();
                text.push_str(&format!("    /// As `{ty}`.\n    {identifier}({ty}),\n"));
            }
        }
    }
    text.push_str("}\n");
    if let ItemBody::Fields(fields) = &item.body
        && !defaults.contains(name.as_str())
    {
        text.push_str(&constructor(name, fields));
    }
    text
}

fn word_text(word: &EnumValue) -> String {
    let about = word.docs.as_deref().map(|text| comment(text, "    "));
    let about = about
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| comment(&format!("The word {:?}.", word.value), "    "));
    let value = literal(&word.value);
    format!("{about}    #[serde(rename = {value})]\n    {},\n", word.identifier)
}

/// Returns the types that implement `Default`. Items come after the types they contain, unless
/// these are boxed.
fn types_with_default(items: &[GeneratedItem]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for item in items {
        if let ItemBody::Fields(fields) = &item.body
            && fields.iter().all(|field| field.ty.has_default(&found))
        {
            found.insert(item.name.as_str());
        }
    }
    found
}

/// Returns a constructor with the required fields, for a type without `Default` that also has
/// optional ones.
fn constructor(name: &str, fields: &[StructField]) -> String {
    let (required, others): (Vec<&StructField>, Vec<&StructField>) =
        fields.iter().partition(|field| field.presence == FieldPresence::Required);
    if others.is_empty() || required.len() > MAX_PARAMETERS {
        return String::new();
    }
    let parameters: Vec<String> = required
        .iter()
        .map(|field| format!("{}: {}", field.identifier, field.ty.to_text()))
        .collect();
    let given = required.iter().map(|field| field.identifier.clone());
    let empty = others.iter().map(|field| format!("{}: Default::default()", field.identifier));
    let members: Vec<String> = given.chain(empty).collect();
    format!(
        "\nimpl {name} {{\n    /// With what is required, and nothing else.\n    #[must_use]\n    \
         pub fn new({}) -> Self {{\n        Self {{ {} }}\n    }}\n}}\n",
        parameters.join(", "),
        members.join(", ")
    )
}

fn field_text(field: &StructField) -> String {
    let about = field.docs.as_deref().map(|text| comment(text, "    "));
    let about = about
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| comment(&format!("The member {:?}.", field.key), "    "));
    let mut attributes = Vec::new();
    match field.presence {
        FieldPresence::Rest => attributes.push("flatten".to_owned()),
        FieldPresence::Required | FieldPresence::Optional => {
            if field.identifier.trim_start_matches("r#") != field.key {
                attributes.push(format!("rename = {}", literal(&field.key)));
            }
        }
    }
    if field.presence == FieldPresence::Optional {
        attributes.push("default".to_owned());
        attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
    }
    let attribute = match attributes.is_empty() {
        true => String::new(),
        false => format!("    #[serde({})]\n", attributes.join(", ")),
    };
    let identifier = &field.identifier;
    let ty = field.ty.to_text();
    format!("{about}{attribute}    pub {identifier}: {ty},\n")
}

/// Returns the comment of a type whose schema has no description.
fn usual(item: &GeneratedItem) -> &'static str {
    match (&item.body, item.name.ends_with("Arguments"), item.name.ends_with("Output")) {
        (ItemBody::Fields(_), true, _) => "The arguments of a tool.",
        (ItemBody::Fields(_), _, true) => "The structured result of a tool.",
        (ItemBody::Fields(_), false, false) => "An object.",
        (ItemBody::Words(_), ..) => "One of several words.",
        (ItemBody::Either(_), ..) => "One of several types.",
    }
}
