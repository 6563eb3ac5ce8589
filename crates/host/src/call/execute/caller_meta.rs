//! What a modern server is told about the caller of one call, where that is not about us.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;
use switchboard_wire::Era;

use crate::call::execute::exchange::Whom;
use crate::call::execute::run::Reach;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// What a caller can answer, or not.
const ASKS: [&str; 3] = ["elicitation", "sampling", "roots"];

impl Reach<'_> {
    /// The members of `_meta` in place of our own.
    pub(super) fn meta(&self, whom: Whom<'_>) -> Vec<(&'static str, String)> {
        let mut members = Vec::new();
        let stance = whom.peer.stance();
        if stance.revision.era() == Era::Legacy {
            return members;
        }
        if let Some(answers) = self.own_answers {
            let ours = format!("{{{}}}", stance.meta);
            let theirs = answers.capabilities(whom.server);
            members.extend(merged_once(ours, theirs).map(|text| (CAPABILITIES, text)));
        }
        if let Some(level) = self.log_level {
            members.push((LOG_LEVEL, serde_json::Value::from(level).to_string()));
        }
        members
    }
}

/// As many answers are remembered: callers declare one of a handful of things.
const REMEMBERED: usize = 32;

type Known = VecDeque<((String, String), Option<String>)>;

/// The same again for the same texts, without reading them: they come with every call.
fn merged_once(ours: String, theirs: String) -> Option<String> {
    static KNOWN: Mutex<Known> = Mutex::new(VecDeque::new());
    let asked = (ours, theirs);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, answer)) = known.iter().find(|(before, _)| *before == asked) {
        return answer.clone();
    }
    let answer = merged(&asked.0, &asked.1);
    known.truncate(REMEMBERED - 1);
    known.push_front((asked, answer.clone()));
    answer
}

/// Our capabilities, with what a caller can answer in place of what we can.
fn merged(meta: &str, theirs: &str) -> Option<String> {
    type Members<'a> = BTreeMap<String, &'a RawValue>;
    let meta: Members<'_> = serde_json::from_str(meta).ok()?;
    let mut all: Members<'_> = serde_json::from_str(meta.get(CAPABILITIES)?.get()).ok()?;
    let theirs: Members<'_> = serde_json::from_str(theirs).ok()?;
    all.retain(|name, _| !ASKS.contains(&name.as_str()));
    all.extend(theirs.into_iter().filter(|(name, _)| ASKS.contains(&name.as_str())));
    serde_json::to_string(&all).ok()
}

#[cfg(test)]
mod tests {
    use super::{CAPABILITIES, merged};

    #[test]
    fn a_caller_answers_for_itself_and_all_else_stays_ours() {
        let ours = r#"{"elicitation":{"form":{}},"extensions":{"x":{}}}"#;
        let meta = format!(r#"{{"a":1,"{CAPABILITIES}":{ours}}}"#);
        for (theirs, expected) in [
            ("{}", r#"{"extensions":{"x":{}}}"#),
            (r#"{"sampling":{},"tasks":{}}"#, r#"{"extensions":{"x":{}},"sampling":{}}"#),
        ] {
            assert_eq!(merged(&meta, theirs).as_deref(), Some(expected));
        }
        assert_eq!(merged("{}", "{}"), None);
    }
}
