//! Downloads files within a size limit; team files only once, because they are pinned by digest.

use std::path::Path;
use std::time::Duration;

use switchboard_config::{cache_team_file, missing_team_files};
use switchboard_document::ConfigError;
use switchboard_rules::Team;
use switchboard_wire::{WireLimits, new_http_client};
use tokio::time::timeout;

/// Downloads the file at a URL, up to `max_bytes`.
pub(crate) async fn fetch(url: &str, accept: &str, max_bytes: usize) -> Result<Vec<u8>, String> {
    let client = new_http_client(&WireLimits::default()).map_err(|error| error.to_string())?;
    let request = client.get(url).header("accept", accept);
    let mut response = request.send().await.map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    if status != 200 {
        return Err(format!("the response has status {status}"));
    }
    let mut bytes = Vec::new();
    // Checked per chunk: `Content-Length` may be missing or wrong.
    while let Some(chunk) = response.chunk().await.map_err(|error| error.to_string())? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > max_bytes {
            return Err(format!("it is larger than {} MiB", max_bytes / 1024 / 1024));
        }
    }
    Ok(bytes)
}

const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
/// How long the download of one file may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);

/// Downloads the team files that are not cached yet, and returns the problems.
pub async fn fetch_team_files(team: &Team, state: &Path) -> Vec<ConfigError> {
    let mut problems = Vec::new();
    for (url, digest) in missing_team_files(team, state) {
        let fetching = timeout(FETCH_TIMEOUT, fetch(&url, "*/*", MAX_FILE_BYTES));
        let fetched = fetching.await.unwrap_or_else(|_| Err("the request timed out".to_owned()));
        let kept = match fetched {
            Ok(bytes) => cache_team_file(state, &digest, &bytes),
            Err(cause) => {
                let message = format!("the team's file cannot be fetched: {cause}");
                Err(ConfigError::new(Path::new(&url), message))
            }
        };
        problems.extend(kept.err());
    }
    problems
}
