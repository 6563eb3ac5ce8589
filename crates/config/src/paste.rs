//! Reads server entries as JSON from pasted text, or from a file.

use std::path::Path;
use std::sync::Arc;

use switchboard_document::{ConfigError, Member, Node, NodeValue, read_text, strip_bom};

use crate::file;

/// Keys that hold the server entries in configurations of MCP clients.
const SERVER_MAP_KEYS: [&str; 2] = ["mcpServers", "servers"];
/// Keys that identify an object as a server entry.
const TRANSPORT_KEYS: [&str; 5] = ["command", "url", "urls", "httpUrl", "serverUrl"];

/// A pasted server entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastedEntry {
    /// The name of the server; `None` if the text is a single entry.
    pub name: Option<String>,
    pub entry: serde_json::Value,
}

/// Parses the entries in a text: a configuration with `mcpServers` or `servers`, an object of
/// entries by name, or a single entry. Comments and trailing commas are accepted.
pub fn pasted_entries(text: &str) -> Result<Vec<PastedEntry>, ConfigError> {
    let file: Arc<Path> = Path::new("").into();
    let error = |message: String| ConfigError::new(Arc::clone(&file), message);
    let root = switchboard_document::parse(strip_bom(text).trim())
        .map_err(|syntax| error(syntax.message).at(syntax.at).hint(syntax.hint))?
        .ok_or_else(|| error("the text is empty".to_owned()))?;
    if let Some((path, at)) = root.find_duplicate() {
        return Err(error(format!("`{path}` is given twice")).at(at));
    }
    let nothing = || {
        error("the text contains no server entry".to_owned())
            .hint("paste a configuration with `mcpServers`, or one entry with `command` or `url`")
    };
    let NodeValue::Object(members) = &root.value else { return Err(nothing()) };
    if is_entry(members) {
        return Ok(vec![PastedEntry { name: None, entry: to_json(&root)? }]);
    }
    let held = members.iter().find(|member| SERVER_MAP_KEYS.contains(&member.name.as_str()));
    let named = match held.map(|member| &member.value.value) {
        Some(NodeValue::Object(servers)) => servers,
        Some(_) => return Err(nothing()),
        None => members,
    };
    // Without a key that announces servers, an object may be something else.
    let is_one = |member: &&Member| match &member.value.value {
        NodeValue::Object(members) => held.is_some() || is_entry(members),
        _ => false,
    };
    let entries = named.iter().filter(is_one).map(|member| {
        Ok(PastedEntry { name: Some(member.name.clone()), entry: to_json(&member.value)? })
    });
    let entries = entries.collect::<Result<Vec<_>, ConfigError>>()?;
    if entries.is_empty() { Err(nothing()) } else { Ok(entries) }
}

/// Returns the entry of a server as written in a file, or `None` if the file has no such entry.
pub fn read_entry(path: &Path, name: &str) -> Result<Option<serde_json::Value>, ConfigError> {
    let file: Arc<Path> = path.into();
    let Some(text) = read_text(path)? else { return Ok(None) };
    let servers = file::parse_sections(&file, &text)?.servers;
    let entry = servers.iter().find(|member| member.name == name);
    entry.map(|member| to_json(&member.value)).transpose()
}

fn is_entry(members: &[Member]) -> bool {
    members.iter().any(|member| {
        TRANSPORT_KEYS.contains(&member.name.as_str())
            && matches!(member.value.value, NodeValue::Text(_) | NodeValue::List(_))
    })
}

fn to_json(node: &Node) -> Result<serde_json::Value, ConfigError> {
    serde_json::from_str(&node.to_compact_json())
        .map_err(|cause| ConfigError::new(Path::new(""), cause.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Vec<(Option<String>, serde_json::Value)>, String> {
        pasted_entries(text)
            .map(|all| all.into_iter().map(|one| (one.name, one.entry)).collect())
            .map_err(|error| error.message.into())
    }

    #[test]
    fn entries_are_found_however_they_are_wrapped() {
        let entry = json!({"command": "a", "args": ["b"]});
        let named = || Ok(vec![(Some("x".to_owned()), entry.clone())]);
        for (text, expected) in [
            (r#"{"mcpServers": {"x": {"command": "a", "args": ["b"]}}}"#, named()),
            (r#"{"inputs": [], "servers": {"x": {"args": ["b"], "command": "a"}}}"#, named()),
            ("// mine\n{\"x\": {\"command\": \"a\", \"args\": [\"b\",],},}", named()),
            (r#"{"command": "a", "args": ["b"]}"#, Ok(vec![(None, entry.clone())])),
            ("{}", Err("the text contains no server entry".to_owned())),
            ("[]", Err("the text contains no server entry".to_owned())),
            (" ", Err("the text is empty".to_owned())),
            (r#"{"command": "a", "command": "b"}"#, Err("`command` is given twice".to_owned())),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn an_entry_of_a_file_is_given_as_it_stands_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        assert_eq!(read_entry(&file, "x").unwrap(), None);
        std::fs::write(&file, "{\"mcpServers\": {\"x\": {\"env\": {\"A\": \"${B}\"}}}} // end")
            .unwrap();
        assert_eq!(read_entry(&file, "x").unwrap(), Some(json!({"env": {"A": "${B}"}})));
        assert_eq!(read_entry(&file, "y").unwrap(), None);
    }
}
