//! A real browser with the overview and the calls open while calls come in by the hundred.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

use super::served_console::ServedConsole;
use crate::error::Result;

/// Each call is told twice: when it begins and when it ends.
const CALLS_A_SECOND: &str = "750";
/// For each of the two pages, which are in front one after the other.
const CALLS: &str = "3000";
const FLOOD_TIMEOUT: Duration = Duration::from_secs(180);

const STORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/clients/console_flood.mjs");

/// What the browser saw.
pub(super) async fn flood(served: &mut ServedConsole, testenv: &Path) -> Result<Value> {
    let link = served.next_link().await?;
    let browsing = Command::new(testenv.join("npm/node_modules/node/bin/node"))
        .arg(STORY)
        .arg(testenv.join("browser/node_modules"))
        .args([&link, "raw__echo", CALLS_A_SECOND, CALLS])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output();
    let told = tokio::time::timeout(FLOOD_TIMEOUT, browsing).await??;
    let seen: Value = serde_json::from_slice(&told.stdout)?;
    match seen.get("failed").and_then(Value::as_str) {
        Some(why) => Err(format!("the browser did not come to its end: {why}").into()),
        None => Ok(seen),
    }
}
