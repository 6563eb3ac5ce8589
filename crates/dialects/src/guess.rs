//! Detects which product a file belongs to, by its name and content.

use std::path::Path;

use serde_json::Value;

use crate::dialect::ProductDialect;
use crate::files;
use crate::grammar::FileFormat;

/// Path suffixes that identify a product; the first match counts.
const PATH_ENDINGS: &[(&str, ProductDialect)] = &[
    ("claude_desktop_config.json", ProductDialect::ClaudeDesktop),
    (".mcp.json", ProductDialect::ClaudeCode),
    (".claude.json", ProductDialect::ClaudeCode),
    (".cursor/mcp.json", ProductDialect::Cursor),
    (".vscode/mcp.json", ProductDialect::Vscode),
    // Before `mcp_settings.json`, which is a suffix of it.
    ("cline_mcp_settings.json", ProductDialect::Cline),
    (".roo/mcp.json", ProductDialect::RooCode),
    ("mcp_settings.json", ProductDialect::RooCode),
    ("mcp_config.json", ProductDialect::Windsurf),
    (".gemini/settings.json", ProductDialect::Gemini),
    (".toml", ProductDialect::Codex),
    (".yaml", ProductDialect::Goose),
    (".yml", ProductDialect::Goose),
    ("opencode.json", ProductDialect::Opencode),
    ("opencode.jsonc", ProductDialect::Opencode),
    (".mcpilot.config.json", ProductDialect::Mcpilot),
];

/// Keys of entries that identify a product.
const TELLING_KEYS: &[(&str, ProductDialect)] = &[
    ("serverUrl", ProductDialect::Windsurf),
    ("httpUrl", ProductDialect::Gemini),
    ("trust", ProductDialect::Gemini),
    ("includeTools", ProductDialect::Gemini),
    ("alwaysAllow", ProductDialect::RooCode),
    ("autoApprove", ProductDialect::Cline),
    ("transportType", ProductDialect::Cline),
];

impl ProductDialect {
    /// Returns the product that a file probably belongs to.
    pub fn guess(path: &Path, text: &str) -> Option<Self> {
        let shown = path.to_string_lossy().replace('\\', "/");
        if let Some((_, dialect)) = PATH_ENDINGS.iter().find(|(end, _)| shown.ends_with(end)) {
            return Some(*dialect);
        }
        let root = files::read(FileFormat::Json, text, &[]).ok()?.root;
        if root.get("context_servers").is_some() {
            return Some(Self::Zed);
        }
        if root.get("servers").is_some() {
            return Some(Self::Vscode);
        }
        // Gemini CLI also has an object `mcp`, next to its `mcpServers`.
        if let Some(mcp) = root.get("mcp").filter(|_| root.get("mcpServers").is_none()) {
            return Some(if mcp.get("servers").is_some() { Self::Mcpilot } else { Self::Opencode });
        }
        let servers = root.get("mcpServers")?.as_object()?;
        let has = |key: &str| servers.values().any(|entry: &Value| entry.get(key).is_some());
        let typical = TELLING_KEYS.iter().find(|(key, _)| has(key)).map(|(_, dialect)| *dialect);
        // The plain form that most products share.
        Some(typical.unwrap_or(Self::Cursor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_or_by_what_is_in_it() {
        let cases = [
            ("/x/.cursor/mcp.json", "", Some(ProductDialect::Cursor)),
            ("C:\\x\\.vscode\\mcp.json", "", Some(ProductDialect::Vscode)),
            ("/x/config.toml", "", Some(ProductDialect::Codex)),
            ("a.json", r#"{"servers": {}}"#, Some(ProductDialect::Vscode)),
            ("a.json", r#"{"context_servers": {}}"#, Some(ProductDialect::Zed)),
            ("a.json", r#"{"mcp": {"servers": {}}}"#, Some(ProductDialect::Mcpilot)),
            ("a.json", r#"{"mcp": {"a": {}}}"#, Some(ProductDialect::Opencode)),
            (
                "a.json",
                r#"{"mcpServers": {"a": {"serverUrl": "b"}}}"#,
                Some(ProductDialect::Windsurf),
            ),
            ("a.json", r#"{"mcpServers": {"a": {"command": "b"}}}"#, Some(ProductDialect::Cursor)),
            ("a.json", r#"{"other": 1}"#, None),
            ("a.txt", "nothing", None),
        ];
        for (path, text, expected) in cases {
            assert_eq!(ProductDialect::guess(Path::new(path), text), expected, "{path} {text}");
        }
    }
}
