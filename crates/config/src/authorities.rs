//! `caFile`: who may issue the certificate of a server beside those that the system trusts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_document::{ConfigError, Node, read_text};
use switchboard_text::sanitize;
use switchboard_wire::http::{Authorities, BadAuthorities};

use crate::reader::{ConfigReader, ReadMode};

/// A file with certificates of authorities, as it was when the configuration was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthoritiesFile {
    /// Where it is.
    pub path: PathBuf,
    /// The certificates in PEM form.
    pub pem: Arc<str>,
}

impl AuthoritiesFile {
    /// The authorities.
    ///
    /// # Errors
    /// When the text holds none, which was checked when it was read.
    pub fn authorities(&self) -> Result<Authorities, BadAuthorities> {
        Authorities::from_pem(&self.pem)
    }
}

/// Reads the file that an entry names; nothing where an entry is only checked, for that touches no
/// other file.
pub(crate) fn read(
    reader: &ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<Option<AuthoritiesFile>, ConfigError> {
    let folder = reader.file.parent().unwrap_or(Path::new(""));
    let path = reader.path(node, key, folder)?;
    if reader.mode != ReadMode::Read {
        return Ok(None);
    }
    let named = sanitize(&path.display().to_string());
    let error = |message: String| {
        let error = reader.error(node.at, message).key(key);
        error.hint("name a file with the certificate of who issued the server's, in PEM form")
    };
    let text = read_text(&path)
        .map_err(|cause| error(format!("`{named}` {}", cause.predicate())))?
        .ok_or_else(|| error(format!("`{named}` does not exist")))?;
    Authorities::from_pem(&text).map_err(|cause| error(format!("`{named}` {cause}")))?;
    Ok(Some(AuthoritiesFile { path, pem: text.into() }))
}
