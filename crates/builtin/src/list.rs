//! The tool `files_list`: lists a folder and its subfolders up to a depth.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::ToolArguments;
use crate::beneath::EntryKind;
use crate::content::ToolResult;
use crate::error::ToolRefusal;
use crate::roots::Roots;
use crate::server::{ToolContext, single_member};
use crate::walk::{WalkEnd, WalkEntry, WalkLimits};
use crate::{display_text, tools, walk};

const MAX_DEPTH: u64 = 8;
const MAX_ENTRIES: usize = 1000;
const MAX_NAME_BYTES: usize = 256 * 1024;
const TIME_LIMIT: Duration = Duration::from_secs(5);

pub(crate) fn definition() -> Value {
    json!({
        "name": "files_list",
        "title": "List files",
        "description": "Lists the contents of a folder. Links are shown, not followed; `.git`, \
            `target` and `node_modules` are shown, but entered only if named as `path`.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The folder, absolute or relative to the shared folder. \
                        Default: the shared folders."
                },
                "depth": {
                    "type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "default": 1,
                    "description": "Number of levels; 1 lists only the folder itself."
                },
                "hidden": {
                    "type": "boolean", "default": false,
                    "description": "Whether to show names that begin with a dot."
                }
            },
            "additionalProperties": false
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "entries": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": { "type": "string" },
                            "kind": { "enum": ["file", "folder", "link", "other"] },
                            "size": { "type": "integer", "description": "Size of a file in bytes." }
                        },
                        "required": ["path", "kind"],
                        "additionalProperties": false
                    }
                },
                "complete": { "type": "boolean", "description": "False if entries are missing." }
            },
            "required": ["entries", "complete"],
            "additionalProperties": false
        },
        "annotations": tools::read_only_annotations("List files")
    })
}

#[derive(Default)]
struct ListOutput {
    lines: Vec<(String, String)>,
    entries: Vec<(String, Value)>,
    bytes: usize,
}

pub(crate) fn run(
    around: &ToolContext,
    arguments: &ToolArguments,
) -> Result<ToolResult, ToolRefusal> {
    let depth = arguments.whole_number("depth", 1..=MAX_DEPTH, 1)?;
    let hidden = arguments.flag("hidden")?;
    let reach = WalkLimits { depth, hidden, until: Instant::now() + TIME_LIMIT };
    let mut listing = ListOutput::default();
    let mut complete = true;
    for start in around.roots.start_places(arguments.optional_text("path")?)? {
        let stop = walk::walk(&around.roots, &start, reach, &mut |found| {
            listing.add(&around.roots, &found)
        })?;
        complete &= stop == WalkEnd::Never;
    }
    Ok(listing.into_result(complete))
}

impl ListOutput {
    fn add(&mut self, roots: &Roots, found: &WalkEntry<'_>) -> ControlFlow<()> {
        if self.entries.len() >= MAX_ENTRIES || self.bytes >= MAX_NAME_BYTES {
            return ControlFlow::Break(());
        }
        let path = roots.display_name(&found.place);
        self.bytes = self.bytes.saturating_add(path.len());
        let size = found.entry.size;
        // Only the text is escaped: the structured path must work as an argument.
        let mut line = display_text::printable(&path);
        let mut value = single_member("path", json!(path));
        value.insert("kind".to_owned(), json!(kind_name(found.entry.kind)));
        match found.entry.kind {
            EntryKind::File => {
                let _infallible = write!(line, " ({size} bytes)");
                value.insert("size".to_owned(), json!(size));
            }
            EntryKind::Folder => line.push('/'),
            EntryKind::Link => line.push_str(" (link)"),
            EntryKind::Other => line.push_str(" (device, pipe or socket)"),
        }
        if found.entry.name.to_str().is_none() {
            line.push_str(" (the name is not UTF-8, so it cannot be opened)");
        }
        self.lines.push((path.clone(), line));
        self.entries.push((path, Value::Object(value)));
        ControlFlow::Continue(())
    }

    fn into_result(mut self, complete: bool) -> ToolResult {
        // The walk goes level by level; sorted paths read like a tree.
        self.lines.sort();
        self.entries.sort_by(|one, other| one.0.cmp(&other.0));
        let mut text: Vec<String> = self.lines.into_iter().map(|(_, line)| line).collect();
        if text.is_empty() {
            text.push("No entries.".to_owned());
        }
        if !complete {
            text.push("The list is incomplete; list a subfolder, or lower `depth`.".to_owned());
        }
        let entries: Vec<Value> = self.entries.into_iter().map(|(_, value)| value).collect();
        ToolResult::text(text.join("\n"))
            .with_structured(json!({ "entries": entries, "complete": complete }))
    }
}

fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Folder => "folder",
        EntryKind::Link => "link",
        EntryKind::Other => "other",
    }
}
