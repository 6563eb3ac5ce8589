//! Model vendors behind one interface: [`open`] makes a [`switchboard_prompting::Model`] of a profile.
//!
//! Reading order: `open` creates a model from a profile, `providers` is the table of what differs
//! between providers, `access` finds address and key, `history` makes a conversation fit to be sent, and a folder for each vendor
//! (`openai`, `anthropic`, `gemini`) writes its requests and reads its streams without any I/O.
//! `transport` sends, waits, asks again and gives up. `scripted` answers from a file;
//! `sampling` asks models for servers.

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
