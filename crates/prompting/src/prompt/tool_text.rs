//! One tool in words, for a model that asks about it.

use crate::prompt::clean::{code_span, first_sentence};
use crate::prompt::options::PromptOptions;
use crate::prompt::views::{ShownServer, ShownTool};
use crate::prompt::xml_server::write_tool;

/// Everything about one tool, as the text section would show it.
#[must_use]
pub fn describe_tool(
    server: &ShownServer<'_>,
    tool: &ShownTool<'_>,
    options: &PromptOptions,
) -> String {
    let mut out = format!("Tool of server {}:\n", code_span(server.name));
    write_tool(&mut out, server, tool, options);
    out
}

/// A tool in one line.
#[must_use]
pub fn tool_line(server: &str, tool: &str, description: &str) -> String {
    let said = first_sentence(description, 200);
    let colon = if said.is_empty() { "" } else { ": " };
    format!("- {} of server {}{colon}{said}", code_span(tool), code_span(server))
}
