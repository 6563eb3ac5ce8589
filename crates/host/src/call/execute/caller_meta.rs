//! `_meta` members that describe the caller of one call to a modern server instead of the host.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use switchboard_wire::Era;

use crate::call::execute::exchange::Destination;
use crate::call::execute::run::ExecContext;

const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
/// Capabilities that say which requests of the server the caller can answer.
const ANSWER_CAPABILITIES: [&str; 3] = ["elicitation", "sampling", "roots"];

impl ExecContext<'_> {
    /// Returns the `_meta` members that override the host's own.
    pub(super) fn meta(&self, whom: Destination<'_>) -> Vec<(&'static str, String)> {
        let mut members = Vec::new();
        let stance = whom.peer.protocol();
        // A legacy server learned the capabilities once, when the connection was initialized.
        if stance.revision.era() == Era::Legacy {
            return members;
        }
        if let Some(answers) = self.own_answers {
            let ours = format!("{{{}}}", stance.meta);
            let theirs = answers.capabilities(whom.server);
            members.extend(merge_cached(ours, theirs).map(|text| (CAPABILITIES_KEY, text)));
        }
        if let Some(level) = self.log_level {
            members.push((LOG_LEVEL_KEY, serde_json::Value::from(level).to_string()));
        }
        members
    }
}

/// Maximum number of cached merges: callers declare one of a handful of capability sets.
const MAX_CACHED: usize = 32;

type MergeCache = VecDeque<((String, String), Option<String>)>;

/// Caches [`merge_capabilities`]: the same two texts come with every call.
fn merge_cached(ours: String, theirs: String) -> Option<String> {
    static CACHE: Mutex<MergeCache> = Mutex::new(VecDeque::new());
    let asked = (ours, theirs);
    let mut known = CACHE.lock();
    if let Some((_, answer)) = known.iter().find(|(before, _)| *before == asked) {
        return answer.clone();
    }
    let answer = merge_capabilities(&asked.0, &asked.1);
    // The front is the newest entry, so this drops the oldest.
    known.truncate(MAX_CACHED - 1);
    known.push_front((asked, answer.clone()));
    answer
}

/// Returns our capabilities with the caller's in [`ANSWER_CAPABILITIES`] replacing ours.
fn merge_capabilities(meta: &str, theirs: &str) -> Option<String> {
    type CapabilityMembers<'a> = BTreeMap<String, &'a RawValue>;
    let meta: CapabilityMembers<'_> = serde_json::from_str(meta).ok()?;
    let mut all: CapabilityMembers<'_> =
        serde_json::from_str(meta.get(CAPABILITIES_KEY)?.get()).ok()?;
    let theirs: CapabilityMembers<'_> = serde_json::from_str(theirs).ok()?;
    all.retain(|name, _| !ANSWER_CAPABILITIES.contains(&name.as_str()));
    all.extend(theirs.into_iter().filter(|(name, _)| ANSWER_CAPABILITIES.contains(&name.as_str())));
    serde_json::to_string(&all).ok()
}

#[cfg(test)]
mod tests {
    use super::{CAPABILITIES_KEY, merge_capabilities};

    #[test]
    fn a_caller_answers_for_itself_and_all_else_stays_ours() {
        let ours = r#"{"elicitation":{"form":{}},"extensions":{"x":{}}}"#;
        let meta = format!(r#"{{"a":1,"{CAPABILITIES_KEY}":{ours}}}"#);
        for (theirs, expected) in [
            ("{}", r#"{"extensions":{"x":{}}}"#),
            (r#"{"sampling":{},"tasks":{}}"#, r#"{"extensions":{"x":{}},"sampling":{}}"#),
        ] {
            assert_eq!(merge_capabilities(&meta, theirs).as_deref(), Some(expected));
        }
        assert_eq!(merge_capabilities("{}", "{}"), None);
    }
}
