//! The rules of this moment, made ready once, and what each caller did so far.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_rules::Policies;

use crate::policy::Policy;
use crate::session_tracker::SessionTracker;

/// The rules that are in force, and what they are asked with.
#[derive(Debug, Default)]
pub struct ActiveRules {
    ready: Mutex<Option<(Arc<Policies>, Arc<Policy>)>>,
    /// What each caller did so far.
    pub sessions: SessionTracker,
}

impl ActiveRules {
    /// The policies as rules that can be asked.
    #[must_use]
    pub fn policy(&self, policies: &Arc<Policies>) -> Arc<Policy> {
        let mut ready = self.ready.lock();
        if let Some((known, policy)) = &*ready
            && Arc::ptr_eq(known, policies)
        {
            return Arc::clone(policy);
        }
        let policy = Arc::new(Policy::new(policies));
        *ready = Some((Arc::clone(policies), Arc::clone(&policy)));
        policy
    }
}
