//! Answers that allow a target for the rest of a caller's session.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_catalog::ResolvedCall;
use switchboard_core::{Caller, Target};

use crate::call::pipeline::SessionScope;

/// Maximum number of remembered sessions; beyond it, all are forgotten and need new answers.
const MAX_SESSIONS: usize = 10_000;

// With the digest, an answer does not apply to a definition that the person has not seen.
type ApprovedTarget = (Target, Arc<str>);

/// Allowed targets by session.
#[derive(Debug, Default)]
pub(crate) struct SessionAnswers {
    allowed: Mutex<HashMap<String, BTreeSet<ApprovedTarget>>>,
}

impl SessionAnswers {
    /// Allows the call's target, with its current definition, in the caller's session, if any.
    pub(crate) fn allow(&self, caller: &Caller, scope: &SessionScope, call: &ResolvedCall) {
        let Some(session) = session_name(caller, scope) else { return };
        let mut allowed = self.allowed.lock();
        if allowed.len() >= MAX_SESSIONS {
            allowed.clear();
        }
        allowed.entry(session).or_default().insert(approved_target(call));
    }

    /// Returns whether the call's target is allowed in the caller's session.
    pub(crate) fn allows(
        &self,
        caller: &Caller,
        scope: &SessionScope,
        call: &ResolvedCall,
    ) -> bool {
        let Some(session) = session_name(caller, scope) else { return false };
        let allowed = self.allowed.lock();
        allowed.get(&session).is_some_and(|targets| targets.contains(&approved_target(call)))
    }
}

fn approved_target(call: &ResolvedCall) -> ApprovedTarget {
    (call.target().clone(), Arc::clone(call.definition_digest()))
}

/// Returns the session key of a caller: its verified identity, the conversation that its reference
/// begins with, or its own name.
fn session_name(caller: &Caller, scope: &SessionScope) -> Option<String> {
    match scope {
        SessionScope::None => return None,
        // A prefix each: a caller must not be able to choose a name that equals another key.
        SessionScope::Verified(identity) => return Some(format!("proven {identity}")),
        SessionScope::Caller => {}
    }
    let reference = caller.reference.as_deref();
    Some(match reference.and_then(|reference| reference.split_once('/')) {
        Some((conversation, _)) => format!("conversation {conversation}"),
        None => format!("{} {} {}", caller.face, caller.origin, caller.name),
    })
}

#[cfg(test)]
mod tests {
    use switchboard_core::{Caller, Face, Origin};

    use super::session_name;
    use crate::call::pipeline::SessionScope;

    #[test]
    fn a_session_is_a_conversation_or_a_caller() {
        let caller = |name: &str, reference: Option<&str>| Caller {
            face: Face::Gateway,
            origin: Origin::Client,
            name: name.to_owned(),
            reference: reference.map(str::to_owned),
        };
        let of = |name, reference| session_name(&caller(name, reference), &SessionScope::Caller);
        let same = of("one", Some("talk/1"));
        assert_eq!(of("two", Some("talk/2")), same);
        assert_ne!(of("one", None), of("two", None));
        assert_ne!(of("one", Some("other/1")), same);
        // A name that others may share does not identify a verified caller.
        let proven =
            |who: &str| session_name(&caller("one", None), &SessionScope::Verified(who.into()));
        assert_ne!(proven("a"), proven("b"));
        assert_ne!(proven("a"), of("one", None));
        assert_eq!(session_name(&caller("one", None), &SessionScope::None), None);
    }
}
