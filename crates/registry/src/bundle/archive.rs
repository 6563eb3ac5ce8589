//! Reads a zip archive within limits, and rejects entries that lead out of its folder.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use crate::bundle::error::BundleError;

/// Limits of a bundle, which keep a zip bomb from filling memory or disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Maximum size of the archive, compressed.
    pub packed_bytes: u64,
    /// Maximum total size of all files, uncompressed.
    pub total_bytes: u64,
    pub files: usize,
    /// Maximum compression ratio of a file.
    pub ratio: u64,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        let mebibyte = 1024 * 1024;
        Self {
            packed_bytes: 256 * mebibyte,
            total_bytes: 1_024 * mebibyte,
            files: 50_000,
            ratio: 200,
        }
    }
}

/// Size up to which the compression ratio is not checked: small generated files compress well.
const SMALL_FILE_BYTES: u64 = 1024 * 1024;
const MAX_NAME_BYTES: usize = 400;
const MODE_TYPE_MASK: u32 = 0o170_000;
const MODE_REGULAR: u32 = 0o100_000;
const MODE_FOLDER: u32 = 0o040_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PackedFile {
    pub(super) name: String,
    pub(super) index: usize,
    pub(super) bytes: u64,
    pub(super) executable: bool,
}

/// Returns the checked files of an archive, without folders, which are created on demand.
pub(super) fn files(bytes: &[u8], limits: &ArchiveLimits) -> Result<Vec<PackedFile>, BundleError> {
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limits.packed_bytes {
        return Err(BundleError::TooLarge(format!("more than {} bytes", limits.packed_bytes)));
    }
    let mut archive = open(bytes)?;
    if archive.len() > limits.files {
        return Err(BundleError::TooLarge(format!("more than {} files", limits.files)));
    }
    let mut files = Vec::new();
    let mut names = BTreeSet::new();
    let mut total = 0_u64;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| archive_error(&error))?;
        let name = entry.name().map_err(|error| archive_error(&error))?.into_owned();
        let bad = |why: &'static str| BundleError::BadEntry { name: short_name(&name), why };
        // A link could point out of the folder, and later entries would be written through it.
        let kind = entry.unix_mode().map_or(0, |mode| mode & MODE_TYPE_MASK);
        let is_folder = name.ends_with('/');
        if !matches!((kind, is_folder), (0, _) | (MODE_REGULAR, false) | (MODE_FOLDER, true)) {
            return Err(bad("is not a regular file"));
        }
        if entry.encrypted() {
            return Err(bad("is encrypted"));
        }
        check_name(name.trim_end_matches('/')).map_err(bad)?;
        if is_folder {
            continue;
        }
        // On a case-insensitive file system, names that differ only in case are one file.
        if !names.insert(name.to_lowercase()) {
            return Err(bad("occurs twice"));
        }
        let size = entry.size();
        let packed = entry.compressed_size();
        if size > SMALL_FILE_BYTES && size / packed.max(1) > limits.ratio {
            return Err(bad("exceeds the compression ratio"));
        }
        total = total.saturating_add(size);
        if total > limits.total_bytes {
            return Err(BundleError::TooLarge(format!(
                "more than {} bytes unpacked",
                limits.total_bytes
            )));
        }
        let executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        files.push(PackedFile { name, index, bytes: size, executable });
    }
    check_folders(&files)?;
    Ok(files)
}

/// Rejects a file whose name is also that of a folder.
fn check_folders(files: &[PackedFile]) -> Result<(), BundleError> {
    for file in files {
        let is_above = |other: &PackedFile| {
            other.name.strip_prefix(&file.name).is_some_and(|rest| rest.starts_with('/'))
        };
        // The check is quadratic. In larger bundles, unpacking such a file fails instead.
        if files.len() <= 2_000 && files.iter().any(is_above) {
            return Err(BundleError::BadEntry {
                name: short_name(&file.name),
                why: "is both a file and a folder",
            });
        }
    }
    Ok(())
}

/// Returns the contents of a file in an open archive.
pub(super) fn read(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    file: &PackedFile,
) -> Result<Vec<u8>, BundleError> {
    let entry = archive.by_index(file.index).map_err(|error| archive_error(&error))?;
    let mut contents = Vec::new();
    // The declared size passed the limits, so the actual one must not exceed it.
    let read = entry.take(file.bytes.saturating_add(1)).read_to_end(&mut contents);
    read.map_err(|error| BundleError::NoArchive(error.to_string()))?;
    if u64::try_from(contents.len()).unwrap_or(u64::MAX) != file.bytes {
        return Err(BundleError::BadEntry {
            name: short_name(&file.name),
            why: "does not have its declared size",
        });
    }
    Ok(contents)
}

pub(super) fn open(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, BundleError> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| archive_error(&error))
}

fn archive_error(error: &zip::result::ZipError) -> BundleError {
    BundleError::NoArchive(error.to_string())
}

/// Rejects names that lead out of the folder on any platform.
pub(super) fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err("has no name, or one that is too long");
    }
    // Windows treats a backslash as a separator, and `C:` or `file:stream` as special.
    if name.contains(['\\', ':']) || name.starts_with('/') {
        return Err("is not a plain relative path");
    }
    if name.chars().any(char::is_control) {
        return Err("has a control character in its name");
    }
    // Windows drops trailing dots and spaces, so that `.. ` would be `..` there.
    if name.split('/').any(|part| matches!(part, "" | "." | "..") || part.ends_with([' ', '.'])) {
        return Err("leads out of its folder");
    }
    Ok(())
}

fn short_name(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(120).collect()
}
