//! Models that answer from a script, in the wire format of each vendor.

mod anthropic;
mod gemini;
mod openai;
mod script;
mod signature;
mod site;
mod vendor;
mod wire;

pub(crate) use site::{ModelOptions, serve};
