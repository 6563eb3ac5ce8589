//! Goes through a folder and what is below it, level by level, within limits and without links.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::beneath;
use crate::beneath::{Entry, Kind};
use crate::error::Refusal;
use crate::roots::{Place, Roots};

const MOST_IN_ONE_FOLDER: usize = 10_000;
const MOST_IN_ALL: usize = 100_000;

/// Folders full of what others made; listed, but entered only when named.
pub(crate) const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];

/// One thing that was come across.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) place: Place,
    /// The way from where the walk began.
    pub(crate) relative: &'a Path,
    pub(crate) entry: &'a Entry,
}

/// How far a walk goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    pub(crate) depth: u64,
    pub(crate) hidden: bool,
    pub(crate) until: Instant,
}

/// Why a walk did not see everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It did see everything within its depth.
    Never,
    /// The visitor had enough.
    Visitor,
    TooMany,
    TooLate,
}

/// Shows `visit` everything below a folder, nearest first; a folder that cannot be read is passed
/// over unless it is the first.
pub(crate) fn walk(
    roots: &Roots,
    start: &Place,
    reach: Reach,
    visit: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
) -> Result<Stop, Refusal> {
    let mut queue = VecDeque::from([(PathBuf::new(), 1)]);
    let (mut seen, mut whole) = (0_usize, true);
    while let Some((relative, depth)) = queue.pop_front() {
        let folder = match beneath::read_folder(&start.below(&relative), MOST_IN_ONE_FOLDER) {
            Ok(folder) => folder,
            Err(problem) if depth == 1 => {
                return Err(Refusal::disk(&roots.name_of(start), &problem));
            }
            Err(_) => continue,
        };
        whole &= folder.whole;
        for entry in &folder.entries {
            let name = entry.name.to_string_lossy();
            if name.starts_with('.') && !reach.hidden {
                continue;
            }
            seen += 1;
            if seen > MOST_IN_ALL {
                return Ok(Stop::TooMany);
            }
            if Instant::now() >= reach.until {
                return Ok(Stop::TooLate);
            }
            let relative = relative.join(&entry.name);
            let place = start.below(&relative);
            if visit(Found { place, relative: &relative, entry }).is_break() {
                return Ok(Stop::Visitor);
            }
            let entered = entry.kind == Kind::Folder && !SKIPPED.contains(&name.as_ref());
            if entered && depth < reach.depth {
                queue.push_back((relative, depth + 1));
            }
        }
    }
    Ok(if whole { Stop::Never } else { Stop::TooMany })
}
