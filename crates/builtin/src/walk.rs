//! Walks a folder tree breadth-first, within limits and without following links.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::beneath;
use crate::beneath::{EntryKind, FolderEntry};
use crate::error::ToolRefusal;
use crate::roots::{RootedPath, Roots};

const MAX_PER_FOLDER: usize = 10_000;
const MAX_TOTAL: usize = 100_000;

/// Folders of generated or third-party files; listed, but entered only when named.
pub(crate) const SKIPPED_FOLDERS: [&str; 3] = [".git", "node_modules", "target"];

#[derive(Debug)]
pub(crate) struct WalkEntry<'a> {
    pub(crate) place: RootedPath,
    /// Path relative to the start of the walk.
    pub(crate) relative: &'a Path,
    pub(crate) entry: &'a FolderEntry,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WalkLimits {
    pub(crate) depth: u64,
    pub(crate) hidden: bool,
    pub(crate) until: Instant,
}

/// Why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkEnd {
    Never,
    Visitor,
    TooMany,
    TooLate,
}

/// Calls `visit` for all entries below a folder. Only an unreadable start is an error.
pub(crate) fn walk(
    roots: &Roots,
    start: &RootedPath,
    reach: WalkLimits,
    visit: &mut dyn FnMut(WalkEntry<'_>) -> ControlFlow<()>,
) -> Result<WalkEnd, ToolRefusal> {
    // Breadth-first, so that a limit cuts off the deepest entries and not whole siblings.
    let mut queue = VecDeque::from([(PathBuf::new(), 1)]);
    let mut seen = 0_usize;
    let mut whole = true;
    while let Some((relative, depth)) = queue.pop_front() {
        let folder = match beneath::read_folder(&start.below(&relative), MAX_PER_FOLDER) {
            Ok(folder) => folder,
            Err(problem) if depth == 1 => {
                return Err(ToolRefusal::from_io_error(&roots.display_name(start), &problem));
            }
            // A subfolder may be unreadable or gone; its siblings are still of use.
            Err(_) => continue,
        };
        whole &= folder.whole;
        for entry in &folder.entries {
            let name = entry.name.to_string_lossy();
            if name.starts_with('.') && !reach.hidden {
                continue;
            }
            seen += 1;
            if seen > MAX_TOTAL {
                return Ok(WalkEnd::TooMany);
            }
            if Instant::now() >= reach.until {
                return Ok(WalkEnd::TooLate);
            }
            let relative = relative.join(&entry.name);
            let place = start.below(&relative);
            if visit(WalkEntry { place, relative: &relative, entry }).is_break() {
                return Ok(WalkEnd::Visitor);
            }
            // Links have a kind of their own, so a link to a folder is not entered.
            let entered =
                entry.kind == EntryKind::Folder && !SKIPPED_FOLDERS.contains(&name.as_ref());
            if entered && depth < reach.depth {
                queue.push_back((relative, depth + 1));
            }
        }
    }
    Ok(if whole { WalkEnd::Never } else { WalkEnd::TooMany })
}
