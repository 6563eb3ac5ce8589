//! The prompt section for models that write calls as text, and descriptions of single tools.

use crate::prompt::clean::{code_span, first_sentence};
use crate::prompt::fixed_text;
use crate::prompt::options::{PromptMode, PromptOptions};
use crate::prompt::views::{ShownServer, ShownTool};
use crate::prompt::xml_server::{write_server, write_tool};

/// Renders the offers of the servers in the given order, and how to call them. Empty in mode `off`.
#[must_use]
pub fn section(servers: &[ShownServer<'_>], options: &PromptOptions) -> String {
    if options.mode == PromptMode::Off {
        return String::new();
    }
    let mut out = opening(servers, options);
    for server in servers {
        out.push('\n');
        write_server(&mut out, server, options);
    }
    out
}

/// Renders the part before the first server.
pub(crate) fn opening(servers: &[ShownServer<'_>], options: &PromptOptions) -> String {
    let mut out = String::new();
    if servers.is_empty() {
        out.push_str(fixed_text::NO_SERVERS);
    } else {
        // Independent of the servers, so that vendors can cache it across conversations.
        out.push_str(fixed_text::INTRODUCTION);
        out.push('\n');
        out.push_str(&fixed_text::call_instructions(options));
    }
    let help = options.mode.help();
    if !help.is_empty() {
        out.push('\n');
        out.push_str(help);
    }
    out
}

/// Renders the full description of a tool, as the text section shows it.
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

/// Renders a tool in one line.
#[must_use]
pub fn tool_line(server: &str, tool: &str, description: &str) -> String {
    let said = first_sentence(description, 200);
    let colon = if said.is_empty() { "" } else { ": " };
    format!("- {} of server {}{colon}{said}", code_span(tool), code_span(server))
}

#[cfg(test)]
#[path = "xml_tests.rs"]
mod tests;
