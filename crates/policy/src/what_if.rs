//! What changed rules would have decided otherwise about calls of the past.

use std::collections::HashMap;

use switchboard_config::Config;
use switchboard_core::{Caller, Target};
use switchboard_rules::{Effect, Policies};

use crate::facts::{Facts, is_trusted};
use crate::policy::Policy;
use crate::rule_context::Rules;
use crate::session_tracker::SessionFacts;

/// A call of the past.
#[derive(Clone, Debug)]
pub struct Past {
    /// What was called.
    pub target: Target,
    /// The text of the arguments that counted.
    pub arguments: String,
    /// Who asked.
    pub caller: Caller,
    /// What its server says about the tool, as JSON, if that is known.
    pub annotations: Option<String>,
    /// Whether it left us, so that something may have come back.
    pub was_sent: bool,
}

/// What two policies say to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// What is decided today.
    pub today: Effect,
    /// What would be decided then.
    pub then: Effect,
    /// By what.
    pub by: String,
}

/// Decides calls by the rules of today and by changed ones, the oldest call first; nothing stands
/// for a call about which they agree.
pub fn what_if<'a>(
    config: &Config,
    changed: &Policies,
    calls: impl IntoIterator<Item = &'a Past>,
) -> Vec<Option<Compared>> {
    let (today, changed) = (Policy::of(&config.policies), Policy::of(changed));
    let mut sessions: HashMap<String, SessionFacts> = HashMap::new();
    let compare = |call: &Past| {
        let session = sessions.entry(session_of(&call.caller)).or_default();
        let (was, _) = decided(config, &today, call, session);
        let (then, by) = decided(config, &changed, call, session);
        let server = call.target.server.as_str();
        session.count(server);
        if call.was_sent {
            session.result(server, &call.target.name);
            match config.servers.get(server).is_some_and(is_trusted) {
                true => session.read(server),
                false => session.read_untrusted(server),
            }
        }
        (was != then).then_some(Compared { today: was, then, by })
    };
    calls.into_iter().map(compare).collect()
}

fn decided(
    config: &Config,
    policy: &Policy,
    call: &Past,
    session: &SessionFacts,
) -> (Effect, String) {
    let server = config.servers.get(call.target.server.as_str());
    let facts =
        Facts::without_definition(&call.target, &call.arguments, server, &call.caller, session);
    let facts = match &call.annotations {
        Some(text) => facts.with_annotations(text, server),
        None => facts,
    };
    let rules = Rules { policy: Some(policy), ..Rules::of(&config.settings, &[]) };
    let verdict = match server {
        Some(server) => rules.verdict(&facts, Some(server)),
        None => rules.verdict_alone(&facts),
    };
    let (effect, by) = verdict.told();
    (effect, by.to_owned())
}

/// Which calls belong together.
fn session_of(caller: &Caller) -> String {
    let conversation = caller.reference.as_deref().and_then(|text| text.split_once('/'));
    match conversation {
        Some((session, _)) => session.to_owned(),
        None => format!("{}:{}", caller.origin, caller.name),
    }
}
