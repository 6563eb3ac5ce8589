//! Whose file it is, by its name and by what is in it.

use std::path::Path;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::files;
use crate::grammar::Format;

/// Ends of paths that belong to one product.
const ENDS: &[(&str, Dialect)] = &[
    ("claude_desktop_config.json", Dialect::ClaudeDesktop),
    (".mcp.json", Dialect::ClaudeCode),
    (".claude.json", Dialect::ClaudeCode),
    (".cursor/mcp.json", Dialect::Cursor),
    (".vscode/mcp.json", Dialect::Vscode),
    ("cline_mcp_settings.json", Dialect::Cline),
    (".roo/mcp.json", Dialect::RooCode),
    ("mcp_settings.json", Dialect::RooCode),
    ("mcp_config.json", Dialect::Windsurf),
    (".gemini/settings.json", Dialect::Gemini),
    (".toml", Dialect::Codex),
    (".yaml", Dialect::Goose),
    (".yml", Dialect::Goose),
    ("opencode.json", Dialect::Opencode),
    ("opencode.jsonc", Dialect::Opencode),
    (".mcpilot.config.json", Dialect::Mcpilot),
];

/// Keys of entries that one product has.
const KEYS: &[(&str, Dialect)] = &[
    ("serverUrl", Dialect::Windsurf),
    ("httpUrl", Dialect::Gemini),
    ("trust", Dialect::Gemini),
    ("includeTools", Dialect::Gemini),
    ("alwaysAllow", Dialect::RooCode),
    ("autoApprove", Dialect::Cline),
    ("transportType", Dialect::Cline),
];

impl Dialect {
    /// The product that a file probably belongs to.
    pub fn guess(path: &Path, text: &str) -> Option<Self> {
        let shown = path.to_string_lossy().replace('\\', "/");
        if let Some((_, dialect)) = ENDS.iter().find(|(end, _)| shown.ends_with(end)) {
            return Some(*dialect);
        }
        let root = files::read(Format::Json, text, &[]).ok()?.root;
        if root.get("context_servers").is_some() {
            return Some(Self::Zed);
        }
        if root.get("servers").is_some() {
            return Some(Self::Vscode);
        }
        if let Some(mcp) = root.get("mcp").filter(|_| root.get("mcpServers").is_none()) {
            return Some(if mcp.get("servers").is_some() { Self::Mcpilot } else { Self::Opencode });
        }
        let servers = root.get("mcpServers")?.as_object()?;
        let has = |key: &str| servers.values().any(|entry: &Value| entry.get(key).is_some());
        let typical = KEYS.iter().find(|(key, _)| has(key)).map(|(_, dialect)| *dialect);
        Some(typical.unwrap_or(Self::Cursor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_or_by_what_is_in_it() {
        let cases = [
            ("/x/.cursor/mcp.json", "", Some(Dialect::Cursor)),
            ("C:\\x\\.vscode\\mcp.json", "", Some(Dialect::Vscode)),
            ("/x/config.toml", "", Some(Dialect::Codex)),
            ("a.json", r#"{"servers": {}}"#, Some(Dialect::Vscode)),
            ("a.json", r#"{"context_servers": {}}"#, Some(Dialect::Zed)),
            ("a.json", r#"{"mcp": {"servers": {}}}"#, Some(Dialect::Mcpilot)),
            ("a.json", r#"{"mcp": {"a": {}}}"#, Some(Dialect::Opencode)),
            ("a.json", r#"{"mcpServers": {"a": {"serverUrl": "b"}}}"#, Some(Dialect::Windsurf)),
            ("a.json", r#"{"mcpServers": {"a": {"command": "b"}}}"#, Some(Dialect::Cursor)),
            ("a.json", r#"{"other": 1}"#, None),
            ("a.txt", "nothing", None),
        ];
        for (path, text, expected) in cases {
            assert_eq!(Dialect::guess(Path::new(path), text), expected, "{path} {text}");
        }
    }
}
