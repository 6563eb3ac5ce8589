//! Reads a text file: only regular files, of limited length, in UTF-8.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use switchboard_text::sanitize;

use crate::document::Position;
use crate::error::ConfigError;

pub(crate) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Returns the text of a file without byte order mark; `None` if the file does not exist.
pub fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    read_text_within(path, MAX_FILE_BYTES)
}

/// Reads a file like [`read_text`] with another limit, in bytes.
pub fn read_text_within(path: &Path, longest: u64) -> Result<Option<String>, ConfigError> {
    let error = |message: String| ConfigError::new(path, message);
    let unreadable = |cause: std::io::Error| error(format!("the file cannot be read: {cause}"));
    let metadata = match fs::metadata(path) {
        // A dangling link is an error, not an absent file: a network share may be unmounted.
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            let Some(link) = broken_link(path) else { return Ok(None) };
            let error = error(format!("the file cannot be read: `{link}` is a broken link"));
            return Err(error.hint("restore the target of the link, or remove the link"));
        }
        metadata => metadata.map_err(unreadable)?,
    };
    // A pipe or a device that a project's link points to would block the reader or never end.
    if !metadata.is_file() {
        let error = error("the file is not a regular file".to_owned());
        return Err(error.hint("use a regular text file"));
    }
    let mut bytes = Vec::new();
    match fs::File::open(path) {
        // The file was removed after the metadata was read.
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        // One byte more than allowed, to detect a longer file without trusting its metadata.
        file => file.map_err(unreadable)?.take(longest + 1).read_to_end(&mut bytes),
    }
    .map_err(unreadable)?;
    if bytes.len() as u64 > longest {
        return Err(error(format!("the file is longer than {} MiB", longest / 1024 / 1024)));
    }
    let text = String::from_utf8(bytes).map_err(|cause| {
        let valid = cause.as_bytes().iter().take(cause.utf8_error().valid_up_to());
        let line = 1 + valid.filter(|byte| **byte == b'\n').count();
        error("the file is not UTF-8 text".to_owned())
            .at(Position { line, column: 1 })
            .hint("save the file as UTF-8")
    })?;
    Ok(Some(strip_bom(&text).to_owned()))
}

/// Returns the file, or its folder, if that is a dangling link.
fn broken_link(path: &Path) -> Option<String> {
    let places = [Some(path), path.parent()].into_iter().flatten();
    let is_link = |place: &&Path| fs::symlink_metadata(place).is_ok_and(|it| it.is_symlink());
    let broken = places.filter(is_link).find(|place| fs::metadata(place).is_err())?;
    Some(sanitize(&broken.display().to_string()))
}

/// Returns `text` without a byte order mark at its start.
pub fn strip_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_no_error_and_a_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_text(&folder.path().join("none")), Ok(None));
        let error = read_text(folder.path()).unwrap_err();
        assert_eq!(&*error.message, "the file is not a regular file");
    }

    #[test]
    fn a_file_without_end_is_not_read_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        fs::write(&path, vec![b' '; MAX_FILE_BYTES as usize + 1]).unwrap();
        assert_eq!(&*read_text(&path).unwrap_err().message, "the file is longer than 4 MiB");
    }
}
