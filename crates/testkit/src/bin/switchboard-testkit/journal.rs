//! Append-only files that record a server's actions and incoming messages for a test.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use parking_lot::Mutex;
use serde_json::Value;

/// A file to which lines are appended, each written before the call returns.
#[derive(Debug, Default)]
pub(crate) struct FixtureJournal(Option<Mutex<File>>);

impl FixtureJournal {
    pub(crate) fn open(path: Option<&Path>) -> Self {
        Self(path.map(|path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.unwrap_or_else(|cause| panic!("`{}`: {cause}", path.display()));
            Mutex::new(file)
        }))
    }

    pub(crate) fn line(&self, text: &str) {
        if let Some(file) = &self.0 {
            let mut file = file.lock();
            // One write per line, so that lines of several processes do not interleave.
            file.write_all(format!("{text}\n").as_bytes()).expect("the journal can be written");
            file.flush().expect("the journal can be flushed");
        }
    }
}

/// Returns a JSON string without its quotes, and any other value as JSON text.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
