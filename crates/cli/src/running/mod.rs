//! Client of the `switchboard serve` that runs for this home.

mod call;
mod offers;
mod questions;

pub(crate) use call::RunningServer;
pub(crate) use offers::{find_instance, items, poll_settled, tool, tools};
