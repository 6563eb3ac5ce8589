//! Compiled argument checks, kept by the fingerprint of the definition they were made from.

use std::sync::Arc;

use foldhash::HashMap;
use parking_lot::Mutex;

use crate::arguments::{ArgumentCheck, BadSchema};

/// As many checks are kept; then all are let go, which is rare and cheap enough.
const MAX_CHECKS: usize = 1_024;

type CompiledCheck = Arc<Result<ArgumentCheck, BadSchema>>;

/// The checks that were compiled so far.
#[derive(Default)]
pub struct CheckCache {
    compiled: Mutex<HashMap<Box<str>, CompiledCheck>>,
}

impl CheckCache {
    /// The check for a definition, compiled if it is the first time.
    pub fn get_or_compile(
        &self,
        digest: &str,
        compile: impl FnOnce() -> Result<ArgumentCheck, BadSchema>,
    ) -> CompiledCheck {
        if let Some(check) = self.compiled.lock().get(digest) {
            return Arc::clone(check);
        }
        // Compiled outside the lock: a large schema must not hold up other calls.
        let check = Arc::new(compile());
        let mut compiled = self.compiled.lock();
        if compiled.len() >= MAX_CHECKS {
            compiled.clear();
        }
        compiled.insert(digest.into(), Arc::clone(&check));
        check
    }
}

impl std::fmt::Debug for CheckCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checks")
    }
}
