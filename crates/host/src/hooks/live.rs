//! The hooks in force: read at startup, and again whenever a file changes.

use std::sync::Arc;

use switchboard_config::{Config, Environment, Places};
use switchboard_core::{EventKind, Events, Published, Tasks};
use switchboard_files::watch;

use crate::hooks::file::HookError;
use crate::hooks::runner::HookRunner;
use crate::hooks::set::{HookSet, HookSource};

#[derive(Debug)]
pub(crate) struct LiveHooks {
    set: Published<HookSet>,
    runner: HookRunner,
}

/// The parts of the host that hooks need.
pub(crate) struct HookContext<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) config: &'a Published<Config>,
    pub(crate) keeper: Option<Vec<String>>,
    pub(crate) tasks: &'a Tasks,
    pub(crate) events: &'a Events,
}

impl LiveHooks {
    pub(crate) fn start(places: &Places, around: HookContext<'_>) -> Self {
        let source = HookSource::new(places, &around.config.load());
        let set = Published::new(source.read());
        let HookContext { environment, config, keeper, tasks, events } = around;
        let runner = HookRunner::new(environment, places.project_folder.as_ref(), keeper);
        follow_files(source, set.clone(), config, tasks, events.clone());
        Self { set, runner }
    }

    /// Returns the hooks, unless none of them affects calls.
    pub(crate) fn in_force(&self) -> Option<Arc<HookSet>> {
        Some(self.set.load()).filter(|set| !set.is_idle())
    }

    pub(crate) const fn runner(&self) -> &HookRunner {
        &self.runner
    }

    pub(crate) fn set(&self) -> Arc<HookSet> {
        self.set.load()
    }
}

fn follow_files(
    mut source: HookSource,
    set: Published<HookSet>,
    config: &Published<Config>,
    tasks: &Tasks,
    events: Events,
) {
    let stopping = tasks.stop_token().clone();
    let mut config = config.changes();
    tasks.spawn(async move {
        let mut watch = watch(source.watched_files(&set.load()));
        loop {
            // The first pass picks up changes between the initial read and the start of the watch.
            let newer = source.read();
            watch.set_files(source.watched_files(&newer));
            let problems = newer.problems();
            if !problems.is_empty() {
                events.emit(|| EventKind::HooksRead { problems });
            }
            // A half-written file does not replace valid hooks: they keep protecting calls.
            if newer.first_error().is_none()
                || set.load().first_error().is_some()
                // The old hooks must not run either: their scripts may be the part that changed.
                || has_lost_approval(&newer)
            {
                set.publish(newer);
            }
            tokio::select! {
                () = stopping.cancelled() => return,
                () = watch.changed() => {}
                // The settings may name another team file.
                newer = config.changed() => {
                    source = HookSource::new(&source.places, &newer);
                }
            }
        }
    });
}

fn has_lost_approval(set: &HookSet) -> bool {
    matches!(set.first_error(), Some(HookError::Changed { .. }))
}
