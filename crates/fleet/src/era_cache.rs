//! Which era a server was of last time, so that it need not be asked again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use switchboard_files::replace;

/// How a server was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConnectMode {
    /// Without a handshake.
    Modern,
    /// With a handshake.
    Legacy,
    /// Over the older HTTP+SSE.
    Sse,
}

/// A small file of what was learnt. Losing it costs a probe, nothing else.
#[derive(Debug)]
pub(crate) struct EraCache {
    file: Option<PathBuf>,
    modes: Mutex<BTreeMap<String, ConnectMode>>,
}

impl EraCache {
    /// Reads the file, if there is a readable one.
    pub(crate) fn load(file: Option<PathBuf>) -> Self {
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let ways = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { file, modes: Mutex::new(ways) }
    }

    /// How the server with this configuration was reached last time.
    pub(crate) fn recall(&self, key: &str) -> Option<ConnectMode> {
        self.modes.lock().get(key).copied()
    }

    /// Keeps how the server was reached.
    pub(crate) fn learn(&self, key: &str, way: ConnectMode) {
        let mut ways = self.modes.lock();
        if ways.insert(key.to_owned(), way) == Some(way) {
            return;
        }
        if let (Some(file), Ok(text)) = (&self.file, serde_json::to_string_pretty(&*ways)) {
            // A lost entry costs a probe next time; it must not cost the connection.
            _ = write_file(file, &text);
        }
    }
}

fn write_file(file: &std::path::Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(std::path::Path::new("."));
    std::fs::create_dir_all(folder)?;
    let temporary = tempfile::NamedTempFile::new_in(folder)?;
    std::fs::write(temporary.path(), text)?;
    replace::replace_file(temporary, file)
}
