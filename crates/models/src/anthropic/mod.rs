//! Anthropic's Messages API.

mod protocol;
mod request;
mod stream;

pub(crate) use protocol::AnthropicProtocol;
