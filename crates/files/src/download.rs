//! Writes content from a server to a path that a person or a model chose, below a set of roots.
//!
//! The path is validated as text first, then walked folder by folder without following links. The
//! file appears atomically, and only its owner can read it.

use std::path::{Component, Path, PathBuf};

use switchboard_text::{fold_char, hex_digest};

use crate::normal_path::{is_device_name, simplify_path};

/// Names of files that programs read as settings or execute, in lower case.
#[rustfmt::skip]
const PROTECTED_NAMES: &[&str] = &[
    "mcp.json", "switchboard.json", "switchboard.lock", "claude_desktop_config.json",
    "cline_mcp_settings.json", "mcp_config.json", "mcp_settings.json", "hooks.json", "policy.json",
    // Instructions and settings of agents.
    "agents.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "warp.md",
    "opencode.json", "opencode.jsonc", "crush.json", "mcp.yaml", "mcp.yml", "mcp.toml",
    // Files that systems, build tools and interpreters run without being asked.
    "autorun.inf", "desktop.ini", "makefile", "gnumakefile", "justfile", "package.json", "setup.py",
    "build.rs", "authorized_keys", "authorized_keys2", "known_hosts", "node_modules", "__pycache__",
    "sitecustomize.py", "usercustomize.py", "conftest.py",
];

/// Minimum free space that a download leaves on the disk.
#[cfg(unix)]
const HEADROOM_BYTES: u64 = 64 << 20;
const MAX_NAME_BYTES: usize = 200;
const MAX_PATH_BYTES: usize = 1_024;

/// The allowed locations of a download.
#[derive(Debug, Clone)]
pub struct DownloadRoots<'a> {
    /// The folders that may be written to. A relative path starts at the first.
    pub roots: &'a [PathBuf],
    /// Folders inside them that must not be written to: Switchboard's configuration and state.
    pub protected: &'a [PathBuf],
    pub limit_bytes: usize,
    pub existing: IfExists,
}

/// The action if the file already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfExists {
    /// Keeps the file, and returns an error.
    Keep,
    Replace,
}

/// The reason that nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("`{0}` is outside the folders that may be written to")]
    Outside(String),
    #[error("`{path}` is not an accepted path: {why}")]
    NotPlain { path: String, why: &'static str },
    #[error("`{0}` is protected: programs run or trust files at this path")]
    Protected(String),
    #[error("the file `{0}` already exists")]
    Exists(String),
    #[error("`{path}` cannot be reached without following links: {cause}")]
    Unreachable { path: String, cause: std::io::Error },
    #[error("the content has {size} bytes, more than the limit of {limit}")]
    TooLong { size: usize, limit: usize },
    #[error("not enough free disk space for {0} bytes")]
    NoRoom(usize),
    #[error("`{path}` cannot be written: {cause}")]
    NotWritten { path: String, cause: std::io::Error },
}

impl DownloadError {
    /// Returns a suggestion how to fix the error.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Outside(_) => Some("choose a path below the current folder, or pass `--root`"),
            Self::Exists(_) => Some("choose another name, or pass `--force`"),
            Self::NotPlain { .. } | Self::Protected(_) => Some("choose another name"),
            _ => None,
        }
    }
}

/// Writes `content` to `wanted`; returns the path of the file. An error leaves no partial file.
pub fn write_download(
    ground: &DownloadRoots<'_>,
    wanted: &Path,
    content: &[u8],
) -> Result<PathBuf, DownloadError> {
    if content.len() > ground.limit_bytes {
        return Err(DownloadError::TooLong { size: content.len(), limit: ground.limit_bytes });
    }
    let place = DownloadPath::resolve(ground, wanted)?;
    platform::write(&place, content, ground.existing)?;
    Ok(simplify_path(place.full_path()))
}

/// A validated path below a root.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DownloadPath {
    pub(crate) root: PathBuf,
    pub(crate) folders: Vec<String>,
    name: String,
    pub(crate) written: String,
}

