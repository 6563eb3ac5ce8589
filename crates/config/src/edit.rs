//! Edits the servers of a configuration file, and preserves the comments and layout of the rest.

use std::path::Path;
use std::sync::Arc;

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use switchboard_core::ServerId;
use switchboard_document::{ConfigError, NodeValue, edit_locked};
use switchboard_text::sanitize;
use switchboard_vetting::EntryFinding;

use crate::environment::Environment;
use crate::reader::{ConfigReader, ReadMode};
use crate::resolved::{BUILTIN, ConfigLayer};
use crate::variables::{IfUnset, Variables};
use crate::{file, lookalike, server};

/// Whether an existing server with the same name may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    Refuse,
    Allow,
}

/// Adds a server to the file, or replaces its entry at the same position.
///
/// The entry is checked first, more strictly than when a file is read. Like every edit of a file,
/// this blocks for up to ten seconds while another process writes it.
pub fn add_server(
    path: &Path,
    name: &str,
    entry: &serde_json::Value,
    replace: Replace,
) -> Result<(), ConfigError> {
    let file: Arc<Path> = path.into();
    check_entry(&file, name, entry)?;
    edit(&file, name, |servers| {
        let known = servers.properties();
        let known = known.iter().filter_map(|known| known.name()?.decoded_value().ok());
        let known: Vec<String> = known.collect();
        if let Some(problem) = lookalike::conflict(name, known.iter().map(String::as_str)) {
            let error = ConfigError::new(Arc::clone(&file), problem).server(name);
            return Err(error.hint("give it another name"));
        }
        if replace == Replace::Refuse && servers.get(name).is_some() {
            let message = "a server with this name already exists";
            let error = ConfigError::new(Arc::clone(&file), message).server(name);
            return Err(error.hint("remove it first, or replace it"));
        }
        set_member(servers, name, cst_value(entry, server::KEYS));
        Ok(())
    })
}

/// Returns the findings about an entry that is about to be added.
pub fn entry_findings(
    path: &Path,
    name: &str,
    entry: &serde_json::Value,
) -> Result<Vec<EntryFinding>, ConfigError> {
    check_entry(&path.into(), name, entry)
}

/// Removes a server from the file.
pub fn remove_server(path: &Path, name: &str) -> Result<(), ConfigError> {
    let file: Arc<Path> = path.into();
    edit(&file, name, |servers| {
        servers.get(name).ok_or_else(|| unknown_server(&file, name))?.remove();
        Ok(())
    })
}

/// Disables a server of the file.
pub fn disable_server(path: &Path, name: &str) -> Result<(), ConfigError> {
    let file: Arc<Path> = path.into();
    edit(&file, name, |servers| {
        set_member(&server_entry(&file, servers, name)?, "disabled", true.into());
        Ok(())
    })
}

/// Enables a server of the file.
pub fn enable_server(path: &Path, name: &str) -> Result<(), ConfigError> {
    let file: Arc<Path> = path.into();
    edit(&file, name, |servers| {
        // Without an entry, the built-in server is enabled already.
        if name == BUILTIN && servers.get(name).is_none() {
            return Ok(());
        }
        if let Some(member) = server_entry(&file, servers, name)?.get("disabled") {
            member.set_value(false.into());
        }
        Ok(())
    })
}

/// Writes a sandbox profile into the entry of a server.
pub fn set_sandbox(
    path: &Path,
    name: &str,
    profile: &serde_json::Value,
) -> Result<(), ConfigError> {
    let file: Arc<Path> = path.into();
    edit(&file, name, |servers| {
        let profile = cst_value(profile, &["read", "write", "network"]);
        set_member(&server_entry(&file, servers, name)?, "sandbox", profile);
        Ok(())
    })
}

/// Adds a tool to the server's `autoApprove` list.
pub fn add_auto_approve(path: &Path, name: &str, tool: &str) -> Result<(), ConfigError> {
    let file: Arc<Path> = path.into();
    // Tool names are literal, so a `${` in one is escaped to prevent variable expansion.
    let tool = tool.replace("${", "$${");
    edit(&file, name, |servers| {
        let entry = server_entry(&file, servers, name)?;
        let listed = ["autoApprove", "alwaysAllow"].into_iter().any(|key| {
            let list = entry.array_value(key).map(|list| list.elements()).unwrap_or_default();
            list.iter()
                .filter_map(|element| element.as_string_lit()?.decoded_value().ok())
                .any(|text| text == tool)
        });
        if listed {
            return Ok(());
        }
        match entry.get("autoApprove") {
            None => drop(entry.append("autoApprove", vec![tool].into())),
            Some(member) => match member.array_value() {
                Some(list) => drop(list.append(tool.into())),
                None if member.value().is_some_and(|value| value.as_null_keyword().is_some()) => {
                    member.set_value(vec![tool].into());
                }
                None => {
                    let message = "`autoApprove` must be a list of strings";
                    let error = ConfigError::new(Arc::clone(&file), message).server(name);
                    return Err(error.key("autoApprove"));
                }
            },
        }
        Ok(())
    })
}

/// Removes a tool from the server's `autoApprove` and `alwaysAllow` lists.
pub fn remove_auto_approve(path: &Path, name: &str, tool: &str) -> Result<(), ConfigError> {
    let file: Arc<Path> = path.into();
    let tool = tool.replace("${", "$${");
    edit(&file, name, |servers| {
        let Some(entry) = servers.object_value(name) else { return Ok(()) };
        for list in
            ["autoApprove", "alwaysAllow"].into_iter().filter_map(|key| entry.array_value(key))
        {
            for element in list.elements() {
                let text = element.as_string_lit().and_then(|text| text.decoded_value().ok());
                if text.is_some_and(|text| text == tool) {
                    element.remove();
                }
            }
        }
        Ok(())
    })
}

