//! Models that say what a script says, in the streaming format of each vendor.

mod anthropic;
mod faulty;
mod gemini;
mod openai;
mod pieces;
mod problem;
mod request;
mod script;
mod script_file;
mod serve;
mod signature;
mod site;
mod turns;
mod vendor;
mod wire;

pub(crate) use serve::serve;
