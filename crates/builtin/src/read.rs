//! The tool `files_read`: the lines of a text file, a picture, or a word on what else it is.

use std::fs::File;
use std::io;
use std::io::{Chain, Cursor, Read};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::content::ToolResult;
use crate::error::Refusal;
use crate::lines::{Budget, Lines, Step};
use crate::roots::Place;
use crate::server::Surroundings;
use crate::sniff::Nature;
use crate::{beneath, display_text, sniff, tools};

/// As much text as one answer carries.
pub(crate) const MOST_TEXT: usize = 256 * 1024;
const LARGEST_IMAGE: u64 = 1024 * 1024;
const MOST_LINES: u64 = 10_000;
const USUAL_LINES: u64 = 2000;
/// Lines have no index, so a late one costs reading all before it.
const MOST_SCANNED: u64 = 1024 * 1024 * 1024;
const LONGEST: Duration = Duration::from_secs(5);

pub(crate) fn definition() -> Value {
    json!({
        "name": "files_read",
        "title": "Read a file",
        "description": "Reads a text file, whole or a range of lines, up to 256 KiB at a time; \
            the answer says how to go on. Pictures up to 1 MiB are shown; other binary files \
            are described.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file, absolute or relative to the shared folder."
                },
                "offset": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX, "default": 1,
                    "description": "The first line to read; lines count from 1."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST_LINES,
                    "default": USUAL_LINES, "description": "How many lines to read at most."
                }
            },
            "required": ["path"],
            "additionalProperties": false
        },
        "annotations": tools::read_only("Read a file")
    })
}

/// A file that was opened and looked at.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) nature: Nature,
    pub(crate) size: u64,
    source: Chain<Cursor<Vec<u8>>, File>,
}

impl Opened {
    pub(crate) fn new(place: &Place) -> io::Result<Self> {
        let mut file = beneath::open_file(place)?;
        let size = file.metadata()?.len();
        let mut head = Vec::new();
        let most = u64::try_from(sniff::HEAD).unwrap_or(u64::MAX);
        file.by_ref().take(most).read_to_end(&mut head)?;
        let nature = sniff::nature(&head);
        Ok(Self { nature, size, source: Cursor::new(head).chain(file) })
    }

    /// The file as lines.
    pub(crate) fn lines(self, budget: Budget) -> Lines<Chain<Cursor<Vec<u8>>, File>> {
        Lines::new(self.source, budget)
    }

    /// All of the file; nothing if there is more than `most`, whatever its size was said to be.
    pub(crate) fn whole(self, most: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let read = self.source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((u64::try_from(read).unwrap_or(u64::MAX) <= most).then_some(bytes))
    }
}

pub(crate) fn run(around: &Surroundings, arguments: &Arguments) -> Result<ToolResult, Refusal> {
    let path = arguments.text("path")?;
    let offset = arguments.whole("offset", 1..=u64::from(u32::MAX), 1)?;
    let limit = arguments.whole("limit", 1..=MOST_LINES, USUAL_LINES)?;
    let place = around.roots.resolve(path)?;
    let disk = |problem| Refusal::disk(path, &problem);
    let opened = Opened::new(&place).map_err(disk)?;
    let (name, size) = (display_text::brief(path), opened.size);
    match opened.nature {
        Nature::Text => text_range(opened, offset, limit).map_err(disk)?.into_result(offset),
        Nature::Image(mime_type) => Ok(match opened.whole(LARGEST_IMAGE).map_err(disk)? {
            Some(bytes) => ToolResult::image(&bytes, mime_type)
                .and_text(format!("`{name}`: {mime_type}, {} bytes", bytes.len())),
            None => ToolResult::text(format!(
                "`{name}` is a picture ({mime_type}) of {size} bytes; \
                 only pictures up to {LARGEST_IMAGE} bytes are shown."
            )),
        }),
        Nature::Binary(word) => Ok(ToolResult::text(format!(
            "`{name}` is not plain text ({word}, {size} bytes), so its content is not shown."
        ))),
    }
}

/// Some lines of a file and why there are not more.
#[derive(Debug)]
struct Range {
    text: String,
    /// The last line in `text`; one before the first if there is none.
    last: u64,
    end: RangeEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeEnd {
    File,
    MoreLines,
    /// The only line is longer than an answer.
    CutLine,
    /// The file is so large that the lines were not reached in time.
    Exhausted,
}

fn text_range(opened: Opened, offset: u64, limit: u64) -> io::Result<Range> {
    let budget = Budget { bytes: MOST_SCANNED, until: Instant::now() + LONGEST };
    let mut lines = opened.lines(budget);
    let mut range = Range { text: String::new(), last: 0, end: RangeEnd::File };
    loop {
        let wanted = range.last + 1 >= offset;
        let full = wanted && range.last + 1 >= offset.saturating_add(limit);
        let step = lines.advance(if wanted && !full { MOST_TEXT + 1 } else { 0 })?;
        match step {
            Step::End => return Ok(range),
            Step::Exhausted => return Ok(Range { end: RangeEnd::Exhausted, ..range }),
            _ if full => return Ok(Range { end: RangeEnd::MoreLines, ..range }),
            _ if !wanted => range.last += 1,
            _ => {
                let line = without_mark(lines.line(), range.last == 0);
                let line = String::from_utf8_lossy(line);
                if step == Step::Line && range.text.len() + line.len() <= MOST_TEXT {
                    range.text.push_str(&line);
                    range.last += 1;
                } else if range.last + 1 > offset {
                    return Ok(Range { end: RangeEnd::MoreLines, ..range });
                } else {
                    let cut = line.floor_char_boundary(MOST_TEXT);
                    range.text.push_str(line.get(..cut).unwrap_or_default());
                    return Ok(Range { last: offset, end: RangeEnd::CutLine, ..range });
                }
            }
        }
    }
}

/// The byte order mark at the start of a file is no part of its text.
fn without_mark(line: &[u8], first: bool) -> &[u8] {
    match first {
        true => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
        false => line,
    }
}

impl Range {
    fn into_result(self, offset: u64) -> Result<ToolResult, Refusal> {
        let (last, next) = (self.last, self.last + 1);
        let note = match self.end {
            RangeEnd::File if last == 0 => Some("The file is empty.".to_owned()),
            RangeEnd::File if last < offset => {
                let problem = format!("is past the end; the file has {last} lines");
                return Err(Refusal::parameter("offset", &problem));
            }
            RangeEnd::File if offset > 1 => {
                Some(format!("Lines {offset} to {last}; the file ends here."))
            }
            RangeEnd::File => None,
            RangeEnd::MoreLines => Some(format!(
                "Lines {offset} to {last}; the file goes on. Continue with `offset` {next}."
            )),
            RangeEnd::CutLine => Some(format!(
                "Line {last} is longer than 256 KiB and was cut. \
                 If the file goes on, continue with `offset` {next}."
            )),
            RangeEnd::Exhausted if last < offset => {
                let problem = format!("is too far into a large file; {last} lines were passed");
                return Err(Refusal::parameter("offset", &problem)
                    .hint("find the place with `files_search`, or read an earlier part"));
            }
            RangeEnd::Exhausted => {
                Some(format!("Lines {offset} to {last}; reading the rest took too long."))
            }
        };
        let result = ToolResult::text(self.text);
        Ok(match note {
            Some(note) => result.and_text(note),
            None => result,
        })
    }
}