impl DownloadPath {
    fn resolve(ground: &DownloadRoots<'_>, wanted: &Path) -> Result<Self, DownloadError> {
        let written = wanted.to_string_lossy().into_owned();
        let not_plain = |why| DownloadError::NotPlain { path: written.clone(), why };
        let text = wanted.to_str().ok_or_else(|| not_plain("it is not Unicode text"))?;
        if text.len() > MAX_PATH_BYTES {
            return Err(not_plain("it is too long"));
        }
        if text.ends_with(std::path::is_separator) {
            return Err(not_plain("it names a folder"));
        }
        let (root, relative) = ground.split_root(wanted, &written)?;
        let mut names = Vec::new();
        for part in relative.components() {
            match part {
                Component::Normal(name) => {
                    let name = name.to_str().unwrap_or_default();
                    check_name(name).map_err(not_plain)?;
                    names.push(name.to_owned());
                }
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(DownloadError::Outside(written));
                }
            }
        }
        let name = names.pop().ok_or_else(|| not_plain("it does not name a file"))?;
        let place = Self { root, folders: names, name, written };
        if place.is_protected(ground) {
            return Err(DownloadError::Protected(place.written));
        }
        Ok(place)
    }

    pub(crate) fn full_path(&self) -> PathBuf {
        self.folders.iter().fold(self.root.clone(), |path, name| path.join(name)).join(&self.name)
    }

    fn is_protected(&self, ground: &DownloadRoots<'_>) -> bool {
        let mut names = self.folders.iter().chain([&self.name]);
        let hidden = names.any(|name| {
            // A file system may treat variants in case or normalization as the same name.
            let plain: String = name.chars().filter_map(fold_char).collect();
            // Hidden files hold settings, keys and hooks; Python runs code in `.pth` files.
            plain.starts_with('.')
                || PROTECTED_NAMES.contains(&plain.as_str())
                || plain.ends_with(".pth")
        });
        let full = self.full_path();
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        hidden || ground.protected.iter().any(|folder| full.starts_with(real(folder)))
    }
}

impl DownloadRoots<'_> {
    /// Returns the root that contains the path, and the path relative to it.
    fn split_root(
        &self,
        wanted: &Path,
        written: &str,
    ) -> Result<(PathBuf, PathBuf), DownloadError> {
        let outside = || DownloadError::Outside(written.to_owned());
        let unreachable = |cause| DownloadError::Unreachable { path: written.to_owned(), cause };
        if wanted.is_relative() {
            let root = self.roots.first().ok_or_else(outside)?;
            let root = std::fs::canonicalize(root).map_err(unreachable)?;
            return Ok((root, wanted.to_owned()));
        }
        for root in self.roots {
            let Ok(real) = std::fs::canonicalize(root) else { continue };
            // Compares components, so that `/work_evil` is not inside `/work`.
            let below = wanted.strip_prefix(root).or_else(|_| wanted.strip_prefix(&real));
            if let Ok(below) = below {
                return Ok((real, below.to_owned()));
            }
        }
        Err(outside())
    }
}

/// Checks that a name has the same meaning for all programs and file systems.
fn check_name(name: &str) -> Result<(), &'static str> {
    if name.len() > MAX_NAME_BYTES {
        return Err("a name in it is too long");
    }
    if name.ends_with(['.', ' ']) || name.starts_with([' ', '-']) {
        return Err("a name in it begins with a space or a dash, or ends with a space or a dot");
    }
    if name.contains(['\\', ':', '*', '?', '"', '<', '>', '|', '%', '~', '$', '`']) {
        return Err("it contains a character that some systems treat specially");
    }
    let plain = |c: char| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ';
    let looks =
        |c: char| matches!(c, '\u{ff0e}' | '\u{ff0f}' | '\u{ff3c}' | '\u{2024}'..='\u{2026}');
    if !name.chars().all(plain) || name.chars().any(looks) {
        return Err("it contains an invisible or confusable character");
    }
    if is_device_name(name) {
        return Err("it is the name of a device");
    }
    Ok(())
}

