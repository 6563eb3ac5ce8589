//! Writes the catalog as files that a model reads when it needs them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;
use switchboard_host::prompt::{Options, index_files, shown};

use crate::args::OfServer;
use crate::commands::tools;
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;

/// Writes `mcps/SERVER/tools/TOOL.json` and what belongs to it; files of tools that are gone are
/// removed.
pub(crate) async fn write(context: &Context, folder: &Path) -> Result<u8, CliError> {
    let host = tools::start(context, &OfServer::default()).await?;
    let files = shown(&host.lease(), |servers| index_files(servers, &Options::default()));
    host.stop().await;
    let trouble = |path: &Path, error: &std::io::Error| {
        CliError::new(exit_code::TROUBLE, format!("cannot write `{}`: {error}", path.display()))
    };
    let mut written = BTreeSet::new();
    for file in &files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| trouble(parent, &error))?;
        }
        std::fs::write(&path, &file.contents).map_err(|error| trouble(&path, &error))?;
        written.insert(path);
    }
    let removed = remove_others(&folder.join("mcps"), &written)?;
    if context.printer.json {
        context.printer.json(&json!({ "written": written.len(), "removed": removed }))?;
    } else {
        context.printer.say(&format!("wrote {} files, removed {removed}", written.len()));
    }
    Ok(exit_code::OK)
}

/// Removes files of an earlier index: only names that an index has.
fn remove_others(index: &Path, keep: &BTreeSet<PathBuf>) -> Result<usize, CliError> {
    let mut removed = 0;
    for server in folders(index)? {
        let notes = ["INSTRUCTIONS.md", "STATUS.md"].map(|name| server.join(name));
        let mut old: Vec<PathBuf> = notes.into_iter().filter(|path| path.is_file()).collect();
        let tools = server.join("tools");
        if tools.is_dir() {
            for entry in std::fs::read_dir(&tools)? {
                let path = entry?.path();
                if path.extension().is_some_and(|ending| ending == "json") {
                    old.push(path);
                }
            }
        }
        for path in old.iter().filter(|path| !keep.contains(*path)) {
            std::fs::remove_file(path)?;
            removed += 1;
        }
        for folder in [tools, server] {
            // Stays where somebody put something else into it.
            std::fs::remove_dir(folder).ok();
        }
    }
    Ok(removed)
}

fn folders(index: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !index.is_dir() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for entry in std::fs::read_dir(index)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            all.push(path);
        }
    }
    Ok(all)
}
