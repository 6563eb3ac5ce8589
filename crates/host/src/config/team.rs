//! The files of a team: rules and hooks by a path or by an address with its digest.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::config::document::Node;
use crate::config::error::ConfigError;
use crate::config::policy_nodes::Nodes;
use crate::config::read_text::read_text;
use crate::config::web_parts::WebParts;

/// Where the files of a team are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Team {
    /// Its rules.
    pub policy: Option<TeamFile>,
    /// Its hooks.
    pub hooks: Option<TeamFile>,
}

/// Where one file of a team is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamFile {
    /// A path or an address.
    pub place: TeamPlace,
    /// The SHA-256 digest of what is there, in hexadecimal.
    pub sha256: Option<String>,
}

/// A path or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamPlace {
    /// A file that is there.
    Path(PathBuf),
    /// A file that is fetched once; it cannot change, for its digest is known.
    Url(String),
}

impl Team {
    /// The file of that name: `policy.json` or `hooks.json`.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&TeamFile> {
        match name {
            "policy.json" => self.policy.as_ref(),
            "hooks.json" => self.hooks.as_ref(),
            _ => None,
        }
    }

    /// What has to be fetched before it can be read: addresses, and the digests of what is there.
    #[must_use]
    pub fn missing(&self, state: &Path) -> Vec<(String, String)> {
        let files = [&self.policy, &self.hooks].into_iter().flatten();
        files
            .filter_map(|file| match (&file.place, &file.sha256) {
                (TeamPlace::Url(url), Some(digest)) => Some((url.clone(), digest.clone())),
                _ => None,
            })
            .filter(|(_, digest)| !is_kept(state, digest))
            .collect()
    }
}

/// The file of a team under that name, on this machine, and its text with the right digest; `None` if
/// the team has none. Whoever uses it takes this very text: the file may be another one by then.
///
/// # Errors
/// When it is not there, cannot be read, or is another one.
pub fn team_file(
    team: &Team,
    state: &Path,
    name: &str,
) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let Some(file) = team.file(name) else { return Ok(None) };
    let path = match (&file.place, &file.sha256) {
        (TeamPlace::Path(path), _) => path.clone(),
        (TeamPlace::Url(_), Some(digest)) => cached(state, digest),
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
    let other = |digest: &String| !digest.eq_ignore_ascii_case(&digest_of(text.as_bytes()));
    if file.sha256.as_ref().is_some_and(other) {
        let message = format!("the team's `{name}` has another digest than `sha256` says");
        return Err(ConfigError::new(path, message).hint("ask the team which one is right"));
    }
    Ok(Some((path, text)))
}

/// Keeps what was fetched, if it is what its digest says.
///
/// # Errors
/// When it is something else or cannot be written.
pub fn keep_team_file(state: &Path, digest: &str, bytes: &[u8]) -> Result<(), ConfigError> {
    let path = cached(state, digest);
    if !digest.eq_ignore_ascii_case(&digest_of(bytes)) {
        let message = "what was fetched has another digest than `sha256` says";
        return Err(ConfigError::new(path, message).hint("ask the team which one is right"));
    }
    let text = String::from_utf8(bytes.to_vec())
        .map_err(|_| ConfigError::new(path.as_path(), "what was fetched is not UTF-8 text"))?;
    super::change::change(&path, |_| Ok(text))
}

/// Whether what was fetched is here as it was; a copy that was damaged is fetched again.
fn is_kept(state: &Path, digest: &str) -> bool {
    let text = read_text(&cached(state, digest)).ok().flatten();
    text.is_some_and(|text| digest.eq_ignore_ascii_case(&digest_of(text.as_bytes())))
}

fn cached(state: &Path, digest: &str) -> PathBuf {
    state.join("team").join(format!("{}.json", digest.to_ascii_lowercase()))
}

fn digest_of(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Reads `{"policy": {"path" or "url", "sha256"}, "hooks": {…}}`.
pub(super) fn read(nodes: &Nodes<'_>, node: &Node) -> Result<Team, ConfigError> {
    let mut team = Team::default();
    for (name, _, node) in nodes.members(node, "team", &["policy", "hooks"])? {
        let file = Some(read_file(nodes, node)?);
        match name.as_str() {
            "policy" => team.policy = file,
            _ => team.hooks = file,
        }
    }
    Ok(team)
}

fn read_file(nodes: &Nodes<'_>, node: &Node) -> Result<TeamFile, ConfigError> {
    let (mut place, mut sha256) = (None, None);
    for (name, at, node) in nodes.members(node, "a team's file", &["path", "url", "sha256"])? {
        let text = nodes.text(node, &name)?;
        match name.as_str() {
            "sha256" => {
                if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    let message = "`sha256` must be 64 hexadecimal digits";
                    return Err(nodes.error(at, message.to_owned()));
                }
                sha256 = Some(text.to_owned());
            }
            _ if place.is_some() => {
                return Err(nodes.error(at, "there is a `path` and a `url`".to_owned()));
            }
            "path" => {
                let folder = nodes.file.parent().unwrap_or(Path::new("/"));
                place = Some(TeamPlace::Path(folder.join(text)));
            }
            _ => {
                WebParts::of(text).map_err(|cause| nodes.error(at, cause.to_owned()))?;
                if !text.starts_with("https://") && !text.starts_with("http://") {
                    return Err(nodes.error(at, "`url` is neither http nor https".to_owned()));
                }
                place = Some(TeamPlace::Url(text.to_owned()));
            }
        }
    }
    let place = place
        .ok_or_else(|| nodes.error(node.at, "the team's file has no `path` or `url`".to_owned()))?;
    if matches!(place, TeamPlace::Url(_)) && sha256.is_none() {
        let error = nodes.error(node.at, "a team's `url` needs its `sha256`".to_owned());
        return Err(error.hint("`sha256sum FILE` prints it"));
    }
    Ok(TeamFile { place, sha256 })
}
