//! Servers of other products: taken over, handed out, and the way back.

mod changed_file;
mod export;
mod fleet;
mod for_console;
mod import;
mod plan;
mod shown;
mod sources;

pub(crate) use export::{ConnectArgs, ExportArgs, connect, export};
pub(crate) use for_console::OtherProducts;
pub(crate) use import::{ImportArgs, import};
