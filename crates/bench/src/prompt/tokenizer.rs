//! Counts tokens as a model does, with a vocabulary that the test environment holds.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::error::Result;

/// Counting half a million tokens takes a second or two.
const COUNT_TIMEOUT: Duration = Duration::from_secs(60);

/// The tokens of each text in the vocabulary `o200k`; nothing where there is no tokenizer.
pub(super) async fn counts(texts: &[&str], testenv: Option<&Path>) -> Result<Option<Vec<usize>>> {
    let Some(modules) = testenv.map(|testenv| testenv.join("npm/node_modules")) else {
        return Ok(None);
    };
    if !modules.join("gpt-tokenizer").is_dir() {
        return Ok(None);
    }
    let mut command = Command::new(modules.join("node/bin/node"));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tokens.mjs")).arg(&modules);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let Some(mut input) = process.stdin.take() else { return Err("no pipe to Node".into()) };
    // The texts are read to their end before anything is printed, so this cannot block both.
    input.write_all(&serde_json::to_vec(texts)?).await?;
    drop(input);
    let running = tokio::time::timeout(COUNT_TIMEOUT, process.wait_with_output()).await;
    let output =
        running.map_err(|_| format!("the tokenizer took longer than {COUNT_TIMEOUT:?}"))??;
    if !output.status.success() {
        return Err(format!("the tokenizer ended with {}", output.status).into());
    }
    let counts: Vec<usize> = serde_json::from_slice(&output.stdout)?;
    if counts.len() != texts.len() {
        return Err("the tokenizer lost a text".into());
    }
    Ok(Some(counts))
}
