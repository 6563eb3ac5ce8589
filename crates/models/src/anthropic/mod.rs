//! Anthropic's Messages API: requests and streams.

mod protocol;
mod request;
mod stream;

pub(crate) use protocol::AnthropicProtocol;
