//! Locations of a team's files: rules and hooks, by path or by URL and digest.

use std::path::{Path, PathBuf};

use switchboard_document::{ConfigError, Node};
use switchboard_net::UrlParts;

use crate::rule_reader::NodeReader;

/// The locations of a team's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Team {
    pub policy: Option<TeamFile>,
    pub hooks: Option<TeamFile>,
}

/// The location of one file of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamFile {
    pub place: TeamPlace,
    /// The SHA-256 digest of the file, in hexadecimal.
    pub sha256: Option<String>,
}

/// The path or URL of a team's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamPlace {
    Path(PathBuf),
    Url(String),
}

impl Team {
    /// Returns the file with that name: `policy.json` or `hooks.json`.
    pub fn file(&self, name: &str) -> Option<&TeamFile> {
        match name {
            "policy.json" => self.policy.as_ref(),
            "hooks.json" => self.hooks.as_ref(),
            _ => None,
        }
    }
}

/// Parses `{"policy": {"path" or "url", "sha256"}, "hooks": {…}}`.
pub fn read_team(nodes: &NodeReader<'_>, node: &Node) -> Result<Team, ConfigError> {
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

fn read_file(nodes: &NodeReader<'_>, node: &Node) -> Result<TeamFile, ConfigError> {
    let mut place = None;
    let mut sha256 = None;
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
                return Err(nodes.error(at, "a team's file has either `path` or `url`".to_owned()));
            }
            "path" => {
                let folder = nodes.file.parent().unwrap_or(Path::new("/"));
                place = Some(TeamPlace::Path(folder.join(text)));
            }
            _ => {
                UrlParts::parse(text).map_err(|cause| nodes.error(at, cause.to_owned()))?;
                if !text.starts_with("https://") && !text.starts_with("http://") {
                    return Err(nodes.error(at, "`url` is neither http nor https".to_owned()));
                }
                place = Some(TeamPlace::Url(text.to_owned()));
            }
        }
    }
    let place = place
        .ok_or_else(|| nodes.error(node.at, "the team's file has no `path` or `url`".to_owned()))?;
    // Without the digest, the owner of the web server could change the rules at any time.
    if matches!(place, TeamPlace::Url(_)) && sha256.is_none() {
        let error = nodes.error(node.at, "a team's `url` needs its `sha256`".to_owned());
        return Err(error.hint("`sha256sum FILE` prints it"));
    }
    Ok(TeamFile { place, sha256 })
}
