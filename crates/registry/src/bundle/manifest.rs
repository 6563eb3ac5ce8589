//! The `manifest.json` of a bundle, versions 0.1 to 0.4, parsed leniently.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bundle::error::BundleError;

/// Maximum size of a manifest, in bytes.
pub(super) const MAX_MANIFEST_BYTES: u64 = 4 * 1024 * 1024;

/// The manifest of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    #[serde(alias = "dxt_version")]
    pub manifest_version: String,
    pub name: String,
    pub display_name: Option<String>,
    pub version: String,
    pub description: String,
    pub author: Author,
    pub server: BundleServer,
    pub user_config: BTreeMap<String, UserConfig>,
    pub compatibility: Compatibility,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The author of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Author {
    pub name: String,
    pub url: Option<String>,
}

/// How a bundle is run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BundleServer {
    /// `node`, `python`, `binary` or `uv`.
    #[serde(rename = "type")]
    pub kind: String,
    pub entry_point: String,
    /// The command, if it is not the default for the type.
    pub mcp_config: Option<McpConfig>,
}

/// A command in a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct McpConfig {
    pub command: Option<String>,
    pub args: Option<Vec<String>>,
    pub env: Option<BTreeMap<String, String>>,
    /// Overrides for `darwin`, `win32` and `linux`.
    pub platform_overrides: BTreeMap<String, Self>,
}

/// The requirements of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compatibility {
    /// The supported platforms; empty means all.
    pub platforms: Vec<String>,
    /// Required runtimes, with their version ranges.
    pub runtimes: Map<String, Value>,
}

/// A setting that the user is asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserConfig {
    /// `string`, `number`, `boolean`, `directory` or `file`.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub required: bool,
    pub default: Option<Value>,
    pub multiple: bool,
    pub sensitive: bool,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl Manifest {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, BundleError> {
        let wrong = |why: String| BundleError::NoManifest(why);
        let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        let manifest: Self = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| wrong(error.to_string()))?;
        let missing = |what: &str| Err(wrong(format!("it has no `{what}`")));
        if manifest.manifest_version.is_empty() {
            return missing("manifest_version");
        }
        if !manifest.manifest_version.starts_with("0.") && manifest.manifest_version != "1.0" {
            let version = &manifest.manifest_version;
            return Err(wrong(format!("unsupported `manifest_version` `{version}`")));
        }
        if manifest.name.is_empty() {
            return missing("name");
        }
        if manifest.version.is_empty() {
            return missing("version");
        }
        if !matches!(manifest.server.kind.as_str(), "node" | "python" | "binary" | "uv") {
            return Err(wrong(format!("unsupported server type `{}`", manifest.server.kind)));
        }
        if manifest.server.entry_point.is_empty() && manifest.server.mcp_config.is_none() {
            return missing("server.entry_point");
        }
        Ok(manifest)
    }
}
