//! OpenAI's chat completions, and everything that speaks like it.

mod content;
mod protocol;
mod reasoning;
mod request;
mod stream;

pub(crate) use protocol::OpenAiProtocol;
