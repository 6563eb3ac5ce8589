//! Local copies of a team's files: reads them, checks their digests, and caches fetched ones.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use switchboard_document::{ConfigError, edit_locked, read_text};
use switchboard_rules::{Team, TeamPlace};

/// Returns the URLs and digests of the files that must be fetched before they can be read.
#[must_use]
pub fn missing_team_files(team: &Team, state: &Path) -> Vec<(String, String)> {
    let files = [&team.policy, &team.hooks].into_iter().flatten();
    files
        .filter_map(|file| match (&file.place, &file.sha256) {
            (TeamPlace::Url(url), Some(digest)) => Some((url.clone(), digest.clone())),
            _ => None,
        })
        .filter(|(_, digest)| !is_cached(state, digest))
        .collect()
}

/// Returns the path and the verified text of a team's file; `None` if the team has no such file.
/// Callers must use this text instead of reading the file again, because the file may have changed
/// since.
///
/// # Errors
/// If the file does not exist, cannot be read, or has another digest.
pub fn team_file(
    team: &Team,
    state: &Path,
    name: &str,
) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let Some(file) = team.file(name) else { return Ok(None) };
    let path = match (&file.place, &file.sha256) {
        (TeamPlace::Path(path), _) => path.clone(),
        (TeamPlace::Url(_), Some(digest)) => cache_path(state, digest),
        (TeamPlace::Url(url), None) => {
            return Err(ConfigError::new(Path::new(url), "the team's file has no `sha256`"));
        }
    };
    let Some(text) = read_text(&path)? else {
        let error = ConfigError::new(path, format!("the team's `{name}` is not there"));
        return Err(match &file.place {
            TeamPlace::Path(_) => error,
            TeamPlace::Url(url) => {
                error.hint(format!("it is fetched from {url}; is that reachable?"))
            }
        });
    };
    let other = |digest: &String| !digest.eq_ignore_ascii_case(&sha256_hex(text.as_bytes()));
    if file.sha256.as_ref().is_some_and(other) {
        let message = format!("the team's `{name}` has another digest than `sha256` says");
        return Err(ConfigError::new(path, message).hint("ask the team which one is right"));
    }
    Ok(Some((path, text)))
}

/// Stores a fetched file after verifying its digest.
///
/// # Errors
/// If it has another digest, is not UTF-8 text, or cannot be written.
pub fn cache_team_file(state: &Path, digest: &str, bytes: &[u8]) -> Result<(), ConfigError> {
    let path = cache_path(state, digest);
    if !digest.eq_ignore_ascii_case(&sha256_hex(bytes)) {
        let message = "what was fetched has another digest than `sha256` says";
        return Err(ConfigError::new(path, message).hint("ask the team which one is right"));
    }
    let text = String::from_utf8(bytes.to_vec())
        .map_err(|_| ConfigError::new(path.as_path(), "what was fetched is not UTF-8 text"))?;
    edit_locked(&path, |_| Ok(text))
}

/// Returns whether the state folder has an intact copy; a damaged one is fetched again.
fn is_cached(state: &Path, digest: &str) -> bool {
    let text = read_text(&cache_path(state, digest)).ok().flatten();
    text.is_some_and(|text| digest.eq_ignore_ascii_case(&sha256_hex(text.as_bytes())))
}

fn cache_path(state: &Path, digest: &str) -> PathBuf {
    state.join("team").join(format!("{}.json", digest.to_ascii_lowercase()))
}

fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
