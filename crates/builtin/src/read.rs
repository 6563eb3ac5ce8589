//! The tool `files_read`: lines of a text file, an image, or a description of other files.

use std::fs::File;
use std::io;
use std::io::{Chain, Cursor, Read};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::ToolArguments;
use crate::content::ToolResult;
use crate::error::ToolRefusal;
use crate::lines::{BudgetedLines, LineStep, ReadBudget};
use crate::roots::RootedPath;
use crate::server::ToolContext;
use crate::sniff::ContentKind;
use crate::{beneath, display_text, sniff, tools};

/// Maximum length of text in one answer, in bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 256 * 1024;
const MAX_IMAGE_BYTES: u64 = 1024 * 1024;
const MAX_LINES: u64 = 10_000;
const DEFAULT_LINES: u64 = 2000;
/// Maximum bytes scanned to reach a line: files have no line index, so everything before it is
/// read.
const MAX_SCANNED_BYTES: u64 = 1024 * 1024 * 1024;
const TIME_LIMIT: Duration = Duration::from_secs(5);

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
                    "type": "integer", "minimum": 1, "maximum": MAX_LINES,
                    "default": DEFAULT_LINES, "description": "How many lines to read at most."
                }
            },
            "required": ["path"],
            "additionalProperties": false
        },
        "annotations": tools::read_only_annotations("Read a file")
    })
}

/// An open file with its detected content kind.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    pub(crate) nature: ContentKind,
    pub(crate) size: u64,
    source: Chain<Cursor<Vec<u8>>, File>,
}

impl OpenedFile {
    pub(crate) fn new(place: &RootedPath) -> io::Result<Self> {
        let mut file = beneath::open_file(place)?;
        let size = file.metadata()?.len();
        let mut head = Vec::new();
        let most = u64::try_from(sniff::HEAD_BYTES).unwrap_or(u64::MAX);
        file.by_ref().take(most).read_to_end(&mut head)?;
        let nature = sniff::detect(&head);
        Ok(Self { nature, size, source: Cursor::new(head).chain(file) })
    }

    /// Returns the file's content as lines.
    pub(crate) fn lines(self, budget: ReadBudget) -> BudgetedLines<Chain<Cursor<Vec<u8>>, File>> {
        BudgetedLines::new(self.source, budget)
    }

    /// Reads the whole file; `None` if it has more than `most` bytes, whatever size was reported.
    pub(crate) fn read_whole(self, most: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let read = self.source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((u64::try_from(read).unwrap_or(u64::MAX) <= most).then_some(bytes))
    }
}

pub(crate) fn run(
    around: &ToolContext,
    arguments: &ToolArguments,
) -> Result<ToolResult, ToolRefusal> {
    let path = arguments.text("path")?;
    let offset = arguments.whole_number("offset", 1..=u64::from(u32::MAX), 1)?;
    let limit = arguments.whole_number("limit", 1..=MAX_LINES, DEFAULT_LINES)?;
    let place = around.roots.resolve(path)?;
    let disk = |problem| ToolRefusal::from_io_error(path, &problem);
    let opened = OpenedFile::new(&place).map_err(disk)?;
    let name = display_text::brief(path);
    let size = opened.size;
    match opened.nature {
        ContentKind::Text => text_range(opened, offset, limit).map_err(disk)?.into_result(offset),
        ContentKind::Image(mime_type) => {
            Ok(match opened.read_whole(MAX_IMAGE_BYTES).map_err(disk)? {
                Some(bytes) => ToolResult::image(&bytes, mime_type)
                    .with_text(format!("`{name}`: {mime_type}, {} bytes", bytes.len())),
                None => ToolResult::text(format!(
                    "`{name}` is a picture ({mime_type}) of {size} bytes; \
                 only pictures up to {MAX_IMAGE_BYTES} bytes are shown."
                )),
            })
        }
        ContentKind::Binary(word) => Ok(ToolResult::text(format!(
            "`{name}` is not plain text ({word}, {size} bytes), so its content is not shown."
        ))),
    }
}

/// Some lines of a file, and why the range ends there.
#[derive(Debug)]
struct LineRange {
    text: String,
    /// Number of the last line in `text`; one before the first if there is none.
    last: u64,
    end: RangeEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeEnd {
    File,
    MoreLines,
    /// The only line exceeds the maximum answer.
    CutLine,
    /// The limits were exceeded before the requested lines were read.
    Exhausted,
}

fn text_range(opened: OpenedFile, offset: u64, limit: u64) -> io::Result<LineRange> {
    let budget = ReadBudget { bytes: MAX_SCANNED_BYTES, until: Instant::now() + TIME_LIMIT };
    let mut lines = opened.lines(budget);
    let mut range = LineRange { text: String::new(), last: 0, end: RangeEnd::File };
    loop {
        let wanted = range.last + 1 >= offset;
        let full = wanted && range.last + 1 >= offset.saturating_add(limit);
        let step = lines.advance(if wanted && !full { MAX_TEXT_BYTES + 1 } else { 0 })?;
        match step {
            LineStep::End => return Ok(range),
            LineStep::Exhausted => return Ok(LineRange { end: RangeEnd::Exhausted, ..range }),
            _ if full => return Ok(LineRange { end: RangeEnd::MoreLines, ..range }),
            _ if !wanted => range.last += 1,
            _ => {
                let line = strip_bom(lines.line(), range.last == 0);
                let line = String::from_utf8_lossy(line);
                if step == LineStep::Line && range.text.len() + line.len() <= MAX_TEXT_BYTES {
                    range.text.push_str(&line);
                    range.last += 1;
                } else if range.last + 1 > offset {
                    return Ok(LineRange { end: RangeEnd::MoreLines, ..range });
                } else {
                    let cut = line.floor_char_boundary(MAX_TEXT_BYTES);
                    range.text.push_str(line.get(..cut).unwrap_or_default());
                    return Ok(LineRange { last: offset, end: RangeEnd::CutLine, ..range });
                }
            }
        }
    }
}

/// Removes the byte order mark at the start of a file, which is not part of the text.
fn strip_bom(line: &[u8], first: bool) -> &[u8] {
    match first {
        true => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
        false => line,
    }
}

impl LineRange {
    fn into_result(self, offset: u64) -> Result<ToolResult, ToolRefusal> {
        let last = self.last;
        let next = self.last + 1;
        let note = match self.end {
            RangeEnd::File if last == 0 => Some("The file is empty.".to_owned()),
            RangeEnd::File if last < offset => {
                let problem = format!("is past the end; the file has {last} lines");
                return Err(ToolRefusal::parameter("offset", &problem));
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
                return Err(ToolRefusal::parameter("offset", &problem)
                    .with_hint("find the place with `files_search`, or read an earlier part"));
            }
            RangeEnd::Exhausted => {
                Some(format!("Lines {offset} to {last}; reading the rest took too long."))
            }
        };
        let result = ToolResult::text(self.text);
        Ok(match note {
            Some(note) => result.with_text(note),
            None => result,
        })
    }
}
