//! Reads the configuration, and reads it again whenever a file changes.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_config::{Config, Environment, Places, default_server, load, missing_team_files};
use switchboard_core::{EventKind, Events, Published, ServerId, Tasks};
use switchboard_document::ConfigError;
use switchboard_files::watch;
use switchboard_rules::Policies;
use switchboard_trust::{Approvals, LockFile, fetch_team_files};

/// How the configuration is read.
#[derive(Clone, Debug)]
pub(crate) struct ConfigSource {
    /// Where the files are.
    pub(crate) places: Places,
    pub(crate) environment: Environment,
    /// Folders in place of those that the files name, if there are any.
    pub(crate) roots: Vec<PathBuf>,
    /// Servers that are part of the program around us, whatever the files say.
    pub(crate) in_process: Vec<ServerId>,
    /// What servers may be, if that is locked.
    pub(crate) lock: Option<LockFile>,
    /// Says what is wrong with rules that can be read.
    pub(crate) verify: fn(&Policies) -> Option<ConfigError>,
}

impl ConfigSource {
    /// What the files say at this moment.
    #[must_use]
    pub(crate) fn load(&self) -> Config {
        let approvals = Approvals::load(&self.places.state);
        let mut config = load(&self.places, &self.environment, &approvals);
        if !self.roots.is_empty() {
            config.settings.roots.clone_from(&self.roots);
        }
        for id in &self.in_process {
            config.broken.remove(id);
            config.servers.insert(id.clone(), default_server(id.clone()));
        }
        if let Some(lock) = &self.lock {
            for server in config.servers.values_mut() {
                server.barred = server.barred.take().or_else(|| lock.refusal(server.id.as_str()));
            }
        }
        if let Some(problem) = (self.verify)(&config.policies) {
            config.problems.push(problem.clone());
            config.policies = Arc::new(Policies { broken: Some(problem), ..Policies::default() });
        }
        config
    }

    /// Reads the files again whenever they change; what cannot be read keeps what was there.
    pub(crate) fn spawn_watch(self, config: &Published<Config>, tasks: &Tasks, events: &Events) {
        let config = config.clone();
        let events = events.clone();
        let stopping = tasks.stop_token().clone();
        let mut watch = watch(self.watched_files(&config.load()));
        tasks.spawn(async move {
            // What changed between the first reading and the watch is read now.
            let mut told = false;
            loop {
                let mut newer = self.load();
                let state = &self.places.state;
                if !missing_team_files(&newer.team, state).is_empty() {
                    let problems = fetch_team_files(&newer.team, state).await;
                    newer = self.load();
                    // That something is missing is found when the files are read; not why.
                    newer.problems.extend(problems);
                }
                watch.set_files(self.watched_files(&newer));
                let current = config.load();
                if told {
                    let gone = newer.policies.removed_files(&current.policies);
                    let problems = newer.problems.iter().map(ToString::to_string).chain(gone);
                    let problems = problems.collect();
                    events.emit(|| EventKind::ConfigChanged { problems });
                }
                // A mistake elsewhere does not keep new rules out.
                let next =
                    if newer.is_complete() { newer } else { current.with_policies_from(newer) };
                if *current != next {
                    config.publish(next);
                }
                if stopping.run_until_cancelled(watch.changed()).await.is_none() {
                    return;
                }
                told = true;
            }
        });
    }

    /// The files whose change means something: also what was approved, or is no more.
    fn watched_files(&self, config: &Config) -> Vec<PathBuf> {
        let mut files = config.files.clone();
        files.push(Approvals::file(&self.places.state));
        files
    }
}
