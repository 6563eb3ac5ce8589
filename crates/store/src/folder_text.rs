//! Folders as they are kept: byte for byte where the system's paths are bytes.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use rusqlite::ToSql;
use rusqlite::types::ToSqlOutput;

/// A folder on its way into a column of text.
pub(crate) struct FolderText<'a>(pub(crate) &'a Path);

#[cfg(unix)]
impl ToSql for FolderText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        use std::os::unix::ffi::OsStrExt;

        use rusqlite::types::ValueRef;
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0.as_os_str().as_bytes())))
    }
}

#[cfg(not(unix))]
impl ToSql for FolderText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.to_string_lossy().into_owned()))
    }
}

/// The folder that was kept.
#[cfg(unix)]
pub(crate) fn folder(text: Bytes) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(text.into()).into()
}

/// The folder that was kept.
#[cfg(not(unix))]
pub(crate) fn folder(text: Bytes) -> PathBuf {
    String::from_utf8_lossy(&text).into_owned().into()
}
