//! Loads the configuration, and reloads it whenever a file changes.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_config::{Config, Environment, Places, default_server, load, missing_team_files};
use switchboard_core::{EventKind, Events, Published, ServerId, Tasks};
use switchboard_document::ConfigError;
use switchboard_files::watch;
use switchboard_rules::Policies;
use switchboard_trust::{Approvals, LockFile, fetch_team_files};

/// The sources of the configuration.
#[derive(Clone, Debug)]
pub(crate) struct ConfigSource {
    pub(crate) places: Places,
    pub(crate) environment: Environment,
    /// Roots that override those in the files, if not empty.
    pub(crate) roots: Vec<PathBuf>,
    /// In-process servers of the embedding program, which override entries in the files.
    pub(crate) in_process: Vec<ServerId>,
    pub(crate) lock: Option<LockFile>,
    /// Checks the examples of rules that parsed successfully.
    pub(crate) verify: fn(&Policies) -> Option<ConfigError>,
}

impl ConfigSource {
    pub(crate) fn load(&self) -> Config {
        let approvals = Approvals::load(&self.places.state);
        let mut config = load(&self.places, &self.environment, &approvals);
        if !self.roots.is_empty() {
            config.settings.roots.clone_from(&self.roots);
        }
        for id in &self.in_process {
            // An invalid entry with the same id must not make the program's own server fail.
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
            // Rules that contradict their own examples do not do what their author expects.
            config.policies = Arc::new(Policies { broken: Some(problem), ..Policies::default() });
        }
        config
    }

    /// Reloads the files whenever they change; an unreadable file keeps the old configuration.
    pub(crate) fn spawn_watch(self, config: &Published<Config>, tasks: &Tasks, events: &Events) {
        let config = config.clone();
        let events = events.clone();
        let stopping = tasks.stop_token().clone();
        let mut watch = watch(self.watched_files(&config.load()));
        tasks.spawn(async move {
            // The first pass picks up changes between the initial load and the start of the watch.
            let mut is_reload = false;
            loop {
                let mut newer = self.load();
                let state = &self.places.state;
                if !missing_team_files(&newer.team, state).is_empty() {
                    let problems = fetch_team_files(&newer.team, state).await;
                    newer = self.load();
                    // Loading reports that a file is missing, but only the download knows why.
                    newer.problems.extend(problems);
                }
                watch.set_files(self.watched_files(&newer));
                let current = config.load();
                if is_reload {
                    let gone = newer.policies.removed_files(&current.policies);
                    let problems = newer.problems.iter().map(ToString::to_string).chain(gone);
                    let problems = problems.collect();
                    events.emit(|| EventKind::ConfigChanged { problems });
                }
                // A mistake elsewhere must not keep a new deny rule from taking effect.
                let next =
                    if newer.is_complete() { newer } else { current.with_policies_from(newer) };
                if *current != next {
                    config.publish(next);
                }
                if stopping.run_until_cancelled(watch.changed()).await.is_none() {
                    return;
                }
                is_reload = true;
            }
        });
    }

    fn watched_files(&self, config: &Config) -> Vec<PathBuf> {
        let mut files = config.files.clone();
        files.push(Approvals::file(&self.places.state));
        files
    }
}
