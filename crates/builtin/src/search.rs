//! The tool `files_search`: the lines that contain a text, in a file or a whole folder.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::beneath::Kind;
use crate::content::ToolResult;
use crate::error::Refusal;
use crate::glob::Glob;
use crate::lines::{Budget, Step};
use crate::read::Opened;
use crate::roots::{Place, Roots};
use crate::server::Surroundings;
use crate::sniff::Nature;
use crate::walk::{Reach, Stop};
use crate::{beneath, display_text, tools, walk};

const MOST_MATCHES: u64 = 500;
const USUAL_MATCHES: u64 = 100;
const MOST_FILES: u64 = 20_000;
const MOST_BYTES: u64 = 256 * 1024 * 1024;
const MOST_OUTPUT: usize = 256 * 1024;
const LONGEST_PATTERN: usize = 1000;
/// As much of a line as is looked at.
const MOST_OF_LINE: usize = 64 * 1024;
/// As many characters of a line as are shown, and how many of them before the match.
const SHOWN: usize = 240;
const SHOWN_BEFORE: usize = 80;
const DEEPEST: u64 = 64;
const LONGEST: Duration = Duration::from_secs(5);

pub(crate) fn definition() -> Value {
    json!({
        "name": "files_search",
        "title": "Search files",
        "description": "Finds lines that contain a text, exactly as written (no regular \
            expressions). Passes over `.git`, `target`, `node_modules`, links and binary files.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string", "minLength": 1,
                    "description": "The text to look for, within one line."
                },
                "path": {
                    "type": "string",
                    "description": "The file or folder to search, absolute or relative to the \
                        shared folder. Left out: everything shared."
                },
                "glob": {
                    "type": "string",
                    "description": "Only files like this: `*.rs` by name anywhere, \
                        `src/**/*.{ts,tsx}` by the path below the searched folder."
                },
                "ignore_case": {
                    "type": "boolean", "default": false,
                    "description": "Whether `A` also finds `a`."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST_MATCHES,
                    "default": USUAL_MATCHES, "description": "How many lines to give at most."
                }
            },
            "required": ["pattern"],
            "additionalProperties": false
        },
        "outputSchema": output_schema(),
        "annotations": tools::read_only("Search files")
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
                        "line": { "type": "integer", "description": "Counted from 1." },
                        "text": { "type": "string", "description": "The line, cut if long." }
                    },
                    "required": ["path", "line", "text"],
                    "additionalProperties": false
                }
            },
            "files": { "type": "integer", "description": "How many files were searched." },
            "complete": {
                "type": "boolean", "description": "False if there may be more matches."
            },
            "notes": {
                "type": "array", "items": { "type": "string" },
                "description": "What was passed over, and why the search stopped."
            }
        },
        "required": ["matches", "files", "complete", "notes"],
        "additionalProperties": false
    })
}

pub(crate) fn run(around: &Surroundings, arguments: &Arguments) -> Result<ToolResult, Refusal> {
    let mut search = Search::new(&around.roots, arguments)?;
    for start in around.roots.starts(arguments.optional_text("path")?)? {
        if search.stopped.is_some() {
            break;
        }
        let name = around.roots.name_of(&start);
        let kind = beneath::kind_of(&start).map_err(|problem| Refusal::disk(&name, &problem))?;
        if kind != Kind::Folder {
            // A file named outright is searched whatever the glob says, or the reason is told.
            let opened = Opened::new(&start).map_err(|problem| Refusal::disk(&name, &problem))?;
            let _over = search.file(&start, opened);
            continue;
        }
        let reach = Reach { depth: DEEPEST, hidden: true, until: search.until };
        let stop = walk::walk(&around.roots, &start, reach, &mut |found| {
            let path = found.relative.to_string_lossy();
            if found.entry.kind != Kind::File || !search.wants(&path) {
                return ControlFlow::Continue(());
            }
            match Opened::new(&found.place) {
                Ok(opened) => search.file(&found.place, opened),
                Err(_) => {
                    search.unreadable += 1;
                    ControlFlow::Continue(())
                }
            }
        })?;
        match stop {
            Stop::Never | Stop::Visitor => {}
            Stop::TooMany | Stop::TooLate => search.stop(TOO_MUCH),
        }
    }
    Ok(search.into_result())
}

const TOO_MUCH: &str = "there was too much to search; narrow it down with `path` or `glob`";

