//! Fetches what a team keeps at an address, once: the digest says that it cannot change.

use std::path::Path;
use std::time::Duration;

use switchboard_config::{cache_team_file, missing_team_files};
use switchboard_document::ConfigError;
use switchboard_rules::Team;
use tokio::time::timeout;

use crate::fetch::fetch;

/// The longest file, in bytes.
const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
/// How long one may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);

/// Fetches the files of a team that are not here yet; says what went wrong.
pub async fn fetch_team_files(team: &Team, state: &Path) -> Vec<ConfigError> {
    let mut problems = Vec::new();
    for (url, digest) in missing_team_files(team, state) {
        let fetched = match timeout(FETCH_TIMEOUT, fetch(&url, "*/*", MAX_FILE_BYTES)).await {
            Ok(fetched) => fetched,
            Err(_) => Err("it takes too long".to_owned()),
        };
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