/// Returns a unique file name for a URI, with the letters and digits of its last segment.
pub fn file_name_for(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let (stem, ending) = last.rsplit_once('.').unwrap_or((last, ""));
    let plain = |text: &str, most: usize| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).take(most).collect()
    };
    let stem = plain(stem, 40);
    let ending = plain(ending, 8);
    // The digest keeps URIs apart that differ only in the characters that are dropped.
    let mark = hex_digest([uri.as_bytes()]);
    let mark = mark.get(..12).unwrap_or_default();
    let stem = if stem.is_empty() { "resource".to_owned() } else { stem };
    let dot = if ending.is_empty() { "" } else { "." };
    format!("{stem}-{mark}{dot}{ending}")
}

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::io::Write as _;
    use std::os::fd::{AsFd as _, OwnedFd};
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::fs::{AtFlags, Mode, OFlags, fstatvfs, linkat, open, openat, renameat, unlinkat};
    use rustix::io::Errno;

    use crate::download::{DownloadError, DownloadPath, HEADROOM_BYTES, IfExists};

    pub(crate) fn write(
        place: &DownloadPath,
        content: &[u8],
        existing: IfExists,
    ) -> Result<(), DownloadError> {
        let path = || place.written.clone();
        let folder =
            descend(place).map_err(|cause| DownloadError::Unreachable { path: path(), cause })?;
        let failed = |cause: io::Error| DownloadError::NotWritten { path: path(), cause };
        check_existing(&folder, place, existing)?;
        let room = fstatvfs(&folder).map_err(|error| failed(error.into()))?;
        let free = room.f_bavail.saturating_mul(room.f_frsize);
        if free < content.len() as u64 + HEADROOM_BYTES {
            return Err(DownloadError::NoRoom(content.len()));
        }
        static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".switchboard-{}-{number}.part", std::process::id());
        let written = fill(&folder, &temporary, content)
            .and_then(|()| publish(&folder, &temporary, place, existing));
        // A rename has removed this name already; after a link or a failure it is only a leftover.
        _ = unlinkat(&folder, &*temporary, AtFlags::empty());
        written.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => DownloadError::Exists(path()),
            _ => failed(cause),
        })
    }

    fn descend(place: &DownloadPath) -> io::Result<OwnedFd> {
        // Each component is opened relative to the previous one and must not be a link, so that a
        // concurrent change cannot redirect the walk.
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = open(&place.root, how, Mode::empty())?;
        for name in &place.folders {
            folder = openat(&folder, name, how, Mode::empty())?;
        }
        Ok(folder)
    }

    fn check_existing(
        folder: &OwnedFd,
        place: &DownloadPath,
        existing: IfExists,
    ) -> Result<(), DownloadError> {
        use rustix::fs::{FileType, statat};
        match statat(folder, &place.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(()),
            Err(error) => {
                Err(DownloadError::NotWritten { path: place.written.clone(), cause: error.into() })
            }
            Ok(about) => {
                // A file with several links may be protected under another name.
                let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
                if existing == IfExists::Replace && is_file && about.st_nlink == 1 {
                    Ok(())
                } else {
                    Err(DownloadError::Exists(place.written.clone()))
                }
            }
        }
    }

    fn fill(folder: &OwnedFd, name: &str, content: &[u8]) -> io::Result<()> {
        let how =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder, name, how, Mode::RUSR | Mode::WUSR)?);
        file.write_all(content)?;
        file.sync_all()
    }

    fn publish(
        folder: &OwnedFd,
        temporary: &str,
        place: &DownloadPath,
        existing: IfExists,
    ) -> io::Result<()> {
        let folder = folder.as_fd();
        match existing {
            IfExists::Replace => Ok(renameat(folder, temporary, folder, &place.name)?),
            // `linkat` fails if a file has appeared meanwhile; a rename would replace it.
            IfExists::Keep => Ok(linkat(folder, temporary, folder, &place.name, AtFlags::empty())?),
        }
    }
}

#[cfg(not(unix))]
#[path = "download_elsewhere.rs"]
mod platform;

#[cfg(test)]
#[path = "download_tests.rs"]
mod tests;
