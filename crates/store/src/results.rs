//! Results as they are kept: whole up to a limit, beyond it the two ends and a file.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use switchboard_core::Durability;
use switchboard_text::truncate_middle;

use crate::call_id::CallId;
use crate::redacted_body;

/// As much of a result that has a file of its own stands in the row as well.
const MAX_ENDS_LEN: usize = 16 << 10;

/// A result as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredResult {
    /// The JSON text, byte for byte.
    Whole(Bytes),
    /// Too large for the ledger.
    Cut {
        head: Bytes,
        tail: Bytes,
        /// How many bytes it had.
        total: u64,
        /// Where all of it is, if that file could be written.
        file: Option<PathBuf>,
    },
}

impl StoredResult {
    /// How many bytes the result had.
    #[must_use]
    pub fn total(&self) -> u64 {
        match self {
            Self::Whole(text) => text.len() as u64,
            Self::Cut { total, .. } => *total,
        }
    }

    /// The whole text, from its file if it has one; none if not all of it is there.
    pub fn load_whole(self, folder: &Path) -> io::Result<Option<Bytes>> {
        let (file, total) = match self {
            Self::Whole(text) => return Ok(Some(text)),
            Self::Cut { file: None, .. } => return Ok(None),
            Self::Cut { file: Some(file), total, .. } => (file, total),
        };
        // The state folder may have been moved since.
        let moved = file.file_name().map(|name| folder.join(name));
        for place in [Some(file), moved].into_iter().flatten() {
            match std::fs::read(place) {
                // A file that a loss of power cut short is not the result.
                Ok(text) if text.len() as u64 == total => return Ok(Some(text.into())),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Writes the whole text to a file of its own and keeps the two ends.
    ///
    /// If the file cannot be written the ends are kept all the same: a call that ran needs its
    /// outcome more than its result.
    pub(crate) fn spill(
        text: &Bytes,
        limit: usize,
        folder: &Path,
        id: CallId,
        durability: Durability,
    ) -> Self {
        let text = &redacted_body::without_secrets(text);
        let (head, tail) = ends(text, limit.min(MAX_ENDS_LEN));
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
