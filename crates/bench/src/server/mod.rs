//! The server that every client is measured against: it answers as cheaply as it can.

mod answer;
mod http;
mod offer;
mod run;
mod stdio;

pub(crate) use offer::{MadeTool, definitions, questions};
pub(crate) use run::run;
pub(crate) use stdio::raw_output;
