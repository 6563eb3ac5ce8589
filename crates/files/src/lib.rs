//! File operations: locks, atomic replacement, paths confined to a root, downloads, watching.
//!
//! The crate takes paths and bytes. It returns files that are either the old or the new version,
//! locks that end with their process, and paths that cannot leave their root. It never interprets
//! the contents of files.

mod download;
mod file_uri;
mod lock;
mod normal_path;
mod process_lock;
mod replace;
mod watch;

pub use download::{DownloadError, DownloadRoots, IfExists, file_name_for, write_download};
pub use file_uri::{BadFileUri, path_to_uri, uri_to_path};
pub use lock::{Lock, LockError};
pub use normal_path::{canonicalize, is_device_name, simplify_path};
pub use process_lock::{FolderLock, ProcessLock, is_alive, owners_in, remove_owner};
pub use replace::{
    FileAccess, create_private_folder, parent_folder, private_mode, replace, replace_synced,
};
pub use watch::{FileWatcher, watch};
