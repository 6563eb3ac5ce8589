//! Covers the folders in which programs keep their sockets, for one process and what it starts.
//!
//! Landlock keeps nobody from connecting to a socket whose file cannot be opened. So a confined server
//! gets empty folders in the place of these, in which stands what it was given and nothing else.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};

/// Where sockets are: of the system, of desktops, of whoever has no better place.
const SOCKET_FOLDERS: &[&str] = &["/run", "/var/run", "/tmp", "/var/tmp"];
/// Links of some systems by which programs are found.
const PROGRAM_LINKS: &[&str] =
    &["/run/current-system", "/run/booted-system", "/run/wrappers", "/run/opengl-driver"];

/// Why the folders are not covered.
pub(crate) enum HideSocketsError {
    /// It cannot be done here, and nothing was changed.
    Unsupported(io::Error),
    /// It was begun, and the server would not find what it was given.
    Incomplete(String),
}

/// Covers the folders, in mounts that are this process's own. What of `kept` is in them stays, and
/// `own` alone of the folder that it is in.
pub(crate) fn hide_sockets(kept: &[&Path], own: Option<&Path>) -> Result<(), HideSocketsError> {
    let here = std::env::current_dir().ok();
    let real = |path: &Path| fs::canonicalize(path).ok();
    let kept_real: Vec<PathBuf> = kept.iter().filter_map(|path| real(path)).collect();
    let beside_own = own.and_then(Path::parent);
    let mut covered: Vec<PathBuf> = Vec::new();
    for folder in SOCKET_FOLDERS.iter().map(Path::new).chain(beside_own).filter_map(real) {
        let is_given = kept_real.iter().any(|path| folder.starts_with(path));
        let is_inside = covered.iter().any(|outer| folder.starts_with(outer));
        if !is_given && !is_inside && folder.is_dir() {
            covered.push(folder);
        }
    }
    let inside = |path: &Path| covered.iter().any(|folder| path.starts_with(folder));
    let links = PROGRAM_LINKS.iter().map(Path::new).chain(kept.iter().copied());
    let links: Vec<(&Path, PathBuf)> = links
        .filter(|path| inside(path))
        .filter_map(|path| Some((path, fs::read_link(path).ok()?)))
        .collect();
    let opened: Vec<(&PathBuf, OwnedFd)> = kept_real
        .iter()
        .filter(|path| inside(path))
        .filter_map(|path| {
            Some((path, open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?))
        })
        .collect();
    // Nobody else sees what is mounted from here on.
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", alone).map_err(|error| HideSocketsError::Unsupported(error.into()))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    for (number, folder) in covered.iter().enumerate() {
        let done = mount("none", folder, "tmpfs", flags, Some(c"mode=0755,size=64k"));
        done.map_err(|error| match number {
            0 => HideSocketsError::Unsupported(error.into()),
            _ => incomplete_error(folder, &error.into()),
        })?;
    }
    for (path, file) in &opened {
        restore_mount(path, file).map_err(|error| incomplete_error(path, &error))?;
    }
    for (path, target) in &links {
        // Its folder may have come back with it in it.
        if path.symlink_metadata().is_err() {
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| symlink(target, path))
                .map_err(|error| incomplete_error(path, &error))?;
        }
    }
    // Where we are may be below a cover: ways from there would lead around it.
    let back = here.filter(|here| std::env::set_current_dir(here).is_ok());
    match back {
        Some(_) => Ok(()),
        None => {
            std::env::set_current_dir("/").map_err(|error| incomplete_error(Path::new("/"), &error))
        }
    }
}

fn incomplete_error(path: &Path, error: &io::Error) -> HideSocketsError {
    HideSocketsError::Incomplete(format!(
        "`{}` cannot be put in its place: {error}",
        path.display()
    ))
}

/// Gives a file or folder its place again, in the covers.
fn restore_mount(path: &Path, file: &OwnedFd) -> io::Result<()> {
    let source = format!("/proc/self/fd/{}", file.as_raw_fd());
    let is_folder = fs::metadata(&source)?.is_dir();
    if fs::metadata(path).is_err() {
        let folder = if is_folder { Some(path) } else { path.parent() };
        folder.map_or(Ok(()), fs::create_dir_all)?;
        if !is_folder {
            fs::File::create_new(path)?;
        }
    }
    Ok(mount_bind_recursive(source, path)?)
}
