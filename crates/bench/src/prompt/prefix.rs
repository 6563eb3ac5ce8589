//! How much of a prompt stays the same, byte for byte, when a server comes or goes.

use serde::Serialize;
use switchboard_prompting::{Options, ShownServer, StableOrder, section};

use crate::statistics::median;

/// So many servers, evenly spread, are the one that comes or goes.
const TRIED: usize = 10;

/// The order that servers are shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    /// As [`StableOrder`] remembers.
    Remembered,
    /// By name.
    Name,
    /// As they connected, so that what comes back comes last.
    Arrival,
}

impl Order {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Remembered => "ours: as first shown",
            Self::Name => "by name",
            Self::Arrival => "as they connect",
        }
    }
}

/// What stays of a prompt, in the middle of all that were tried.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Kept {
    pub(super) order: Order,
    /// The bytes of the whole prompt.
    pub(super) bytes: usize,
    /// Bytes up to the first that differs, when a server went and came back.
    pub(super) returned: f64,
    /// The same as a share of the prompt before.
    pub(super) returned_share: f64,
    /// Bytes up to the first that differs, when another server joins.
    pub(super) joined: f64,
    /// The same as a share of the prompt before.
    pub(super) joined_share: f64,
}

/// Lets servers come and go, in every order.
pub(super) fn kept(servers: &[ShownServer<'_>]) -> Vec<Kept> {
    [Order::Remembered, Order::Name, Order::Arrival].map(|order| kept_in(order, servers)).into()
}

fn kept_in(order: Order, servers: &[ShownServer<'_>]) -> Kept {
    let (mut returned, mut joined) = (Vec::new(), Vec::new());
    for number in 0..TRIED.min(servers.len()) {
        let mut without = servers.to_vec();
        let one = without.remove(number * servers.len() / TRIED.min(servers.len()));
        let one_last: Vec<ShownServer<'_>> = without.iter().cloned().chain([one]).collect();

        let mut prompt = Prompt::new(order);
        let before = prompt.show(servers);
        prompt.show(&without);
        returned.push(common(&before, &prompt.show(&one_last)));

        let mut prompt = Prompt::new(order);
        let before = prompt.show(&without);
        joined.push(common(&before, &prompt.show(&one_last)));
    }
    let bytes = |all: &[(f64, f64)]| median(all.iter().map(|(bytes, _)| *bytes));
    let share = |all: &[(f64, f64)]| median(all.iter().map(|(_, share)| *share));
    Kept {
        order,
        bytes: Prompt::new(order).show(servers).len(),
        returned: bytes(&returned),
        returned_share: share(&returned),
        joined: bytes(&joined),
        joined_share: share(&joined),
    }
}

/// A prompt that is made anew whenever something changed.
struct Prompt {
    order: Order,
    memory: StableOrder,
}

impl Prompt {
    fn new(order: Order) -> Self {
        Self { order, memory: StableOrder::new() }
    }

    /// Shows the servers, which are given as they connected.
    fn show(&mut self, arrived: &[ShownServer<'_>]) -> String {
        let mut servers = arrived.to_vec();
        match self.order {
            Order::Remembered => self.memory.arrange(&mut servers),
            Order::Name => servers.sort_by(|left, right| left.name.cmp(right.name)),
            Order::Arrival => {}
        }
        section(&servers, &Options::default())
    }
}

/// The bytes that two texts begin with, and which share of the first that is.
fn common(before: &str, after: &str) -> (f64, f64) {
    let same = before.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
    (same as f64, same as f64 / before.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use switchboard_prompting::{ShownServer, ShownTool};

    use super::{Order, kept};

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
        let whole: Vec<(Order, bool, bool)> = kept(&servers)
            .iter()
            .map(|kept| (kept.order, kept.returned_share == 1.0, kept.joined_share == 1.0))
            .collect();
        let expected = [
            (Order::Remembered, true, true),
            (Order::Name, true, false),
            (Order::Arrival, false, true),
        ];
        assert_eq!(whole, expected);
    }
}
