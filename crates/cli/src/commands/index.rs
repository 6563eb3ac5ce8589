//! Writes the catalog as files that a model reads when it needs them.

use std::path::Path;

use serde_json::json;
use switchboard_editor::index;
use switchboard_terminal::{CliError, counted, exit_code};

use crate::args::OfServer;
use crate::commands::tools;
use crate::context::Context;

/// Writes `mcps/SERVER/tools/TOOL.json` and what belongs to it; files of tools that are gone are
/// removed.
pub(crate) async fn write(context: &Context, folder: &Path) -> Result<u8, CliError> {
    let host = tools::start(context, &OfServer::default()).await?;
    let files = index::files_of(&host);
    host.stop().await;
    let done = index::write(folder, &files).map_err(|error| {
        let folder = folder.display();
        CliError::new(exit_code::TROUBLE, format!("cannot write below `{folder}`: {error}"))
    })?;
    if context.printer.json {
        context.printer.json(&json!({ "written": done.there, "removed": done.removed }))?;
    } else {
        context.printer.say(&format!(
            "wrote {}, removed {}",
            counted(done.there, "file"),
            done.removed
        ));
    }
    Ok(exit_code::OK)
}
