//! Google's Gemini.

mod protocol;
mod request;
mod stream;

pub(crate) use protocol::GeminiProtocol;
