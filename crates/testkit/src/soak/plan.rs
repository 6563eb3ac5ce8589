//! The parameters of a soak (load, duration, kills), and the calls that clients make.

use std::path::PathBuf;
use std::time::Duration;

use fastrand::Rng;

/// The parameters of a soak.
#[derive(Clone, Debug)]
pub struct SoakPlan {
    pub program: PathBuf,
    /// Number of clients. They alternate between the eras; each makes one call at a time.
    pub clients: usize,
    pub servers: usize,
    pub tools: usize,
    pub length: Duration,
    pub kills: usize,
    /// Average pause of a client between two calls.
    pub pause: Duration,
    pub seed: u64,
    /// Fraction by which the gateway's memory may grow after the first quarter, in addition to a
    /// fixed 16 MB.
    pub growth: f64,
}

impl SoakPlan {
    pub(super) fn server(number: usize) -> String {
        format!("s{number:03}")
    }

    /// Name of a client in the record.
    pub(super) fn client(number: usize) -> String {
        format!("soak-{number}")
    }

    /// Number of tools per server.
    pub(super) fn tools_each(&self) -> usize {
        (self.tools / self.servers.max(1)).max(1)
    }
}

/// The kinds of tools of a server, in the order of its definitions.
const KINDS: [&str; 5] = ["echo", "slow", "fail", "big", "progress"];
/// Cumulative percentage of calls, with the index of the kind in `KINDS`.
const SHARES: [(usize, usize); 5] = [(60, 0), (74, 4), (86, 1), (98, 2), (100, 3)];

/// A call that a client is going to make.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Id of the call in the journal.
    pub(super) id: String,
    pub(super) server: usize,
    pub(super) tool: String,
    pub(super) arguments: serde_json::Value,
    /// Expected length of the answer's text, in bytes.
    pub(super) answer_bytes: usize,
    /// Whether the call asks for progress notifications.
    pub(super) reports: bool,
    /// How long the client waits before it gives up; `None` to wait for the answer.
    pub(super) patience: Option<Duration>,
}

impl Work {
    /// Generates the `number`th call of a client.
    pub(super) fn next(plan: &SoakPlan, client: usize, number: usize, random: &mut Rng) -> Self {
        let id = format!("{client}-{number}");
        let share = random.usize(..100);
        let kind = SHARES.iter().find(|(below, _)| share < *below).map_or(0, |(_, kind)| *kind);
        // A server that has few tools may not have all kinds.
        let kind = kind.min(plan.tools_each() - 1);
        let variants = (plan.tools_each() - kind).div_ceil(KINDS.len());
        let name = KINDS.get(kind).copied().unwrap_or("echo");
        let ms = 20 + random.usize(..380);
        let bytes = 4_000 + random.usize(..20_000);
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
        let gives_up = name == "slow" && random.usize(..10) == 0;
        let patience = Duration::from_millis(u64::try_from(ms / 2).unwrap_or_default());
        Self {
            id,
            server: random.usize(..plan.servers),
            tool: format!("{name}_{:03}", random.usize(..variants) + 1),
            arguments,
            answer_bytes,
            reports: name == "progress",
            patience: gives_up.then_some(patience),
        }
    }
}
