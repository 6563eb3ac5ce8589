//! Model vendors behind one interface: [`open()`] creates a [`switchboard_prompting::Model`] from a
//! profile of the configuration.
//!
//! Reading order: `providers` is the table of differences between providers, `access` resolves the
//! base URL and the key, `history` normalizes a conversation, and one folder per vendor (`openai`,
//! `anthropic`, `gemini`) writes requests and parses streams without I/O. `transport` sends them
//! and retries. `scripted` answers from a file; `sampling` answers sampling requests of servers.

mod access;
mod anthropic;
mod gemini;
mod history;
mod listener;
mod open;
mod openai;
mod protocol;
mod providers;
mod sampling;
mod scripted;
#[cfg(test)]
mod test_values;
mod transport;

pub use open::{open, open_with};
pub use sampling::ModelSampler;
pub use transport::RetryPolicy;
