//! Writes text that is too long for a message to a file and returns its location.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard_files::{
    DownloadError, DownloadRoots, IfExists, create_private_folder, write_download,
};

use crate::generated::agent::v1::FileLocation;

/// Maximum length of text in a message, which is also the default threshold.
pub(crate) const MAX_INLINE_BYTES: usize = 1_000_000;
const FILE_LIMIT_BYTES: usize = 256 << 20;
const FILE_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The destination of long text, and the length from which text counts as long.
#[derive(Clone, Debug)]
pub(crate) struct Outputs {
    pub(crate) folder: PathBuf,
    pub(crate) threshold_bytes: usize,
    pub(crate) name: String,
}

#[derive(Debug, Default)]
pub(crate) struct SpilledTexts {
    /// For each content item, the file of its text, if it was moved.
    pub(crate) places: Vec<Option<FileLocation>>,
    /// The file of the structured content, which is then removed from the result.
    pub(crate) structured: Option<FileLocation>,
}

impl Outputs {
    /// Moves every long text of a tool result to a file and puts a notice in the result.
    pub(crate) fn spill_long_texts(
        &self,
        result: &mut Value,
    ) -> Result<SpilledTexts, DownloadError> {
        let mut moved = SpilledTexts::default();
        let content = result.get_mut("content").and_then(Value::as_array_mut);
        for (number, item) in content.into_iter().flatten().enumerate() {
            let place = self.spill_item(item, number)?;
            moved.places.push(place);
        }
        let structured = result.get("structuredContent").map(Value::to_string);
        if let Some(text) = structured.filter(|text| text.len() > self.threshold_bytes) {
            moved.structured = Some(self.write(&text, "structured.json")?);
            // It has no place for a notice; the content gets an item with the location instead.
            if let Some(members) = result.as_object_mut() {
                members.remove("structuredContent");
            }
        }
        Ok(moved)
    }

    fn spill_item(
        &self,
        item: &mut Value,
        number: usize,
    ) -> Result<Option<FileLocation>, DownloadError> {
        let place = match item.get("type").and_then(Value::as_str) {
            Some("text") => item.pointer_mut("/text"),
            Some("resource") => item.pointer_mut("/resource/text"),
            _ => None,
        };
        let Some(text) = place else { return Ok(None) };
        let long = text.as_str().filter(|text| text.len() > self.threshold_bytes);
        let Some(long) = long else { return Ok(None) };
        let location = self.write(long, &format!("{number}.txt"))?;
        *text = json!(file_notice(&location));
        Ok(Some(location))
    }

    pub(crate) fn write(&self, text: &str, ending: &str) -> Result<FileLocation, DownloadError> {
        let path = self.folder.display().to_string();
        // Output may contain secrets, so other users must not be able to read the folder.
        create_private_folder(&self.folder)
            .map_err(|cause| DownloadError::NotWritten { path, cause })?;
        let ground = DownloadRoots {
            roots: std::slice::from_ref(&self.folder),
            protected: &[],
            limit_bytes: FILE_LIMIT_BYTES,
            existing: IfExists::Keep,
        };
        let name = format!("{}-{ending}", self.name);
        let path = write_download(&ground, Path::new(&name), text.as_bytes())?;
        Ok(FileLocation {
            file_path: path.display().to_string(),
            size_bytes: i64::try_from(text.len()).unwrap_or(i64::MAX),
            line_count: i64::try_from(text.lines().count()).unwrap_or(i64::MAX),
        })
    }
}

/// Returns the notice that replaces a text in a file.
pub(crate) fn file_notice(location: &FileLocation) -> String {
    let FileLocation { file_path, size_bytes, line_count } = location;
    format!(
        "The output has {size_bytes} bytes in {line_count} lines and is in the file {file_path}"
    )
}

/// Removes files older than [`FILE_LIFETIME`].
pub(crate) fn remove_expired(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // A time in the future, after the clock was set back, counts as fresh.
        let changed = entry.metadata().and_then(|about| about.modified());
        let age = changed.ok().and_then(|then| SystemTime::now().duration_since(then).ok());
        if age.is_some_and(|age| age > FILE_LIFETIME) {
            // Retried at the next start.
            _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_go_to_files_and_short_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = Outputs {
            folder: folder.path().join("outputs"),
            threshold_bytes: 10,
            name: "7".to_owned(),
        };
        let mut result = json!({
            "content": [
                {"type": "text", "text": "short"},
                {"type": "text", "text": "one line\nand another\n"},
                {"type": "image", "data": "AAAAAAAAAAAAAAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "a:b", "text": "0123456789a"}},
            ],
            "structuredContent": {"a": "0123456789"},
            "isError": false,
        });
        let moved = outputs.spill_long_texts(&mut result).unwrap();
        let root = std::fs::canonicalize(&outputs.folder).unwrap();
        let location = |name: &str, size_bytes, line_count| FileLocation {
            file_path: root.join(name).display().to_string(),
            size_bytes,
            line_count,
        };
        let text = location("7-1.txt", 21, 2);
        let inner = location("7-3.txt", 11, 1);
        let said = [file_notice(&text), file_notice(&inner)];
        assert_eq!(moved.places, [None, Some(text), None, Some(inner)]);
        assert_eq!(moved.structured, Some(location("7-structured.json", 18, 1)));
        let expected = json!({
            "content": [
                {"type": "text", "text": "short"},
                {"type": "text", "text": said[0]},
                {"type": "image", "data": "AAAAAAAAAAAAAAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "a:b", "text": said[1]}},
            ],
            "isError": false,
        });
        assert_eq!(result, expected);
        let written = std::fs::read_to_string(root.join("7-1.txt")).unwrap();
        assert_eq!(written, "one line\nand another\n");
    }

    #[test]
    fn only_what_is_old_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["old", "new"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let old = std::fs::File::options().write(true).open(folder.path().join("old")).unwrap();
        old.set_modified(SystemTime::now() - 2 * FILE_LIFETIME).unwrap();
        remove_expired(folder.path());
        let left = std::fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["new"]);
    }
}
