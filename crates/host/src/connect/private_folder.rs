//! A folder for temporary files that one server has for itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::digest;
use crate::plain_path;
use crate::server_id::ServerId;

/// Makes the folder if it is not there; it is for its owner alone.
pub(super) fn make(state: &Path, server: &ServerId) -> io::Result<PathBuf> {
    let mark = digest::of([server.as_str().as_bytes()]);
    let folder = state.join("tmp").join(mark.get(..16).unwrap_or(&mark));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    plain_path::resolved(&folder)
}
