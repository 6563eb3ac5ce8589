//! Google's Gemini API.

mod protocol;
mod request;
mod stream;

pub(crate) use protocol::GeminiProtocol;
