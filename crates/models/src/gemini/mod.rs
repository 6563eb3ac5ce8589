//! Google's Gemini API: requests and streams.

mod protocol;
mod request;
mod stream;

pub(crate) use protocol::GeminiProtocol;
