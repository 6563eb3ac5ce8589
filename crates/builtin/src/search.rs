//! The tool `files_search`: finds the lines that contain a text, in a file or a folder.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::ToolArguments;
use crate::beneath::EntryKind;
use crate::content::ToolResult;
use crate::error::ToolRefusal;
use crate::glob::FileGlob;
use crate::lines::{LineStep, ReadBudget};
use crate::read::OpenedFile;
use crate::roots::{RootedPath, Roots};
use crate::server::ToolContext;
use crate::sniff::ContentKind;
use crate::walk::{WalkEnd, WalkLimits};
use crate::{beneath, display_text, tools, walk};

const MAX_MATCHES: u64 = 500;
const DEFAULT_MATCHES: u64 = 100;
const MAX_FILES: u64 = 20_000;
const MAX_BYTES: u64 = 256 * 1024 * 1024;
const MAX_OUTPUT_BYTES: usize = 256 * 1024;
const MAX_PATTERN_BYTES: usize = 1000;
const MAX_LINE_BYTES: usize = 64 * 1024;
const EXCERPT_CHARS: usize = 240;
const EXCERPT_CHARS_BEFORE: usize = 80;
const MAX_DEPTH: u64 = 64;
const TIME_LIMIT: Duration = Duration::from_secs(5);

pub(crate) fn definition() -> Value {
    json!({
        "name": "files_search",
        "title": "Search files",
        "description": "Finds lines that contain a text, exactly as written (no regular \
            expressions). Skips `.git`, `target`, `node_modules`, links and binary files.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string", "minLength": 1,
                    "description": "The text to find, within one line."
                },
                "path": {
                    "type": "string",
                    "description": "The file or folder to search, absolute or relative to the \
                        shared folder. Default: all shared folders."
                },
                "glob": {
                    "type": "string",
                    "description": "Glob of the files to search: `*.rs` by name in any folder, \
                        `src/**/*.{ts,tsx}` by the path below the searched folder."
                },
                "ignore_case": {
                    "type": "boolean", "default": false,
                    "description": "Whether to ignore letter case."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MAX_MATCHES,
                    "default": DEFAULT_MATCHES, "description": "Maximum number of lines to return."
                }
            },
            "required": ["pattern"],
            "additionalProperties": false
        },
        "outputSchema": output_schema(),
        "annotations": tools::read_only_annotations("Search files")
    })
}

fn output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "matches": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string" },
                        "line": { "type": "integer", "description": "Line number, starting at 1." },
                        "text": { "type": "string", "description": "The line, shortened if long." }
                    },
                    "required": ["path", "line", "text"],
                    "additionalProperties": false
                }
            },
            "files": { "type": "integer", "description": "Number of files searched." },
            "complete": {
                "type": "boolean", "description": "False if there may be more matches."
            },
            "notes": {
                "type": "array", "items": { "type": "string" },
                "description": "Skipped content, and why the search stopped early."
            }
        },
        "required": ["matches", "files", "complete", "notes"],
        "additionalProperties": false
    })
}

pub(crate) fn run(
    around: &ToolContext,
    arguments: &ToolArguments,
) -> Result<ToolResult, ToolRefusal> {
    let mut search = Search::new(&around.roots, arguments)?;
    for start in around.roots.start_places(arguments.optional_text("path")?)? {
        if search.stopped.is_some() {
            break;
        }
        let name = around.roots.display_name(&start);
        let kind = beneath::entry_kind(&start)
            .map_err(|problem| ToolRefusal::from_io_error(&name, &problem))?;
        if kind != EntryKind::Folder {
            // The glob does not apply to a file that was named, and failing to read it is an error.
            let opened = OpenedFile::new(&start)
                .map_err(|problem| ToolRefusal::from_io_error(&name, &problem))?;
            let _over = search.file(&start, opened);
            continue;
        }
        let reach = WalkLimits { depth: MAX_DEPTH, hidden: true, until: search.until };
        let stop = walk::walk(&around.roots, &start, reach, &mut |found| {
            let path = found.relative.to_string_lossy();
            if found.entry.kind != EntryKind::File || !search.wants(&path) {
                return ControlFlow::Continue(());
            }
            match OpenedFile::new(&found.place) {
                Ok(opened) => search.file(&found.place, opened),
                // Other files may still match; the result reports the number of unreadable ones.
                Err(_) => {
                    search.unreadable += 1;
                    ControlFlow::Continue(())
                }
            }
        })?;
        match stop {
            WalkEnd::Never | WalkEnd::Visitor => {}
            WalkEnd::TooMany | WalkEnd::TooLate => search.stop(TOO_MUCH),
        }
    }
    Ok(search.into_result())
}

const TOO_MUCH: &str = "the search limit was reached; narrow it down with `path` or `glob`";

struct Search<'a> {
    roots: &'a Roots,
    pattern: String,
    ignore_case: bool,
    glob: Option<FileGlob>,
    limit: usize,
    until: Instant,
    matches: Vec<(String, u64, String)>,
    output: usize,
    files: u64,
    bytes: u64,
    binary: u64,
    unreadable: u64,
    long_lines: u64,
    stopped: Option<&'static str>,
}

