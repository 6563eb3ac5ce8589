//! What a confined server keeps, written down for the process that takes the rest away.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use switchboard_catalog::ServerFailure;
use switchboard_config::{Confinement, NetworkAccess};

use crate::process::Launch;

/// What a confined process keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SandboxPlan {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// The folder for its temporary files, beside which those of others are.
    pub(crate) own: Option<PathBuf>,
    pub(crate) has_network: bool,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) processes: Option<u64>,
    pub(crate) cpu_seconds: Option<u64>,
}

/// The plan for a server as text; none if it is not confined.
pub(crate) fn encode(launch: &Launch<'_>) -> Result<Option<String>, ServerFailure> {
    let Confinement::Profile(sandbox) = launch.confinement else { return Ok(None) };
    let number = |most: Option<usize>| most.and_then(|most| u64::try_from(most).ok());
    let with = |paths: &[PathBuf], more: Option<&Path>| -> Vec<PathBuf> {
        paths.iter().cloned().chain(more.map(Path::to_owned)).collect()
    };
    let plan = SandboxPlan {
        read: with(&sandbox.read, launch.cwd),
        write: with(&sandbox.write, launch.temp_folder),
        own: launch.temp_folder.map(Path::to_owned),
        has_network: sandbox.network == NetworkAccess::Open,
        memory_bytes: number(sandbox.memory_mb).map(|most| most.saturating_mul(1 << 20)),
        processes: number(sandbox.processes),
        cpu_seconds: number(sandbox.cpu_seconds),
    };
    serde_json::to_string(&plan).map(Some).map_err(|error| ServerFailure::new(error.to_string()))
}
