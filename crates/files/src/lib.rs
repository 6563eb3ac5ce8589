//! Files as Switchboard needs them: locked, replaced atomically, kept below a root, watched.
//!
//! In go paths and bytes; out come files that are either the old or the new version, locks that die with
//! their process, and paths that cannot leave their root. Nothing here knows what the files mean.

pub mod download;
pub mod file_name;
pub mod file_uri;
pub mod lock;
pub mod normal_path;
pub mod process_lock;
pub mod replace;
mod watch;

pub use download::{DownloadError, DownloadRoots, IfExists};
pub use lock::acquire;
pub use process_lock::{FolderLock, ProcessLock};
pub use watch::{FileWatcher, watch};