fn unknown_server(file: &Arc<Path>, name: &str) -> ConfigError {
    ConfigError::new(Arc::clone(file), format!("no server named `{}`", sanitize(name)))
}

fn set_member(object: &CstObject, name: &str, value: CstInputValue) {
    match object.get(name) {
        Some(member) => member.set_value(value),
        None => drop(object.append(name, value)),
    }
}

/// Returns the entry of a server.
fn server_entry(
    file: &Arc<Path>,
    servers: &CstObject,
    name: &str,
) -> Result<CstObject, ConfigError> {
    let member = match servers.get(name) {
        // The built-in server needs no entry, so its first change creates one.
        None if name == BUILTIN => servers.append(name, CstInputValue::Object(Vec::new())),
        member => member.ok_or_else(|| unknown_server(file, name))?,
    };
    member.object_value().ok_or_else(|| {
        ConfigError::new(Arc::clone(file), "the entry must be an object").server(name)
    })
}

/// Runs `action` on the servers of the file, and writes the result.
fn edit(
    file: &Arc<Path>,
    name: &str,
    action: impl FnOnce(&CstObject) -> Result<(), ConfigError>,
) -> Result<(), ConfigError> {
    edit_locked(file, |before| {
        let before = before.unwrap_or_default();
        // With our own reader first: its errors are more helpful than those of the CST parser.
        let servers = file::parse_sections(file, before)?.servers;
        if servers.iter().filter(|member| member.name == name).count() > 1 {
            let message = "the file has two servers of this name";
            return Err(ConfigError::new(Arc::clone(file), message).server(name));
        }
        let wrong = |cause: &str| ConfigError::new(Arc::clone(file), cause);
        let root = CstRootNode::parse(before, &switchboard_document::parse_options())
            .map_err(|cause| wrong(&cause.to_string()))?;
        let top = root.object_value_or_create().ok_or_else(|| wrong("is not an object"))?;
        action(&top.object_value_or_set("mcpServers"))?;
        let mut after = root.to_string();
        if before.is_empty() && !after.ends_with('\n') {
            after.push('\n');
        }
        // The file may contain entries that took a person long to write: a defect of the CST
        // editor must not damage them.
        if other_content(before, name) == other_content(&after, name) {
            Ok(after)
        } else {
            Err(wrong("cannot be changed without affecting other parts")
                .hint("edit the file by hand"))
        }
    })
}

/// Returns the content of a file except for one server.
fn other_content(text: &str, name: &str) -> Option<Vec<String>> {
    let Some(root) = switchboard_document::parse(text).ok()? else { return Some(Vec::new()) };
    let NodeValue::Object(members) = root.value else { return None };
    let mut rest = Vec::new();
    for member in members {
        match (&member.value.value, member.name.as_str()) {
            (NodeValue::Null, "mcpServers") => {}
            (NodeValue::Object(servers), "mcpServers") => rest.extend(
                servers
                    .iter()
                    .filter(|server| server.name != name)
                    .map(|server| format!("{} {}", server.name, server.value.to_compact_json())),
            ),
            _ => rest.push(format!("{} {}", member.name, member.value.to_compact_json())),
        }
    }
    Some(rest)
}

/// Checks the entry as if it were in the file.
fn check_entry(
    file: &Arc<Path>,
    name: &str,
    entry: &serde_json::Value,
) -> Result<Vec<EntryFinding>, ConfigError> {
    let error = |message: String| ConfigError::new(Arc::clone(file), message).server(name);
    let id = ServerId::new(name)
        .map_err(|cause| error(cause.to_string()).hint("give it another name"))?;
    let node = switchboard_document::parse(&entry.to_string()).ok().flatten();
    let node = node.ok_or_else(|| error("the entry is nested too deeply".to_owned()))?;
    let member = switchboard_document::Member { name: name.to_owned(), at: node.at, value: node };
    // The entry may be used in another environment, so its variables are not resolved in ours.
    let environment = Environment {
        variables: Default::default(),
        home: Some("/".into()),
        current_dir: "/".into(),
    };
    let variables =
        Variables { environment: &environment, workspace: Path::new("/"), unset: IfUnset::Keep };
    let mut reader = ConfigReader {
        file,
        server: Some(name),
        variables,
        mode: ReadMode::Write,
        warnings: Vec::new(),
    };
    let checked = server::read(&mut reader, id, &member, ConfigLayer::User);
    // The position refers to the entry, which is not in the file yet.
    checked.map(|(server, _)| server.findings).map_err(|error| ConfigError {
        line: None,
        column: None,
        ..error
    })
}

/// Converts `value` for the CST editor. Members are sorted in the order of `first`, then by name.
fn cst_value(value: &serde_json::Value, first: &[&str]) -> CstInputValue {
    match value {
        serde_json::Value::Null => CstInputValue::Null,
        serde_json::Value::Bool(value) => CstInputValue::Bool(*value),
        serde_json::Value::Number(number) => CstInputValue::Number(number.to_string()),
        serde_json::Value::String(text) => CstInputValue::String(text.clone()),
        serde_json::Value::Array(values) => {
            CstInputValue::Array(values.iter().map(|value| cst_value(value, &[])).collect())
        }
        serde_json::Value::Object(map) => {
            let place =
                |name: &str| first.iter().position(|key| *key == name).unwrap_or(usize::MAX);
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by_key(|(name, _)| (place(name), name.as_str()));
            let members = members
                .into_iter()
                .map(|(name, value)| (name.clone(), cst_value(value, &[])))
                .collect();
            CstInputValue::Object(members)
        }
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
