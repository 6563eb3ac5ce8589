//! The policy files of all levels, found and read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::error::ConfigError;
use crate::config::file::read_text;
use crate::config::places::{Level, Places};
use crate::config::policy_file::{Policies, PolicyFile};
use crate::config::policy_read;
use crate::config::resolved::ServerConfig;
use crate::config::team::{Team, TeamPlace, team_file};

/// The name of the file at every level.
const NAME: &str = "policy.json";

/// What was found: the policies, the team, and every file that was looked at.
pub(super) struct Found {
    pub(super) policies: Policies,
    pub(super) team: Team,
    pub(super) files: Vec<PathBuf>,
}

/// Reads what each level says. `own_team` counts where the organisation names none.
pub(super) fn find(places: &Places, own_team: &Team) -> Found {
    let mut found =
        Found { policies: Policies::default(), team: own_team.clone(), files: Vec::new() };
    for level in Level::ALL {
        if let Err(problem) = found.level(places, level) {
            found.policies.broken.get_or_insert(problem);
        }
    }
    found
}

/// Reads a file as if it were that of a level.
///
/// # Errors
/// When something is wrong in it.
pub fn read_policy(path: &Path, level: Level) -> Result<PolicyFile, ConfigError> {
    let text = read_text(path)?.ok_or_else(|| ConfigError::new(path, "the file does not exist"))?;
    Ok(policy_read::read(level, &path.into(), &text)?.0)
}

/// Reads a text as if it were the file of a level.
///
/// # Errors
/// When something is wrong in it.
pub fn policy_from_text(
    level: Level,
    file: &Arc<Path>,
    text: &str,
) -> Result<PolicyFile, ConfigError> {
    Ok(policy_read::read(level, file, text)?.0)
}

impl Found {
    fn level(&mut self, places: &Places, level: Level) -> Result<(), ConfigError> {
        let paths = match level {
            Level::Team => {
                // Also where it is not as it should be: then it may become so.
                if let Some(TeamPlace::Path(path)) = self.team.file(NAME).map(|file| &file.place) {
                    self.files.push(path.clone());
                }
                team_file(&self.team, &places.state, NAME)?.into_iter().collect()
            }
            Level::Enterprise | Level::Project | Level::User => places.files_of(level, NAME),
        };
        // All are watched, whatever is wrong with one of them.
        self.files.extend(paths.iter().cloned());
        paths.into_iter().try_for_each(|path| self.file(path, level))
    }

    fn file(&mut self, path: PathBuf, level: Level) -> Result<(), ConfigError> {
        let Some(text) = read_text(&path)? else { return Ok(()) };
        let file: Arc<Path> = path.into();
        let (policy, team) = policy_read::read(level, &file, &text)?;
        if let Some(team) = team {
            self.team = team;
        }
        self.policies.files.push(policy);
        Ok(())
    }
}

impl Policies {
    /// Why a server may not be there, if it may not.
    #[must_use]
    pub fn bar(&self, server: &ServerConfig) -> Option<String> {
        let barring = self.files.iter().find_map(|policy| {
            let servers = policy.servers.as_ref()?;
            (!servers.allow(server)).then_some((policy, servers.line))
        });
        let (policy, line) = barring?;
        let (level, file) = (policy.level.as_str(), policy.file.display());
        Some(format!("the {level} policy does not allow this server ({file}:{line})"))
    }
}
