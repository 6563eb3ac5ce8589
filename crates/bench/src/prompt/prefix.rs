//! Length of the prompt prefix that stays the same, byte for byte, when a server comes or goes.

use serde::Serialize;
use switchboard_prompting::{PromptOptions, ShownServer, StableOrder, section};

use crate::meter::median;

/// Number of servers, evenly spread, that are tried as the one that comes or goes.
const TRIED_SERVERS: usize = 10;

/// The order in which servers are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ServerOrder {
    Remembered,
    Name,
    /// In the order of connecting: a server that returns is last.
    Arrival,
}

impl ServerOrder {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Remembered => "ours: as first shown",
            Self::Name => "by name",
            Self::Arrival => "as they connect",
        }
    }
}

/// Length of the prefix that stays, as median of all tried servers.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct KeptPrefix {
    pub(super) order: ServerOrder,
    /// Size of the whole prompt.
    pub(super) bytes: usize,
    /// Bytes before the first difference after a server left and returned.
    pub(super) returned: f64,
    /// The same as a share of the previous prompt.
    pub(super) returned_share: f64,
    /// Bytes before the first difference after another server joined.
    pub(super) joined: f64,
    /// The same as a share of the previous prompt.
    pub(super) joined_share: f64,
}

/// Measures the prefix for every order.
pub(super) fn measure_prefixes(servers: &[ShownServer<'_>]) -> Vec<KeptPrefix> {
    [ServerOrder::Remembered, ServerOrder::Name, ServerOrder::Arrival]
        .map(|order| measure_prefix(order, servers))
        .into()
}

fn measure_prefix(order: ServerOrder, servers: &[ShownServer<'_>]) -> KeptPrefix {
    let mut returned = Vec::new();
    let mut joined = Vec::new();
    for number in 0..TRIED_SERVERS.min(servers.len()) {
        let mut without = servers.to_vec();
        let one = without.remove(number * servers.len() / TRIED_SERVERS.min(servers.len()));
        let one_last: Vec<ShownServer<'_>> = without.iter().cloned().chain([one]).collect();

        let mut prompt = EvolvingPrompt::new(order);
        let before = prompt.show(servers);
        prompt.show(&without);
        returned.push(common_prefix(&before, &prompt.show(&one_last)));

        let mut prompt = EvolvingPrompt::new(order);
        let before = prompt.show(&without);
        joined.push(common_prefix(&before, &prompt.show(&one_last)));
    }
    let bytes = |all: &[(f64, f64)]| median(all.iter().map(|(bytes, _)| *bytes));
    let share = |all: &[(f64, f64)]| median(all.iter().map(|(_, share)| *share));
    KeptPrefix {
        order,
        bytes: EvolvingPrompt::new(order).show(servers).len(),
        returned: bytes(&returned),
        returned_share: share(&returned),
        joined: bytes(&joined),
        joined_share: share(&joined),
    }
}

/// A prompt that is built again after every change.
struct EvolvingPrompt {
    order: ServerOrder,
    memory: StableOrder,
}

impl EvolvingPrompt {
    fn new(order: ServerOrder) -> Self {
        Self { order, memory: StableOrder::new() }
    }

    /// Builds the prompt for servers, given in the order in which they connected.
    fn show(&mut self, arrived: &[ShownServer<'_>]) -> String {
        let mut servers = arrived.to_vec();
        match self.order {
            ServerOrder::Remembered => self.memory.arrange(&mut servers),
            ServerOrder::Name => servers.sort_by(|left, right| left.name.cmp(right.name)),
            ServerOrder::Arrival => {}
        }
        section(&servers, &PromptOptions::default())
    }
}

/// Returns the length of the common prefix, and its share of the first text.
fn common_prefix(before: &str, after: &str) -> (f64, f64) {
    let same = before.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
    (same as f64, same as f64 / before.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use switchboard_prompting::{ShownServer, ShownTool};

    use super::{ServerOrder, measure_prefixes};

    #[test]
    fn only_the_remembered_order_keeps_everything() {
        let names = ["a", "b", "c", "d"];
        let servers: Vec<ShownServer<'_>> = names
            .iter()
            .map(|name| ShownServer {
                name,
                tools: vec![ShownTool { name, model_name: name, ..ShownTool::default() }],
                ..ShownServer::default()
            })
            .collect();
        let whole: Vec<(ServerOrder, bool, bool)> = measure_prefixes(&servers)
            .iter()
            .map(|kept| (kept.order, kept.returned_share == 1.0, kept.joined_share == 1.0))
            .collect();
        let expected = [
            (ServerOrder::Remembered, true, true),
            (ServerOrder::Name, true, false),
            (ServerOrder::Arrival, false, true),
        ];
        assert_eq!(whole, expected);
    }
}
