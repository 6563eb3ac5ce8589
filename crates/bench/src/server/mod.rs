//! The server that every client is measured against, which answers as cheaply as possible.

mod answer;
mod offer;
mod run;

pub(crate) use offer::{MadeTool, definitions, questions};
pub(crate) use run::{RawServerOptions, raw_output, run};
