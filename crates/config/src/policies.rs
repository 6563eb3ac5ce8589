//! The policy files of all levels, found and read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_document::{ConfigError, read_text};
use switchboard_rules::{
    Endpoint, Policies, PolicyCase, PolicyFile, PolicyLevel, Team, TeamPlace,
    policy_cases_from_text, policy_from_text, read_policy_file,
};

use crate::places::Places;
use crate::resolved::{ServerConfig, Transport};
use crate::team_files::team_file;

/// The name of the file at every level.
const FILE_NAME: &str = "policy.json";

/// What was found: the policies, the team, and every file that was looked at.
pub(crate) struct PolicySearch {
    pub policies: Policies,
    pub team: Team,
    pub files: Vec<PathBuf>,
}

/// Reads what each level says. `own_team` counts where the organisation names none.
pub(crate) fn find_policies(places: &Places, own_team: &Team) -> PolicySearch {
    let mut found =
        PolicySearch { policies: Policies::default(), team: own_team.clone(), files: Vec::new() };
    for level in PolicyLevel::ALL {
        if let Err(problem) = found.read_level(places, level) {
            found.policies.broken.get_or_insert(problem);
        }
    }
    found
}

/// Reads a file as if it were that of a level.
///
/// # Errors
/// When something is wrong in it.
pub fn read_policy(path: &Path, level: PolicyLevel) -> Result<PolicyFile, ConfigError> {
    let text = read_text(path)?.ok_or_else(|| ConfigError::new(path, "the file does not exist"))?;
    policy_from_text(level, &path.into(), &text)
}

/// Reads a file of cases: `{"cases": [{"target": …, "args": {…}, "expect": "deny"}]}`.
///
/// # Errors
/// When the file does not exist, cannot be read, or something is wrong in it.
pub fn read_policy_cases(path: &Path) -> Result<Vec<PolicyCase>, ConfigError> {
    let text = read_text(path)?.ok_or_else(|| ConfigError::new(path, "the file does not exist"))?;
    policy_cases_from_text(&path.into(), &text)
}

impl PolicySearch {
    fn read_level(&mut self, places: &Places, level: PolicyLevel) -> Result<(), ConfigError> {
        if level == PolicyLevel::Team {
            // Also where it is not as it should be: then it may become so.
            if let Some(TeamPlace::Path(path)) = self.team.file(FILE_NAME).map(|file| &file.place) {
                self.files.push(path.clone());
            }
            let Some((path, text)) = team_file(&self.team, &places.state, FILE_NAME)? else {
                return Ok(());
            };
            self.files.push(path.clone());
            return self.add_file(path, level, &text);
        }
        let paths = places.level_files(level, FILE_NAME);
        // All are watched, whatever is wrong with one of them.
        self.files.extend(paths.iter().cloned());
        for path in paths {
            if let Some(text) = read_text(&path)? {
                self.add_file(path, level, &text)?;
            }
        }
        Ok(())
    }

    fn add_file(
        &mut self,
        path: PathBuf,
        level: PolicyLevel,
        text: &str,
    ) -> Result<(), ConfigError> {
        let file: Arc<Path> = path.into();
        let (policy, team) = read_policy_file(level, &file, text)?;
        if let Some(team) = team {
            self.team = team;
        }
        self.policies.files.push(policy);
        Ok(())
    }
}

/// Returns why the rules do not allow a server, if they do not.
#[must_use]
pub(crate) fn barred_by(policies: &Policies, server: &ServerConfig) -> Option<String> {
    let endpoint = endpoint(server);
    let barring = policies.files.iter().find_map(|policy| {
        let servers = policy.servers.as_ref()?;
        (!servers.allows(&endpoint)).then_some((policy, servers.line))
    });
    let (policy, line) = barring?;
    let level = policy.level.as_str();
    let file = policy.file.display();
    Some(format!("the {level} policy does not allow this server ({file}:{line})"))
}

fn endpoint(server: &ServerConfig) -> Endpoint<'_> {
    match &server.transport {
        Transport::Builtin => Endpoint::Builtin,
        Transport::Stdio { command, args, .. } => {
            let words = std::iter::once(command).chain(args).map(String::as_str);
            Endpoint::Command(words.collect::<Vec<_>>().join(" "))
        }
        Transport::Http { urls, .. } => Endpoint::Urls(urls),
    }
}
