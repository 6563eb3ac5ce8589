//! OpenAI's chat completions and compatible APIs.

mod content;
mod protocol;
mod reasoning;
mod request;
mod stream;

pub(crate) use protocol::OpenAiProtocol;
