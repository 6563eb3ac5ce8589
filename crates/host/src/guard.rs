//! What decides about calls and definitions beside the configuration: one of each per host.

use crate::config::{Environment, Places};

/// The rules, hooks and pins that are in force.
#[derive(Debug)]
pub(crate) struct Guard {
    #[expect(dead_code, reason = "the parts of the guard read their files from here")]
    places: Places,
    #[expect(dead_code, reason = "the parts of the guard start programs with it")]
    environment: Environment,
}

impl Guard {
    pub(crate) fn start(places: &Places, environment: &Environment) -> Self {
        Self { places: places.clone(), environment: environment.clone() }
    }
}
