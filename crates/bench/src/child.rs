//! Runs a measurement of this program in a process of its own, within a limit.

use std::process::Stdio;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::process::Command;

use crate::error::Result;

/// No measurement takes longer, not even on a machine with other things to do.
const MEASURE_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs the measurement and reads what it printed; what takes too long is killed.
pub(crate) async fn measure_in_child<T: DeserializeOwned>(what: &str) -> Result<T> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["measure", what]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let running = tokio::time::timeout(MEASURE_TIMEOUT, command.spawn()?.wait_with_output()).await;
    let output =
        running.map_err(|_| format!("`{what}` took longer than {MEASURE_TIMEOUT:?}"))??;
    if !output.status.success() {
        return Err(format!("`{what}` ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
