//! Import from and export to other products, and undoing an export.

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
