//! The section of a system prompt for models that write their calls as text.

use crate::prompt::fixed_text;
use crate::prompt::mode::PromptMode;
use crate::prompt::options::PromptOptions;
use crate::prompt::views::ShownServer;
use crate::prompt::xml_server::write_server;

/// Everything the servers offer and how to call it; empty in mode `off`.
///
/// The servers are shown in the order given, which is the caller's to keep stable.
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

/// The part before the first server. It depends on the options only where there are servers.
pub(crate) fn opening(servers: &[ShownServer<'_>], options: &PromptOptions) -> String {
    let mut out = String::new();
    if servers.is_empty() {
        out.push_str(fixed_text::NO_SERVERS);
    } else {
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

#[cfg(test)]
#[path = "xml_tests.rs"]
mod tests;
