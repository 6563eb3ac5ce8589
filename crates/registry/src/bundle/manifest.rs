//! `manifest.json` of a bundle, of the versions 0.1 to 0.4, read leniently.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bundle::error::BundleError;

/// The longest manifest, in bytes.
pub(super) const MAX_MANIFEST_BYTES: u64 = 4 * 1024 * 1024;

/// What a bundle says about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The version of the manifest's form.
    #[serde(alias = "dxt_version")]
    pub manifest_version: String,
    pub name: String,
    /// Its name for people.
    pub display_name: Option<String>,
    pub version: String,
    pub description: String,
    pub author: Author,
    /// How it is run.
    pub server: BundleServer,
    /// What it asks for.
    pub user_config: BTreeMap<String, UserConfig>,
    pub compatibility: Compatibility,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Who wrote a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Author {
    pub name: String,
    /// Where to read about them.
    pub url: Option<String>,
}

/// How a bundle is run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BundleServer {
    /// `node`, `python`, `binary` or `uv`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The file that is run.
    pub entry_point: String,
    /// The command, if it is not the usual one of the kind.
    pub mcp_config: Option<McpConfig>,
}

/// A command as a bundle writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct McpConfig {
    pub command: Option<String>,
    pub args: Option<Vec<String>>,
    pub env: Option<BTreeMap<String, String>>,
    /// What is different on `darwin`, `win32` and `linux`.
    pub platform_overrides: BTreeMap<String, Self>,
}

/// Where a bundle runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compatibility {
    /// Kinds of machines; all without a list.
    pub platforms: Vec<String>,
    /// Programs that it needs, with the versions that will do.
    pub runtimes: Map<String, Value>,
}

/// Something that a bundle asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserConfig {
    /// `string`, `number`, `boolean`, `directory` or `file`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether there is no server without it.
    pub required: bool,
    /// What holds where nothing is answered.
    pub default: Option<Value>,
    /// Whether there may be several answers.
    pub multiple: bool,
    /// Whether nobody else may see it.
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
            return Err(wrong(format!("its version `{}` is not known", manifest.manifest_version)));
        }
        if manifest.name.is_empty() {
            return missing("name");
        }
        if manifest.version.is_empty() {
            return missing("version");
        }
        if !matches!(manifest.server.kind.as_str(), "node" | "python" | "binary" | "uv") {
            return Err(wrong(format!(
                "the server's type `{}` is not known",
                manifest.server.kind
            )));
        }
        if manifest.server.entry_point.is_empty() && manifest.server.mcp_config.is_none() {
            return missing("server.entry_point");
        }
        Ok(manifest)
    }
}
