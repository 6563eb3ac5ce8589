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

/// Maximum length of text in one answer, in bytes: more would fill the context of a model.
pub(crate) const MAX_TEXT_BYTES: usize = 256 * 1024;
const MAX_IMAGE_BYTES: u64 = 1024 * 1024;
const MAX_LINES: u64 = 10_000;
const DEFAULT_LINES: u64 = 2000;
/// Maximum bytes scanned to reach a line, since everything before it has to be read.
const MAX_SCANNED_BYTES: u64 = 1024 * 1024 * 1024;
const TIME_LIMIT: Duration = Duration::from_secs(5);

pub(crate) fn definition() -> Value {
    json!({
        "name": "files_read",
        "title": "Read a file",
        "description": "Reads a text file, whole or a range of lines, up to 256 KiB at a time; \
            the result says how to continue. Images up to 1 MiB are returned; other binary files \
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
                    "description": "Number of the first line to read, starting at 1."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MAX_LINES,
                    "default": DEFAULT_LINES, "description": "Maximum number of lines to read."
                }
            },
            "required": ["path"],
            "additionalProperties": false
        },
        "annotations": tools::read_only_annotations("Read a file")
    })
}

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
                    "`{name}` is an image ({mime_type}) of {size} bytes; \
                     only images up to {MAX_IMAGE_BYTES} bytes are returned."
                )),
            })
        }
        ContentKind::Binary(word) => Ok(ToolResult::text(format!(
            "`{name}` is not plain text ({word}, {size} bytes), so its content is not shown."
        ))),
    }
}

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
    CutLine,
    /// The limits were exceeded before the requested lines were read.
    Exhausted,
}

fn text_range(opened: OpenedFile, offset: u64, limit: u64) -> io::Result<LineRange> {
    // The time limit also covers slow disks and network file systems.
    let budget = ReadBudget { bytes: MAX_SCANNED_BYTES, until: Instant::now() + TIME_LIMIT };
    let mut lines = opened.lines(budget);
    let mut range = LineRange { text: String::new(), last: 0, end: RangeEnd::File };
    loop {
        let wanted = range.last + 1 >= offset;
        let full = wanted && range.last + 1 >= offset.saturating_add(limit);
        // One byte more than the limit shows that a line exceeds it; skipped lines are not kept.
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
                    // A line that is too long is cut, or no reader could get past it.
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
    line.strip_prefix(b"\xef\xbb\xbf").filter(|_| first).unwrap_or(line)
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
                "Lines {offset} to {last}; there are more. Continue with `offset` {next}."
            )),
            RangeEnd::CutLine => Some(format!(
                "Line {last} is longer than 256 KiB and was cut. \
                 If there are more, continue with `offset` {next}."
            )),
            RangeEnd::Exhausted if last < offset => {
                let problem =
                    format!("is too far into a large file; only {last} lines were scanned");
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
