//! Models that say what a script says, in the streaming format of each vendor.

mod anthropic;
mod gemini;
mod openai;
mod script;
mod signature;
mod site;
mod vendor;
mod wire;

pub(crate) use site::{ModelOptions, serve};