/// A search under way.
struct Search<'a> {
    roots: &'a Roots,
    pattern: String,
    ignore_case: bool,
    glob: Option<Glob>,
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
    fn new(roots: &'a Roots, arguments: &Arguments) -> Result<Self, Refusal> {
        let pattern = arguments.text("pattern")?;
        if pattern.is_empty() || pattern.len() > LONGEST_PATTERN {
            return Err(Refusal::parameter("pattern", "must have 1 to 1000 bytes"));
        }
        if pattern.contains(['\n', '\r']) {
            let refusal = Refusal::parameter("pattern", "has a line break");
            return Err(refusal.hint("lines are searched one by one"));
        }
        let ignore_case = arguments.flag("ignore_case")?;
        let limit = arguments.whole("limit", 1..=MOST_MATCHES, USUAL_MATCHES)?;
        Ok(Self {
            roots,
            pattern: if ignore_case { pattern.to_lowercase() } else { pattern.to_owned() },
            ignore_case,
            glob: arguments.optional_text("glob")?.map(Glob::new).transpose()?,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            until: Instant::now() + LONGEST,
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
        let path = path.replace(std::path::MAIN_SEPARATOR, "/");
        self.glob.as_ref().is_none_or(|glob| glob.matches(&path))
    }

    fn stop(&mut self, reason: &'static str) {
        self.stopped.get_or_insert(reason);
    }

    fn file(&mut self, place: &Place, opened: Opened) -> ControlFlow<()> {
        if opened.nature != Nature::Text {
            self.binary += 1;
            return ControlFlow::Continue(());
        }
        if self.files >= MOST_FILES {
            self.stop(TOO_MUCH);
            return ControlFlow::Break(());
        }
        self.files += 1;
        let bytes = MOST_BYTES.saturating_sub(self.bytes);
        let mut lines = opened.lines(Budget { bytes, until: self.until });
        let mut number = 0;
        let flow = loop {
            match lines.advance(MOST_OF_LINE) {
                Ok(Step::End) => break ControlFlow::Continue(()),
                Ok(Step::Exhausted) => {
                    self.stop(TOO_MUCH);
                    break ControlFlow::Break(());
                }
                Ok(Step::Line) => {}
                Ok(Step::CutLine) => self.long_lines += 1,
                Err(_) => {
                    self.unreadable += 1;
                    break ControlFlow::Continue(());
                }
            }
            number += 1;
            if let Some(excerpt) = self.hit(lines.line())
                && self.keep(place, number, excerpt).is_break()
            {
                break ControlFlow::Break(());
            }
        };
        self.bytes = self.bytes.saturating_add(lines.scanned());
        flow
    }

    /// The part of the line to show, if the line has the pattern.
    fn hit(&self, line: &[u8]) -> Option<String> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        if !self.ignore_case {
            return line.find(&self.pattern).map(|at| excerpt(line, characters_before(line, at)));
        }
        let lower = line.to_lowercase();
        lower.find(&self.pattern).map(|at| excerpt(line, characters_before(&lower, at)))
    }

    fn keep(&mut self, place: &Place, number: u64, excerpt: String) -> ControlFlow<()> {
        if self.matches.len() >= self.limit {
            self.stop("there are more matches than `limit`");
            return ControlFlow::Break(());
        }
        let path = self.roots.name_of(place);
        self.output = self.output.saturating_add(path.len() + excerpt.len());
        if self.output > MOST_OUTPUT {
            self.stop("the answer is full; narrow the search down");
            return ControlFlow::Break(());
        }
        self.matches.push((path, number, excerpt));
        ControlFlow::Continue(())
    }

    fn into_result(self) -> ToolResult {
        let counted = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let notes: Vec<String> = [
            self.stopped.map(str::to_owned),
            counted(self.binary, "binary files were passed over"),
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
        let complete = self.stopped.is_none() && self.unreadable == 0 && self.long_lines == 0;
        ToolResult::text(text.join("\n")).and_structured(json!({
            "matches": matches, "files": self.files, "complete": complete, "notes": notes
        }))
    }
}

fn characters_before(text: &str, at: usize) -> usize {
    text.char_indices().take_while(|(start, _)| *start < at).count()
}

/// The line, or the surroundings of the match in a long one.
fn excerpt(line: &str, at: usize) -> String {
    if line.chars().nth(SHOWN).is_none() {
        return line.to_owned();
    }
    let start = at.saturating_sub(SHOWN_BEFORE);
    let mut rest = line.chars().skip(start);
    let mut out = if start > 0 { "…".to_owned() } else { String::new() };
    out.extend(rest.by_ref().take(SHOWN));
    if rest.next().is_some() {
        out.push('…');
    }
    out
}
