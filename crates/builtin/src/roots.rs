//! Resolves a caller's path to a place inside the shared folders, or rejects it.
//!
//! There are two checks. The first is lexical: `..` is folded, and a path that leaves the folders
//! is rejected without disk access, so that the answer reveals nothing about files outside. The
//! second is on disk: symbolic links are resolved, and the result must be inside again.

use std::borrow::Cow;
use std::io;
use std::path::{Component, Path, PathBuf};

use switchboard_files::simplify_path;

use crate::display_text;
use crate::error::ToolRefusal;

const MAX_PATH_BYTES: usize = 4096;

/// Kernel file systems, which contain secrets and devices; a root of `/` does not include them.
#[cfg(unix)]
const KERNEL_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];
#[cfg(not(unix))]
const KERNEL_FOLDERS: [&str; 0] = [];

#[derive(Debug)]
pub(crate) struct Roots {
    roots: Vec<SharedRoot>,
}

#[derive(Debug)]
struct SharedRoot {
    /// The configured path, made absolute; callers may use it in their paths.
    configured: PathBuf,
    /// The path with links resolved once at the start, so that changing a link later has no effect.
    real: PathBuf,
}

/// A place that passed the checks: a shared folder and a path relative to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RootedPath {
    pub(crate) root: PathBuf,
    /// Without links and `..`; empty for the root itself.
    pub(crate) relative: PathBuf,
}

impl RootedPath {
    /// Returns the full path for display; files are opened through `beneath`.
    pub(crate) fn display_path(&self) -> PathBuf {
        simplify_path(self.to_path())
    }

    fn names_whole_files(&self) -> bool {
        // On Windows, a colon selects an alternate data stream: rules would see another name.
        !cfg!(windows) || !self.relative.to_string_lossy().contains(':')
    }

    pub(crate) fn below(&self, further: &Path) -> Self {
        // Joining an empty path would append a separator.
        let relative = match further.as_os_str().is_empty() {
            true => self.relative.clone(),
            false => self.relative.join(further),
        };
        Self { root: self.root.clone(), relative }
    }

    pub(crate) fn to_path(&self) -> PathBuf {
        match self.relative.as_os_str().is_empty() {
            true => self.root.clone(),
            false => self.root.join(&self.relative),
        }
    }
}

