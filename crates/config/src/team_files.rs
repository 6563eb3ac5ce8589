//! Reads a team's files, checks their digests, and caches fetched ones.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use switchboard_document::{ConfigError, edit_locked, read_text};
use switchboard_rules::{Team, TeamPlace};

/// Returns the URLs and digests of the files that must be fetched before they can be read.
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
// Callers use this text instead of reading the file again: it may have changed since the check.
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
        let error = ConfigError::new(path, format!("the team's `{name}` does not exist"));
        return Err(match &file.place {
            TeamPlace::Path(_) => error,
            TeamPlace::Url(url) => error.hint(format!("check that {url} is reachable")),
        });
    };
    let other = |digest: &String| !digest.eq_ignore_ascii_case(&sha256_hex(text.as_bytes()));
    if file.sha256.as_ref().is_some_and(other) {
        let message = format!("the team's `{name}` does not match its `sha256`");
        return Err(ConfigError::new(path, message).hint("ask the team which one is right"));
    }
    Ok(Some((path, text)))
}

/// Stores a fetched file after verifying its digest.
pub fn cache_team_file(state: &Path, digest: &str, bytes: &[u8]) -> Result<(), ConfigError> {
    let path = cache_path(state, digest);
    if !digest.eq_ignore_ascii_case(&sha256_hex(bytes)) {
        let message = "the fetched file does not match its `sha256`";
        return Err(ConfigError::new(path, message).hint("ask the team which one is right"));
    }
    let text = String::from_utf8(bytes.to_vec())
        .map_err(|_| ConfigError::new(path.as_path(), "the fetched file is not UTF-8 text"))?;
    edit_locked(&path, |_| Ok(text))
}

fn is_cached(state: &Path, digest: &str) -> bool {
    // A missing, unreadable or damaged copy is fetched again, so the error does not matter.
    let text = read_text(&cache_path(state, digest)).ok().flatten();
    text.is_some_and(|text| digest.eq_ignore_ascii_case(&sha256_hex(text.as_bytes())))
}

fn cache_path(state: &Path, digest: &str) -> PathBuf {
    state.join("team").join(format!("{}.json", digest.to_ascii_lowercase()))
}

fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
