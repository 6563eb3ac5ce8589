//! Runs every part of the suite and sums up what does not conform.

use crate::checks;
use crate::error::{Result, XtaskError};
use crate::setup;
use crate::workspace::Workspace;

use super::{client, gateway};

/// Runs everything, also after something failed, so that one run shows all.
pub(crate) fn conformance(workspace: &Workspace, wanted: &[&str]) -> Result<()> {
    setup::require_installed(workspace, "npm")?;
    checks::build(workspace)?;
    let mut failed = Vec::new();
    if wanted.is_empty() || wanted.contains(&"client") {
        failed.extend(client::run(workspace)?);
    }
    if wanted.is_empty() || wanted.contains(&"gateway") {
        failed.extend(gateway::run(workspace)?);
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(XtaskError::new(format!("not everything conforms: {}", failed.join(", ")))
        .with_hint("the files `conformance-*.yml` in crates/xtask/testenv list what may fail"))
}
