//! What a confined server keeps, written down for the process that takes the rest away.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Confinement, Network};
use crate::connect::Failure;
use crate::connect::process::Launch;

/// What a confined process keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) read: Vec<PathBuf>,
    pub(super) write: Vec<PathBuf>,
    /// The folder for its temporary files, beside which those of others are.
    pub(super) own: Option<PathBuf>,
    pub(super) has_network: bool,
    pub(super) memory_bytes: Option<u64>,
    pub(super) processes: Option<u64>,
    pub(super) cpu_seconds: Option<u64>,
}

/// The plan for a server as text; none if it is not confined.
pub(super) fn of(launch: &Launch<'_>) -> Result<Option<String>, Failure> {
    let Confinement::Profile(sandbox) = launch.confinement else { return Ok(None) };
    let number = |most: Option<usize>| most.and_then(|most| u64::try_from(most).ok());
    let with = |paths: &[PathBuf], more: Option<&Path>| -> Vec<PathBuf> {
        paths.iter().cloned().chain(more.map(Path::to_owned)).collect()
    };
    let plan = Plan {
        read: with(&sandbox.read, launch.cwd),
        write: with(&sandbox.write, launch.own_folder),
        own: launch.own_folder.map(Path::to_owned),
        has_network: sandbox.network == Network::Open,
        memory_bytes: number(sandbox.memory_mb).map(|most| most.saturating_mul(1 << 20)),
        processes: number(sandbox.processes),
        cpu_seconds: number(sandbox.cpu_seconds),
    };
    serde_json::to_string(&plan).map(Some).map_err(|error| Failure::new(error.to_string()))
}