impl<'a> Search<'a> {
    fn new(roots: &'a Roots, arguments: &ToolArguments) -> Result<Self, ToolRefusal> {
        let pattern = arguments.text("pattern")?;
        if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
            return Err(ToolRefusal::parameter("pattern", "must have 1 to 1000 bytes"));
        }
        if pattern.contains(['\n', '\r']) {
            let refusal = ToolRefusal::parameter("pattern", "contains a line break");
            return Err(refusal.with_hint("lines are searched one by one"));
        }
        let ignore_case = arguments.flag("ignore_case")?;
        let limit = arguments.whole_number("limit", 1..=MAX_MATCHES, DEFAULT_MATCHES)?;
        Ok(Self {
            roots,
            pattern: if ignore_case { pattern.to_lowercase() } else { pattern.to_owned() },
            ignore_case,
            glob: arguments.optional_text("glob")?.map(FileGlob::new).transpose()?,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            until: Instant::now() + TIME_LIMIT,
            matches: Vec::new(),
            output: 0,
            files: 0,
            bytes: 0,
            binary: 0,
            unreadable: 0,
            long_lines: 0,
            stopped: None,
        })
    }

    fn wants(&self, path: &str) -> bool {
        // Globs are written with `/` on every system.
        let path = path.replace(std::path::MAIN_SEPARATOR, "/");
        self.glob.as_ref().is_none_or(|glob| glob.matches(&path))
    }

    fn stop(&mut self, reason: &'static str) {
        // The first reason is the cause; later ones follow from it.
        self.stopped.get_or_insert(reason);
    }

    fn file(&mut self, place: &RootedPath, opened: OpenedFile) -> ControlFlow<()> {
        if opened.nature != ContentKind::Text {
            self.binary += 1;
            return ControlFlow::Continue(());
        }
        if self.files >= MAX_FILES {
            self.stop(TOO_MUCH);
            return ControlFlow::Break(());
        }
        self.files += 1;
        let bytes = MAX_BYTES.saturating_sub(self.bytes);
        let mut lines = opened.lines(ReadBudget { bytes, until: self.until });
        let mut number = 0;
        let flow = loop {
            match lines.advance(MAX_LINE_BYTES) {
                Ok(LineStep::End) => break ControlFlow::Continue(()),
                Ok(LineStep::Exhausted) => {
                    self.stop(TOO_MUCH);
                    break ControlFlow::Break(());
                }
                Ok(LineStep::Line) => {}
                Ok(LineStep::CutLine) => self.long_lines += 1,
                Err(_) => {
                    self.unreadable += 1;
                    break ControlFlow::Continue(());
                }
            }
            number += 1;
            if let Some(excerpt) = self.find_match(lines.line())
                && self.add_match(place, number, excerpt).is_break()
            {
                break ControlFlow::Break(());
            }
        };
        // The budget is shared by all files of a search.
        self.bytes = self.bytes.saturating_add(lines.bytes_read());
        flow
    }

    fn find_match(&self, line: &[u8]) -> Option<String> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        // Positions are counted in characters: lower-casing can change the length in bytes.
        if !self.ignore_case {
            return line.find(&self.pattern).map(|at| excerpt(line, characters_before(line, at)));
        }
        let lower = line.to_lowercase();
        lower.find(&self.pattern).map(|at| excerpt(line, characters_before(&lower, at)))
    }

    fn add_match(&mut self, place: &RootedPath, number: u64, excerpt: String) -> ControlFlow<()> {
        // Checked when one more match is found, so that the note is never wrong.
        if self.matches.len() >= self.limit {
            self.stop("there are more matches than `limit`");
            return ControlFlow::Break(());
        }
        let path = self.roots.display_name(place);
        self.output = self.output.saturating_add(path.len() + excerpt.len());
        if self.output > MAX_OUTPUT_BYTES {
            self.stop("the result is full; narrow down the search");
            return ControlFlow::Break(());
        }
        self.matches.push((path, number, excerpt));
        ControlFlow::Continue(())
    }

    fn into_result(self) -> ToolResult {
        let counted = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let notes: Vec<String> = [
            self.stopped.map(str::to_owned),
            counted(self.binary, "binary files were skipped"),
            counted(self.unreadable, "files could not be read"),
            counted(self.long_lines, "very long lines were searched in their first 64 KiB only"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut text: Vec<String> = self
            .matches
            .iter()
            .map(|(path, line, text)| format!("{}:{line}: {text}", display_text::printable(path)))
            .collect();
        if text.is_empty() {
            text.push(format!("No match in {} files.", self.files));
        }
        text.extend(notes.iter().map(|note| format!("note: {note}")));
        let matches: Vec<Value> = self
            .matches
            .iter()
            .map(|(path, line, text)| json!({ "path": path, "line": line, "text": text }))
            .collect();
        // Skipped binary files do not count: they have no lines to find.
        let complete = self.stopped.is_none() && self.unreadable == 0 && self.long_lines == 0;
        ToolResult::text(text.join("\n")).with_structured(json!({
            "matches": matches, "files": self.files, "complete": complete, "notes": notes
        }))
    }
}

fn characters_before(text: &str, at: usize) -> usize {
    text.char_indices().take_while(|(start, _)| *start < at).count()
}

/// Returns the whole line, or the part around the match if it is long.
fn excerpt(line: &str, at: usize) -> String {
    if line.chars().nth(EXCERPT_CHARS).is_none() {
        return line.to_owned();
    }
    let start = at.saturating_sub(EXCERPT_CHARS_BEFORE);
    let mut rest = line.chars().skip(start);
    let mut out = if start > 0 { "…".to_owned() } else { String::new() };
    out.extend(rest.by_ref().take(EXCERPT_CHARS));
    if rest.next().is_some() {
        out.push('…');
    }
    out
}
