//! Stored results: complete up to a limit, beyond it the two ends and a separate file.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use switchboard_core::Durability;
use switchboard_text::truncate_middle;

use crate::call_id::CallId;
use crate::redacted_body;

/// Maximum length of the ends that a row keeps of a result with its own file, in bytes.
const MAX_ENDS_LEN: usize = 16 << 10;

/// The result of a call as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredResult {
    /// The JSON text, unmodified except for redaction.
    Whole(Bytes),
    /// The two ends of a result that is too large for the ledger.
    Cut {
        head: Bytes,
        tail: Bytes,
        /// Size of the full result in bytes.
        total: u64,
        /// Path of the full result, if the file could be written.
        file: Option<PathBuf>,
    },
}

impl StoredResult {
    /// Returns the size of the full result in bytes.
    #[must_use]
    pub fn total(&self) -> u64 {
        match self {
            Self::Whole(text) => text.len() as u64,
            Self::Cut { total, .. } => *total,
        }
    }

    /// Returns the whole text, or `None` if its file is missing or incomplete.
    pub fn load_whole(self, folder: &Path) -> io::Result<Option<Bytes>> {
        let (file, total) = match self {
            Self::Whole(text) => return Ok(Some(text)),
            Self::Cut { file: None, .. } => return Ok(None),
            Self::Cut { file: Some(file), total, .. } => (file, total),
        };
        // The state folder may have been moved.
        let moved = file.file_name().map(|name| folder.join(name));
        for place in [Some(file), moved].into_iter().flatten() {
            match std::fs::read(place) {
                // A file that a power loss truncated is not the result.
                Ok(text) if text.len() as u64 == total => return Ok(Some(text.into())),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Writes the whole text to its own file and returns the two ends.
    pub(crate) fn spill(
        text: &Bytes,
        limit: usize,
        folder: &Path,
        id: CallId,
        durability: Durability,
    ) -> Self {
        let text = &redacted_body::without_secrets(text);
        let (head, tail) = ends(text, limit.min(MAX_ENDS_LEN));
        // Recording the outcome of a call that ran matters more than its full result.
        let file = write_file(text, folder, id, durability).ok();
        Self::Cut { head, tail, total: text.len() as u64, file }
    }
}

fn ends(text: &Bytes, limit: usize) -> (Bytes, Bytes) {
    if let Some(short) =
        std::str::from_utf8(text).ok().and_then(|whole| truncate_middle(whole, limit))
    {
        return (text.slice_ref(short.head.as_bytes()), text.slice_ref(short.tail.as_bytes()));
    }
    // Text that is not UTF-8 has no character boundaries to respect.
    let half = text.len().min(limit) / 2;
    (text.slice(..half), text.slice(text.len() - half..))
}

fn write_file(
    text: &Bytes,
    folder: &Path,
    id: CallId,
    durability: Durability,
) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(&format!("call-{id}-"))
        .suffix(".json")
        .tempfile_in(folder)?;
    file.write_all(text)?;
    if durability == Durability::Power {
        file.as_file().sync_data()?;
    }
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(path)
}
