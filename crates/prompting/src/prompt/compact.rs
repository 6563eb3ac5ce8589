//! Short lists of tools and servers: names with a sentence, names, or counts.

use crate::prompt::clean::{clean_line, code_span, first_sentence};
use crate::prompt::tokens::estimate_tokens;
use crate::prompt::views::ShownServer;

const MAX_SENTENCE_CHARS: usize = 160;

pub(crate) fn sentences(servers: &[ShownServer<'_>]) -> String {
    let mut out = String::from("## Tools by server\n");
    for server in servers {
        out.push_str(&format!("\nServer {} ({}):\n", code_span(server.name), offer_counts(server)));
        for tool in &server.tools {
            let said = first_sentence(tool.description.unwrap_or_default(), MAX_SENTENCE_CHARS);
            out.push_str(&format!("- {}", code_span(tool.name)));
            if !said.is_empty() {
                out.push_str(": ");
                out.push_str(&said);
            }
            out.push('\n');
        }
    }
    out
}

pub(crate) fn names(servers: &[ShownServer<'_>]) -> String {
    let mut out = String::from("## Names of the tools by server\n\n");
    for server in servers {
        let names: Vec<String> =
            server.tools.iter().map(|tool| clean_line(tool.name, 200)).collect();
        let names = if names.is_empty() { offer_counts(server) } else { names.join(", ") };
        out.push_str(&format!("- {}: {names}\n", code_span(server.name)));
    }
    out
}

/// Lists as many servers as fit, with the number of their offers.
pub(crate) fn counts(servers: &[ShownServer<'_>], budget: usize) -> String {
    let mut out = String::from("## Servers\n\n");
    // Reserve space for the note about omitted servers.
    let budget = budget.saturating_sub(16);
    for (done, server) in servers.iter().enumerate() {
        let line = format!("- {}: {}\n", code_span(server.name), offer_counts(server));
        if estimate_tokens(&out) + estimate_tokens(&line) > budget {
            out.push_str(&format!("- and {} more servers\n", servers.len() - done));
            break;
        }
        out.push_str(&line);
    }
    out
}

fn offer_counts(server: &ShownServer<'_>) -> String {
    let kinds = [
        (server.tools.len(), "tool"),
        (server.resources.len() + server.templates.len(), "resource"),
        (server.prompts.len(), "prompt"),
    ];
    let counted: Vec<String> = kinds
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, kind)| format!("{number} {kind}{}", if number == 1 { "" } else { "s" }))
        .collect();
    if counted.is_empty() { "nothing at the moment".to_owned() } else { counted.join(", ") }
}
