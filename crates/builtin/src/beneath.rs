//! Opens files component by component from a root, so that no symbolic link is followed.
//!
//! `roots` checks the path, but a folder may be replaced with a link, or a file with a pipe, before
//! it is opened. On Unix, each component is opened relative to the previous one with links
//! rejected, and a file without blocking, so such a replacement fails instead of escaping.

use std::ffi::OsString;
use std::fs::File;
use std::io;

use crate::roots::RootedPath;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderEntry {
    pub(crate) name: OsString,
    pub(crate) kind: EntryKind,
    pub(crate) size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

/// The entries of a folder, sorted by name; `whole` is false if there were more.
#[derive(Debug)]
pub(crate) struct FolderListing {
    pub(crate) entries: Vec<FolderEntry>,
    pub(crate) whole: bool,
}

/// Opens a regular file for reading; anything else is rejected without being opened.
pub(crate) fn open_file(place: &RootedPath) -> io::Result<File> {
    let file = platform::open_file(place)?;
    // Again on the open file: the entry may have been replaced after the first check.
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_regular(EntryKind::Other)),
    }
}

pub(crate) fn read_folder(place: &RootedPath, most: usize) -> io::Result<FolderListing> {
    let mut folder = platform::read_folder(place, most)?;
    folder.entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(folder)
}

pub(crate) fn entry_kind(place: &RootedPath) -> io::Result<EntryKind> {
    let about = place.to_path().symlink_metadata()?.file_type();
    Ok(match (about.is_file(), about.is_dir(), about.is_symlink()) {
        (true, ..) => EntryKind::File,
        (_, true, _) => EntryKind::Folder,
        (.., true) => EntryKind::Link,
        _ => EntryKind::Other,
    })
}

fn not_regular(kind: EntryKind) -> io::Error {
    match kind {
        EntryKind::Folder => io::ErrorKind::IsADirectory.into(),
        _ => io::ErrorKind::InvalidInput.into(),
    }
}

#[cfg(unix)]
mod platform {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Component, Path};

    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, openat, statat};
    use rustix::path::Arg;

    use super::{EntryKind, FolderEntry, FolderListing, not_regular};
    use crate::roots::RootedPath;

    pub(crate) fn open_file(place: &RootedPath) -> io::Result<File> {
        let name = place.relative.file_name().ok_or_else(|| not_regular(EntryKind::Folder))?;
        let parent = place.relative.parent().unwrap_or(Path::new(""));
        let parent = descend(&place.root, parent)?;
        // Opening a device can have side effects, so check the kind first.
        match stat_entry(&parent, name)? {
            (EntryKind::File, _) => {}
            (kind, _) => return Err(not_regular(kind)),
        }
        // Without NONBLOCK, opening a pipe would wait for a writer.
        let how =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(openat(&parent, name, how, Mode::empty())?))
    }

    pub(crate) fn read_folder(place: &RootedPath, most: usize) -> io::Result<FolderListing> {
        let folder = descend(&place.root, &place.relative)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            // A folder may have millions of entries, and all are sorted in memory.
            if entries.len() >= most {
                return Ok(FolderListing { entries, whole: false });
            }
            // An entry that cannot be read was deleted meanwhile.
            if let Ok((kind, size)) = stat_entry(&folder, entry.file_name()) {
                entries.push(FolderEntry { name: name.to_owned(), kind, size });
            }
        }
        Ok(FolderListing { entries, whole: true })
    }

    fn descend(root: &Path, relative: &Path) -> io::Result<OwnedFd> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = open(root, how, Mode::empty())?;
        for part in relative.components() {
            // `..` would leave the root, although each step follows no link.
            let Component::Normal(name) = part else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            folder = openat(&folder, name, how, Mode::empty())?;
        }
        Ok(folder)
    }

    fn stat_entry(folder: impl AsFd, name: impl Arg) -> io::Result<(EntryKind, u64)> {
        let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        };
        Ok((kind, u64::try_from(about.st_size).unwrap_or(0)))
    }
}

#[cfg(not(unix))]
mod platform {
    use std::fs::File;
    use std::{fs, io};

    use super::{EntryKind, FolderEntry, FolderListing, not_regular};
    use crate::roots::RootedPath;

    pub(crate) fn open_file(place: &RootedPath) -> io::Result<File> {
        let path = place.to_path();
        match kind(&path.symlink_metadata()?) {
            EntryKind::File => options().open(path),
            other => Err(not_regular(other)),
        }
    }

    /// Opens a link itself and not its target; the caller rejects it as not a regular file.
    fn options() -> fs::OpenOptions {
        let mut options = fs::OpenOptions::new();
        options.read(true);
        #[cfg(windows)]
        {
            const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
            use std::os::windows::fs::OpenOptionsExt as _;
            options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
        }
        options
    }

    pub(crate) fn read_folder(place: &RootedPath, most: usize) -> io::Result<FolderListing> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(place.to_path())? {
            let entry = entry?;
            if entries.len() >= most {
                return Ok(FolderListing { entries, whole: false });
            }
            if let Ok(about) = entry.metadata() {
                let kind = kind(&about);
                let size = about.len();
                entries.push(FolderEntry { name: entry.file_name(), kind, size });
            }
        }
        Ok(FolderListing { entries, whole: true })
    }

    fn kind(about: &fs::Metadata) -> EntryKind {
        match about.file_type() {
            kind if kind.is_symlink() => EntryKind::Link,
            kind if kind.is_dir() => EntryKind::Folder,
            kind if kind.is_file() => EntryKind::File,
            _ => EntryKind::Other,
        }
    }
}
