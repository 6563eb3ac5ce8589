//! Finds and reads the policy files of all levels.

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

const FILE_NAME: &str = "policy.json";

pub(crate) struct PolicySearch {
    pub policies: Policies,
    pub team: Team,
    pub files: Vec<PathBuf>,
}

/// Reads the policies of every level. `own_team` applies unless the organisation names a team.
pub(crate) fn find_policies(places: &Places, own_team: &Team) -> PolicySearch {
    let mut found =
        PolicySearch { policies: Policies::default(), team: own_team.clone(), files: Vec::new() };
    // The organisation's level comes first, since its file may name the team.
    for level in PolicyLevel::ALL {
        if let Err(problem) = found.read_level(places, level) {
            found.policies.broken.get_or_insert(problem);
        }
    }
    found
}

/// Reads a policy file as if it belonged to the given level.
pub fn read_policy(path: &Path, level: PolicyLevel) -> Result<PolicyFile, ConfigError> {
    let text = read_text(path)?.ok_or_else(|| ConfigError::new(path, "the file does not exist"))?;
    policy_from_text(level, &path.into(), &text)
}

/// Reads a file of test cases: `{"cases": [{"target": …, "args": {…}, "expect": "deny"}]}`.
pub fn read_policy_cases(path: &Path) -> Result<Vec<PolicyCase>, ConfigError> {
    let text = read_text(path)?.ok_or_else(|| ConfigError::new(path, "the file does not exist"))?;
    policy_cases_from_text(&path.into(), &text)
}

impl PolicySearch {
    fn read_level(&mut self, places: &Places, level: PolicyLevel) -> Result<(), ConfigError> {
        if level == PolicyLevel::Team {
            // Watched even if it is missing or invalid, so that a fix is noticed.
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
        // Before reading: all files are watched, even if one of them is invalid.
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

/// Returns the reason that the rules do not allow a server, if they do not.
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
