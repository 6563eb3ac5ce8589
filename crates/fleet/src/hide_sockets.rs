//! Hides the sockets of other programs from a process and its children.
//!
//! Landlock does not prevent connecting to a socket by its path. A confined server therefore gets
//! empty `tmpfs` mounts over the folders with sockets, with only its allowed paths restored.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};

/// Folders with sockets of the system, of desktops and of other programs.
const SOCKET_FOLDERS: &[&str] = &["/run", "/var/run", "/tmp", "/var/tmp"];
/// Links by which NixOS finds programs and drivers.
const PROGRAM_LINKS: &[&str] =
    &["/run/current-system", "/run/booted-system", "/run/wrappers", "/run/opengl-driver"];

pub(crate) enum HideSocketsError {
    /// Not possible on this system; no folder was hidden.
    Unsupported(io::Error),
    /// Failed midway, so that allowed paths may be missing.
    Incomplete(String),
}

/// Hides the folders in the mount namespace of this process. Paths in `kept` remain visible. The
/// folder around `own` is hidden too, except for `own`.
pub(crate) fn hide_sockets(kept: &[&Path], own: Option<&Path>) -> Result<(), HideSocketsError> {
    // Without a working directory, the process ends up in `/` below.
    let here = std::env::current_dir().ok();
    let real = |path: &Path| fs::canonicalize(path).ok();
    let kept_real: Vec<PathBuf> = kept.iter().filter_map(|path| real(path)).collect();
    let beside_own = own.and_then(Path::parent);
    // Real paths: `/var/run` is usually a link to `/run`, and one mount must not cover another.
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
    // Opened before the mounts below hide them.
    let opened: Vec<(&PathBuf, OwnedFd)> = kept_real
        .iter()
        .filter(|path| inside(path))
        .filter_map(|path| {
            Some((path, open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?))
        })
        .collect();
    // Make mounts private, so that other processes do not see the following ones.
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", alone).map_err(|error| HideSocketsError::Unsupported(error.into()))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    for (number, folder) in covered.iter().enumerate() {
        let done = mount("none", folder, "tmpfs", flags, Some(c"mode=0755,size=64k"));
        done.map_err(|error| match number {
            // No folder is hidden yet, so the server can run without this restriction.
            0 => HideSocketsError::Unsupported(error.into()),
            _ => incomplete_error(folder, &error.into()),
        })?;
    }
    for (path, file) in &opened {
        restore_mount(path, file).map_err(|error| incomplete_error(path, &error))?;
    }
    for (path, target) in &links {
        // Restoring its folder may have restored the link as well.
        if path.symlink_metadata().is_err() {
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| symlink(target, path))
                .map_err(|error| incomplete_error(path, &error))?;
        }
    }
    // The working directory may be below a hidden folder, and relative paths would bypass the
    // mount. Enter it again by its absolute path.
    if here.is_some_and(|here| std::env::set_current_dir(here).is_ok()) {
        return Ok(());
    }
    std::env::set_current_dir("/").map_err(|error| incomplete_error(Path::new("/"), &error))
}

fn incomplete_error(path: &Path, error: &io::Error) -> HideSocketsError {
    HideSocketsError::Incomplete(format!("cannot prepare `{}`: {error}", path.display()))
}

/// Makes a file or folder visible again inside the hidden folders.
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
