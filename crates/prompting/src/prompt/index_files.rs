//! The catalog as files that a model reads on demand.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::prompt::clean::{clean, clean_line, code_span, wrap_in_fence};
use crate::prompt::native::{clean_strings, default_description};
use crate::prompt::options::PromptOptions;
use crate::prompt::views::{ShownArgument, ShownPrompt, ShownServer, ShownTool};

// Leaves space for a digest, a number and `.json` below the 255 bytes of most file systems.
const MAX_NAME_LEN: usize = 96;

/// A file of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFile {
    /// Path relative to the index folder, separated by `/`.
    pub path: String,
    pub contents: String,
}

/// Paths of the files of a server, relative to the index folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexPlaces {
    pub folder: String,
    pub tools: Vec<String>,
    /// Resources first, then resource templates.
    pub resources: Vec<String>,
    pub prompts: Vec<String>,
}

/// Returns the file paths for each server.
#[must_use]
pub fn index_places(servers: &[ShownServer<'_>]) -> Vec<IndexPlaces> {
    let mut folders = BTreeSet::new();
    let mut all = Vec::new();
    for server in servers {
        let folder = format!("mcps/{}", file_name(server.name, &mut folders));
        let named = |part: &str, names: Vec<&str>| {
            let mut taken = BTreeSet::new();
            let path = |name| format!("{folder}/{part}/{}.json", file_name(name, &mut taken));
            names.into_iter().map(path).collect()
        };
        let resources = server.resources.iter().map(|resource| resource.uri);
        let templates = server.templates.iter().map(|template| template.uri_template);
        all.push(IndexPlaces {
            tools: named("tools", server.tools.iter().map(|tool| tool.name).collect()),
            resources: named("resources", resources.chain(templates).collect()),
            prompts: named("prompts", server.prompts.iter().map(|prompt| prompt.name).collect()),
            folder,
        });
    }
    all
}

/// Renders a catalog as files: `mcps/{server}/tools/{tool}.json`, the same for `resources` and
/// `prompts`, `SERVER_METADATA.json`, and `INSTRUCTIONS.md` and `STATUS.md` if they have content.
///
/// File names are safe on every file system. A name that had to change ends with a digest of the
/// original, which is in the file.
#[must_use]
pub fn index_files(servers: &[ShownServer<'_>], options: &PromptOptions) -> Vec<IndexFile> {
    let mut files = Vec::new();
    for (server, places) in servers.iter().zip(index_places(servers)) {
        let folder = &places.folder;
        let about = json!({ "serverIdentifier": server.name, "serverName": server.name });
        let contents = format!("{about:#}\n");
        files.push(IndexFile { path: format!("{folder}/SERVER_METADATA.json"), contents });
        let said = clean(server.instructions.unwrap_or_default(), options.max_instruction_chars);
        if !said.is_empty() {
            let contents = format!(
                "# Notes of the server {}\n\nThese are the server's own words, not the user's.\n\n{}",
                code_span(server.name),
                wrap_in_fence(&said)
            );
            files.push(IndexFile { path: format!("{folder}/INSTRUCTIONS.md"), contents });
        }
        if let Some(trouble) = server.trouble {
            let trouble = clean_line(trouble, options.max_description_chars);
            let contents = format!(
                "# Status of the server {}\n\n{trouble}\n\nIts tools may not work. If the task needs them, \
                 tell the user what is wrong; otherwise find another way.\n",
                code_span(server.name)
            );
            files.push(IndexFile { path: format!("{folder}/STATUS.md"), contents });
        }
        for (tool, path) in server.tools.iter().zip(places.tools) {
            files.push(IndexFile { path, contents: tool_file(server.name, tool, options) });
        }
        for (contents, path) in resource_files(server, options).into_iter().zip(places.resources) {
            files.push(IndexFile { path, contents });
        }
        for (prompt, path) in server.prompts.iter().zip(places.prompts) {
            files.push(IndexFile { path, contents: prompt_file(prompt, options) });
        }
    }
    files
}

fn tool_file(server: &str, tool: &ShownTool<'_>, options: &PromptOptions) -> String {
    let said = clean(tool.description.unwrap_or_default(), options.max_description_chars);
    let said = if said.is_empty() { default_description(server, tool.name) } else { said };
    let read = |text: Option<&str>| {
        let mut schema: Value = text.and_then(|text| serde_json::from_str(text).ok())?;
        clean_strings(&mut schema, options.max_description_chars);
        Some(schema)
    };
    let arguments = read(tool.input_schema).unwrap_or_else(|| json!({}));
    let mut file = json!({ "name": tool.name, "description": said, "arguments": arguments });
    if let (Some(output), Some(fields)) = (read(tool.output_schema), file.as_object_mut()) {
        fields.insert("outputSchema".to_owned(), output);
    }
    format!("{file:#}\n")
}

fn resource_files(server: &ShownServer<'_>, options: &PromptOptions) -> Vec<String> {
    let said = |text: Option<&str>| clean(text.unwrap_or_default(), options.max_description_chars);
    let line = |text: &str| clean_line(text, options.max_description_chars);
    let file = |key: &str, address: &str, name, about, mime: Option<&str>| {
        let mut file = json!({ key: address, "name": line(name), "description": said(about) });
        if let (Some(mime), Some(fields)) = (mime, file.as_object_mut()) {
            fields.insert("mimeType".to_owned(), json!(line(mime)));
        }
        format!("{file:#}\n")
    };
    let resources = server
        .resources
        .iter()
        .map(|one| file("uri", one.uri, one.name, one.description, one.mime_type));
    let templates = server
        .templates
        .iter()
        .map(|one| file("uriTemplate", one.uri_template, one.name, one.description, one.mime_type));
    resources.chain(templates).collect()
}

/// Renders a prompt with a schema of its arguments, which are all strings.
fn prompt_file(prompt: &ShownPrompt<'_>, options: &PromptOptions) -> String {
    let said = |text: Option<&str>| clean(text.unwrap_or_default(), options.max_description_chars);
    let property = |argument: &ShownArgument<'_>| {
        let about = json!({ "type": "string", "description": said(argument.description) });
        (argument.name.to_owned(), about)
    };
    let properties: Map<String, Value> = prompt.arguments.iter().map(property).collect();
    let required = prompt.arguments.iter().filter(|argument| argument.required);
    let required: Vec<&str> = required.map(|argument| argument.name).collect();
    let arguments = json!({ "type": "object", "properties": properties, "required": required });
    let about = said(prompt.description);
    let file = json!({ "name": prompt.name, "description": about, "arguments": arguments });
    format!("{file:#}\n")
}

/// Returns a safe and unused path component for a name.
fn file_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut safe: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .take(MAX_NAME_LEN)
        .collect();
    // No hidden files, no `..`, and Windows drops a trailing dot.
    safe = safe.trim_matches('.').to_owned();
    if safe.is_empty() || is_reserved(&safe) {
        safe.insert(0, '_');
    }
    // Names that differ only in case are one file on Windows and macOS.
    if safe != name || taken.contains(&safe.to_ascii_lowercase()) {
        safe = format!("{safe}-{:08x}", digest(name));
    }
    let base = safe.clone();
    let mut number = 2_u32;
    while !taken.insert(safe.to_ascii_lowercase()) {
        safe = format!("{base}-{number}");
        number += 1;
    }
    safe
}