impl Roots {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        let mut roots: Vec<SharedRoot> = Vec::new();
        for folder in folders {
            let Ok(given) = std::path::absolute(&folder) else { continue };
            // A folder that does not exist yet is not shared later either: it could be a link then.
            let Ok(real) = given.canonicalize() else { continue };
            if real.is_dir() && !roots.iter().any(|root| root.real == real) {
                roots.push(SharedRoot { configured: normalize(&given), real });
            }
        }
        Self { roots }
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.real.as_path())
    }

    pub(crate) fn describe(&self) -> String {
        let names: Vec<String> = self
            .folders()
            .map(|folder| simplify_path(folder.to_owned()))
            .map(|folder| format!("`{}`", display_text::printable(&folder.to_string_lossy())))
            .collect();
        match names.as_slice() {
            [] => "no folder is shared, so the file tools have nothing to read".to_owned(),
            [only] => format!("the file tools read inside {only}, and paths may be relative to it"),
            _ => format!("the file tools read inside {}", names.join(", ")),
        }
    }

    /// Returns how a place is written in results: relative if there is only one root.
    pub(crate) fn display_name(&self, place: &RootedPath) -> String {
        let path = match self.roots.len() {
            1 if place.relative.as_os_str().is_empty() => PathBuf::from("."),
            1 => place.relative.clone(),
            _ => place.display_path(),
        };
        path.to_string_lossy().into_owned()
    }

    /// Returns the places where a walk starts: the given path, or all roots.
    pub(crate) fn start_places(&self, path: Option<&str>) -> Result<Vec<RootedPath>, ToolRefusal> {
        match path {
            Some(path) if !path.is_empty() => Ok(vec![self.resolve(path)?]),
            _ if self.roots.is_empty() => Err(ToolRefusal::new(self.describe())),
            _ => Ok(self
                .folders()
                .map(|root| RootedPath { root: root.to_owned(), relative: PathBuf::new() })
                .collect()),
        }
    }

    /// Resolves a path, including all symbolic links.
    pub(crate) fn resolve(&self, path: &str) -> Result<RootedPath, ToolRefusal> {
        // The system would end the path at a NUL, after the checks have seen more of it.
        if path.contains('\0') {
            return Err(ToolRefusal::parameter("path", "contains a NUL character"));
        }
        if path.len() > MAX_PATH_BYTES {
            return Err(ToolRefusal::parameter("path", "is longer than 4096 bytes"));
        }
        let candidate = self
            .candidate(Path::new(&*native(path)))
            .filter(RootedPath::names_whole_files)
            .ok_or_else(|| self.outside(path))?;
        match candidate.to_path().canonicalize() {
            Ok(real) => self.locate(&real).ok_or_else(|| self.outside(path)),
            // Before the error is reported: it would reveal whether a file outside exists.
            Err(_) if !self.ends_inside(&candidate) => Err(self.outside(path)),
            Err(problem) if problem.kind() == io::ErrorKind::NotADirectory => {
                Err(ToolRefusal::missing(path))
            }
            Err(problem) => Err(ToolRefusal::from_io_error(path, &problem)),
        }
    }

    /// Resolves a path lexically; `None` if it leads outside.
    fn candidate(&self, path: &Path) -> Option<RootedPath> {
        if path.is_absolute() {
            let path = normalize(path);
            return self.roots.iter().find_map(|root| {
                let relative =
                    path.strip_prefix(&root.real).or_else(|_| path.strip_prefix(&root.configured));
                Some(RootedPath { root: root.real.clone(), relative: relative.ok()?.to_owned() })
            });
        }
        let mut relative = PathBuf::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => relative.push(name),
                Component::CurDir => {}
                Component::ParentDir if relative.pop() => {}
                _ => return None,
            }
        }
        let in_root =
            |root: &SharedRoot| RootedPath { root: root.real.clone(), relative: relative.clone() };
        let places: Vec<RootedPath> = self.roots.iter().map(in_root).collect();
        // With several roots, a relative path means the first one that has the file.
        let existing = places.iter().find(|place| place.to_path().symlink_metadata().is_ok());
        existing.or(places.first()).cloned()
    }

    fn locate(&self, real: &Path) -> Option<RootedPath> {
        self.folders().find_map(|root| {
            let relative = real.strip_prefix(root).ok()?;
            let kernel = KERNEL_FOLDERS
                .iter()
                .any(|folder| real.starts_with(folder) && !root.starts_with(folder));
            (!kernel).then(|| RootedPath { root: root.to_owned(), relative: relative.to_owned() })
        })
    }

    /// Returns whether a path that does not resolve ends inside, other than at a broken link.
    ///
    /// A broken link gets the same answer as one that leads outside, so that links cannot probe
    /// which files exist there.
    fn ends_inside(&self, candidate: &RootedPath) -> bool {
        let full = candidate.to_path();
        for known in full.ancestors() {
            if known.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
                return known.canonicalize().is_ok_and(|real| self.locate(&real).is_some());
            }
            if let Ok(real) = known.canonicalize() {
                return self.locate(&real).is_some();
            }
        }
        false
    }

    fn outside(&self, path: &str) -> ToolRefusal {
        let path = display_text::brief(path);
        ToolRefusal::new(format!("`{path}` is not inside the shared folders"))
            .with_hint(self.describe())
    }
}

/// Converts separators: Windows accepts only its own in a path with the prefix `\\?\`.
fn native(path: &str) -> Cow<'_, str> {
    if cfg!(windows) { path.replace('/', "\\").into() } else { path.into() }
}

fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
