//! How much load, for how long, and how many servers are killed meanwhile.

use std::path::PathBuf;
use std::time::Duration;

/// A soak.
#[derive(Clone, Debug)]
pub struct SoakPlan {
    /// The `switchboard` program.
    pub program: PathBuf,
    /// Clients, of both eras by turns, each with one call at a time.
    pub clients: usize,
    /// Servers behind the gateway.
    pub servers: usize,
    /// Tools of all servers together.
    pub tools: usize,
    /// How long the clients call.
    pub length: Duration,
    /// Servers that are killed meanwhile.
    pub kills: usize,
    /// How long a client rests between two calls, on average.
    pub pause: Duration,
    /// What all choices follow from.
    pub seed: u64,
    /// By how much the gateway's memory may grow after the first quarter, beside a fixed 16 MB.
    pub growth: f64,
}

impl SoakPlan {
    /// The names of the servers, as they are configured.
    pub(super) fn server(number: usize) -> String {
        format!("s{number:03}")
    }

    /// The name of a client, as the record has it.
    pub(super) fn client(number: usize) -> String {
        format!("soak-{number}")
    }

    /// How many tools each server has.
    pub(super) fn tools_each(&self) -> usize {
        (self.tools / self.servers.max(1)).max(1)
    }
}
