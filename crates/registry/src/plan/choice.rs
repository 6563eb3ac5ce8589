//! The ways in which a server can be added, of which a person chooses one.

use crate::client::RegistryReach;
use crate::plan::error::PlanError;
use crate::plan::install_plan::InstallPlan;
use crate::plan::{package, remote};
use crate::server_json::ServerDetail;

/// One way to add a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallChoice {
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb` or `remote`.
    pub kind: String,
    /// The package or the address, as published.
    pub what: String,
    /// What it would run or visit, or why it cannot.
    pub plan: Result<InstallPlan, PlanError>,
}

/// Every way, those that run elsewhere last.
#[must_use]
pub fn choices(server: &ServerDetail, reach: RegistryReach) -> Vec<InstallChoice> {
    let packages = server.packages.iter().map(|one| InstallChoice {
        kind: one.registry_type.clone(),
        what: match &one.version {
            Some(version) => format!("{} {version}", one.identifier),
            None => one.identifier.clone(),
        },
        plan: package::package_plan(one, reach),
    });
    let remotes = server.remotes.iter().map(|one| InstallChoice {
        kind: "remote".to_owned(),
        what: one.url.clone(),
        plan: remote::remote_plan(one, reach),
    });
    packages.chain(remotes).collect()
}
