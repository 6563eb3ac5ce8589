//! Anthropic's messages.

mod protocol;
mod request;
mod stream;

pub(crate) use protocol::AnthropicProtocol;
