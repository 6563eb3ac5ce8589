//! The hooks that are in force: read at the start, and again whenever a file changes.

use std::sync::Arc;

use switchboard_config::{Config, Environment, Places};
use switchboard_core::{Events, Published, Tasks, What};
use switchboard_files::watch;

use crate::hooks::runner::Runner;
use crate::hooks::set::{HookSet, HookSource};

/// The hooks of a host, and who asks them.
#[derive(Debug)]
pub(crate) struct Hooks {
    set: Published<HookSet>,
    runner: Runner,
}

/// What hooks need of the host around them.
pub(crate) struct Around<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) config: &'a Published<Config>,
    pub(crate) keeper: Option<Vec<String>>,
    pub(crate) tasks: &'a Tasks,
    pub(crate) events: &'a Events,
}

impl Hooks {
    /// Reads the hooks and follows their files.
    pub(crate) fn start(places: &Places, around: Around<'_>) -> Self {
        let source = HookSource::of(places, &around.config.load());
        let set = Published::new(source.read());
        let Around { environment, config, keeper, tasks, events } = around;
        let runner = Runner::new(environment, places.around.as_ref(), keeper);
        follow(source, set.clone(), config, (tasks, events.clone()));
        Self { set, runner }
    }

    /// The hooks, if calls have anything to do with them.
    pub(crate) fn in_force(&self) -> Option<Arc<HookSet>> {
        Some(self.set.load()).filter(|set| !set.is_idle())
    }

    /// Who asks them.
    pub(crate) const fn runner(&self) -> &Runner {
        &self.runner
    }

    /// All of them, whether they count or not.
    pub(crate) fn set(&self) -> Arc<HookSet> {
        self.set.load()
    }
}

fn follow(
    mut source: HookSource,
    set: Published<HookSet>,
    config: &Published<Config>,
    (tasks, events): (&Tasks, Events),
) {
    let (stopping, mut config) = (tasks.stopping().clone(), config.changes());
    tasks.spawn(async move {
        let mut watch = watch(source.watched(&set.load()));
        loop {
            // What changed between the first reading and the watch is read now.
            let newer = source.read();
            watch.follow(source.watched(&newer));
            let problems = newer.problems();
            if !problems.is_empty() {
                events.tell(|| What::HooksRead { problems });
            }
            // A file that is being written does not take the place of what it said before.
            if newer.broken().is_none() || set.load().broken().is_some() || is_withdrawn(&newer) {
                set.publish(newer);
            }
            tokio::select! {
                () = stopping.cancelled() => return,
                () = watch.changed() => {}
                // The settings may name another file of the team.
                newer = config.changed() => {
                    source = HookSource::of(&source.places, &newer);
                }
            }
        }
    });
}

/// Whether a project's hooks are not those any more that were approved: they must not run.
fn is_withdrawn(set: &HookSet) -> bool {
    use crate::hooks::error::HookError;
    matches!(set.broken(), Some(HookError::Changed { .. }))
}
