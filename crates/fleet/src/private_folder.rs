//! A folder for temporary files that one server has for itself.

use std::path::{Path, PathBuf};
use std::{fs, io};

use switchboard_core::ServerId;
use switchboard_files::normal_path;
use switchboard_text::digest;

/// Makes the folder if it is not there; it is for its owner alone.
pub(crate) fn create(state: &Path, server: &ServerId) -> io::Result<PathBuf> {
    let mark = digest::fingerprint([server.as_str().as_bytes()]);
    let folder = state.join("tmp").join(mark.get(..16).unwrap_or(&mark));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    normal_path::canonicalize(&folder)
}