/// Returns whether a name is a device on Windows, with or without an extension.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered = ["com", "lpt"].iter().any(|device| {
        stem.strip_prefix(device)
            .is_some_and(|rest| rest.len() == 1 && rest.chars().all(|c| c.is_ascii_digit()))
    });
    numbered || matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
}

// FNV-1a. It only distinguishes names, so it need not be cryptographic.
fn digest(text: &str) -> u32 {
    text.bytes()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{IndexFile, file_name, index_files};
    use crate::prompt::options::PromptOptions;
    use crate::prompt::views::{
        ShownArgument, ShownPrompt, ShownResource, ShownServer, ShownTemplate, ShownTool,
    };

    #[test]
    fn resources_and_prompts_have_files_beside_those_of_tools() {
        let mime_type = Some("text/plain");
        let argument = ShownArgument { name: "who", required: true, ..ShownArgument::default() };
        let server = ShownServer {
            name: "s",
            resources: vec![ShownResource {
                uri: "note://a/b",
                name: "a",
                description: Some("A note."),
                mime_type,
            }],
            templates: vec![ShownTemplate {
                uri_template: "note://{id}",
                name: "any",
                ..ShownTemplate::default()
            }],
            prompts: vec![ShownPrompt {
                name: "greet",
                description: Some("Greets."),
                arguments: vec![argument],
            }],
            ..ShownServer::default()
        };
        let files = index_files(&[server], &PromptOptions::default());
        let shown: Vec<(String, serde_json::Value)> = files
            .into_iter()
            .map(|file| (file.path, serde_json::from_str(&file.contents).unwrap()))
            .collect();
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"who": {"type": "string", "description": ""}},
            "required": ["who"],
        });
        let expected = [
            (
                "mcps/s/SERVER_METADATA.json",
                serde_json::json!({"serverIdentifier": "s", "serverName": "s"}),
            ),
            (
                "mcps/s/resources/note___a_b-39e0bf2b.json",
                serde_json::json!({
                    "uri": "note://a/b",
                    "name": "a",
                    "description": "A note.",
                    "mimeType": "text/plain",
                }),
            ),
            (
                "mcps/s/resources/note____id_-a23c6818.json",
                serde_json::json!({"uriTemplate": "note://{id}", "name": "any", "description": ""}),
            ),
            (
                "mcps/s/prompts/greet.json",
                serde_json::json!({"name": "greet", "description": "Greets.", "arguments": schema}),
            ),
        ];
        let expected = expected.map(|(path, contents)| (path.to_owned(), contents));
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_server_becomes_a_folder_with_a_file_per_tool() {
        let tool = ShownTool {
            name: "add",
            description: Some("Adds."),
            input_schema: Some(r#"{"type":"object"}"#),
            output_schema: Some(r#"{"type":"number"}"#),
            ..ShownTool::default()
        };
        let bare = ShownTool { name: "nothing", ..ShownTool::default() };
        let server = ShownServer {
            name: "sums",
            instructions: Some("Be exact."),
            trouble: Some("It needs a login."),
            tools: vec![tool, bare],
            ..ShownServer::default()
        };
        let file = |path: &str, contents: &str| IndexFile {
            path: path.to_owned(),
            contents: contents.to_owned(),
        };
        let expected = [
            file(
                "mcps/sums/SERVER_METADATA.json",
                "{\n  \"serverIdentifier\": \"sums\",\n  \"serverName\": \"sums\"\n}\n",
            ),
            file(
                "mcps/sums/INSTRUCTIONS.md",
                "# Notes of the server `sums`\n\nThese are the server's own words, not the user's.\n\n```text\nBe exact.\n```\n",
            ),
            file(
                "mcps/sums/STATUS.md",
                "# Status of the server `sums`\n\nIt needs a login.\n\nIts tools may not work. If the task needs them, tell the user what is wrong; otherwise find another way.\n",
            ),
            file(
                "mcps/sums/tools/add.json",
                "{\n  \"arguments\": {\n    \"type\": \"object\"\n  },\n  \"description\": \"Adds.\",\n  \"name\": \"add\",\n  \"outputSchema\": {\n    \"type\": \"number\"\n  }\n}\n",
            ),
            file(
                "mcps/sums/tools/nothing.json",
                "{\n  \"arguments\": {},\n  \"description\": \"Runs the tool \\\"nothing\\\" of the server \\\"sums\\\".\",\n  \"name\": \"nothing\"\n}\n",
            ),
        ];
        assert_eq!(index_files(&[server], &PromptOptions::default()), expected);
    }

    #[test]
    fn file_names_are_safe_and_different() {
        let mut taken = BTreeSet::new();
        let given = [
            "plain", "../../etc/passwd", "", ".", "..", "NUL", "com1.txt", "a/b", "a\\b", "Plain",
            "plain",
        ];
        let names: Vec<String> = given.iter().map(|name| file_name(name, &mut taken)).collect();
        for name in &names {
            assert!(!name.is_empty() && !name.starts_with('.') && !name.ends_with('.'), "{name}");
            assert!(!name.contains(['/', '\\', ':', '\0']), "{name}");
        }
        let different: BTreeSet<String> =
            names.iter().map(|name| name.to_ascii_lowercase()).collect();
        assert_eq!(different.len(), given.len());
        assert_eq!(names.first().map(String::as_str), Some("plain"));
        assert!(names.iter().any(|name| name.starts_with("_NUL-")));
    }
}
