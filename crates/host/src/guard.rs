//! What decides about calls and definitions beside the configuration: one of each per host.

use std::path::Path;
use std::sync::Arc;

use crate::catalog::{Flagged, Screen, Visible};
use crate::config::{Config, Environment, Places};
use crate::connect::Fleet;
use crate::events::Events;
use crate::hooks::{Around, Hooks};
use crate::host::Host;
use crate::pinning::Pinning;
use crate::policy::InForce;
use crate::published::Published;
use crate::session_answers::SessionAnswers;
use crate::tasks::Tasks;

/// The rules, hooks and pins that are in force.
#[derive(Debug)]
pub(crate) struct Guard {
    environment: Environment,
    /// The rules, and what each caller did so far.
    pub(crate) rules: InForce,
    hooks: Hooks,
    pinning: Pinning,
    screen: Arc<Screen>,
    /// What people allowed for a session.
    pub(crate) session_answers: SessionAnswers,
}

impl Guard {
    pub(crate) fn start(places: &Places, around: Around<'_>, pinning: Pinning) -> Self {
        Self {
            environment: around.environment.clone(),
            rules: InForce::default(),
            hooks: Hooks::start(places, around),
            pinning,
            screen: Arc::default(),
            session_answers: SessionAnswers::default(),
        }
    }

    /// The hooks.
    pub(crate) const fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// The folder that the process works in.
    pub(crate) fn current_folder(&self) -> &Path {
        &self.environment.current_dir
    }

    /// What is held until a person has looked at it.
    pub(crate) const fn pinning(&self) -> &Pinning {
        &self.pinning
    }

    /// Looks at what servers offer as soon as they offer it, whether or not somebody asks.
    pub(crate) fn follow(
        &self,
        fleet: &Published<Fleet>,
        config: &Published<Config>,
        events: &Events,
        tasks: &Tasks,
    ) {
        let (screen, mut changes) = (Arc::clone(&self.screen), fleet.changes());
        let (config, events, stopping) = (config.clone(), events.clone(), tasks.stopping().clone());
        tasks.spawn(async move {
            while let Some(fleet) = stopping.run_until_cancelled(changes.changed()).await {
                screened(&screen, fleet, &config, &events);
            }
        });
    }
}

impl Host {
    /// Every definition in which the scanner found something; those that are held are in no lease.
    #[must_use]
    pub fn flagged(&self) -> Arc<[Flagged]> {
        Arc::clone(&self.visible().flagged)
    }

    /// The servers, without the definitions that are held.
    pub(crate) fn visible(&self) -> Arc<Visible> {
        screened(&self.guard().screen, self.fleet().load(), self.config(), self.events())
    }
}

fn screened(
    screen: &Screen,
    fleet: Arc<Fleet>,
    config: &Published<Config>,
    events: &Events,
) -> Arc<Visible> {
    if !config.load().settings.scan {
        return Arc::new(Visible { fleet, flagged: Arc::default() });
    }
    let (visible, new) = screen.look(&fleet);
    for flagged in new {
        events.tell(|| flagged.event());
    }
    visible
}
