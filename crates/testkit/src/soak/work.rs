//! What a client does next.

use std::time::Duration;

use super::plan::SoakPlan;
use super::random::Random;

/// The five kinds of tools of a server, in the order in which it has them.
const KINDS: [&str; 5] = ["echo", "slow", "fail", "big", "progress"];
/// How often each kind is called, of a hundred calls.
const SHARES: [(usize, usize); 5] = [(60, 0), (74, 4), (86, 1), (98, 2), (100, 3)];

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// What the journal will call it.
    pub(super) id: String,
    pub(super) server: usize,
    pub(super) tool: String,
    pub(super) arguments: serde_json::Value,
    /// How many bytes of text the answer has.
    pub(super) answer_bytes: usize,
    /// Whether reports of progress are wanted.
    pub(super) reports: bool,
    /// After this the client gives it up.
    pub(super) patience: Option<Duration>,
}

impl Work {
    /// Thinks up the `number`th call of a client.
    pub(super) fn next(plan: &SoakPlan, client: usize, number: usize, random: &mut Random) -> Self {
        let id = format!("{client}-{number}");
        let share = random.below(100);
        let kind = SHARES.iter().find(|(below, _)| share < *below).map_or(0, |(_, kind)| *kind);
        // A server that has few tools may not have all kinds.
        let kind = kind.min(plan.tools_each() - 1);
        let variants = (plan.tools_each() - kind).div_ceil(KINDS.len());
        let name = KINDS.get(kind).copied().unwrap_or("echo");
        let ms = 20 + random.below(380);
        let bytes = 4_000 + random.below(20_000);
        let mut arguments = serde_json::json!({ "id": id });
        let mut answer_bytes = id.len();
        match name {
            "slow" => arguments["ms"] = ms.into(),
            "big" => {
                arguments["bytes"] = bytes.into();
                answer_bytes += bytes;
            }
            _ => {}
        }
        let gives_up = name == "slow" && random.below(10) == 0;
        let patience = Duration::from_millis(u64::try_from(ms / 2).unwrap_or_default());
        Self {
            id,
            server: random.below(plan.servers),
            tool: format!("{name}_{:03}", random.below(variants) + 1),
            arguments,
            answer_bytes,
            reports: name == "progress",
            patience: gives_up.then_some(patience),
        }
    }
}
