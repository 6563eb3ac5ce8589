//! What the servers noted: their starts, and every call before it was answered.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::plan::Plan;

/// The journals of all servers.
#[derive(Clone, Debug)]
pub(super) struct Journals(PathBuf);

impl Journals {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Where a server writes.
    pub(super) fn of(&self, server: usize) -> PathBuf {
        self.0.join(format!("{}.journal", Plan::server(server)))
    }

    /// The process that a server is now, and how often it was started.
    pub(super) fn starts(&self, server: usize) -> (Option<u32>, usize) {
        let starts: Vec<Value> =
            self.lines(server).into_iter().filter(|line| line["event"] == "start").collect();
        let process = starts.last().and_then(|line| line["pid"].as_u64());
        (process.and_then(|process| u32::try_from(process).ok()), starts.len())
    }

    /// At which servers each call arrived, by its id.
    pub(super) fn arrivals(&self, servers: usize) -> HashMap<String, Vec<usize>> {
        let mut arrivals: HashMap<String, Vec<usize>> = HashMap::new();
        for server in 0..servers {
            for line in self.lines(server) {
                if let Some(id) = line["id"].as_str() {
                    arrivals.entry(id.to_owned()).or_default().push(server);
                }
            }
        }
        arrivals
    }

    /// A line that a killed server did not finish was written before no answer.
    fn lines(&self, server: usize) -> Vec<Value> {
        let text = std::fs::read_to_string(self.of(server)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}
