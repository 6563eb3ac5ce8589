//! `settings.registries` and `settings.knownServers`: where servers are looked for.

use std::path::PathBuf;

use switchboard_document::{ConfigError, Node};
use switchboard_net::url_check;

use crate::reader::ConfigReader;

/// Where servers are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoverySettings {
    /// The registries, in the order in which they are asked; the official one without any.
    pub registries: Vec<String>,
    /// The list of known servers in place of ours.
    pub known_servers: Option<KnownServersSource>,
}

/// Where a list of known servers is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownServersSource {
    /// In a file.
    File(PathBuf),
    /// At an address.
    Url(String),
}

pub(crate) fn registries(
    reader: &ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<Vec<String>, ConfigError> {
    let texts = reader.texts(node, key)?;
    for text in &texts {
        url_check::check(text).map_err(|wrong| reader.key_error(node.at, key, wrong))?;
    }
    Ok(texts)
}

pub(crate) fn known_list(
    reader: &ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<KnownServersSource, ConfigError> {
    let text = reader.text(node, key)?;
    if !text.contains("://") {
        return Ok(KnownServersSource::File(reader.path(node, key, reader.variables.workspace)?));
    }
    url_check::check(&text).map_err(|wrong| reader.key_error(node.at, key, wrong))?;
    Ok(KnownServersSource::Url(text))
}
