//! Chooses how much of a catalog is shown so that it fits a number of tokens.

use crate::prompt::clean::{clean, code, fenced};
use crate::prompt::mode::Mode;
use crate::prompt::native::{Definitions, Vendor, definitions, definitions_with_own};
use crate::prompt::options::Options;
use crate::prompt::tokens::estimate;
use crate::prompt::views::ShownServer;
use crate::prompt::xml_server::write_rest;
use crate::prompt::{compact, fixed_text, search_tools, xml};

/// How much of a catalog is shown, from all to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every tool with its description and arguments.
    Full,
    /// Every tool with one sentence, and the search tools.
    Sentences,
    /// Every tool by name, and the search tools.
    Names,
    /// How many tools each server has, and the search tools.
    Counts,
}

impl Level {
    /// Whether the model is given the search tools.
    #[must_use]
    pub const fn searches(self) -> bool {
        !matches!(self, Self::Full)
    }
}

/// What a model is shown.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How much of the catalog it holds.
    pub level: Level,
    /// The section of the system prompt.
    pub text: String,
    /// The tool definitions for the vendor; nothing for models that call in text.
    pub definitions: Option<Definitions>,
    /// About how many tokens text and definitions cost.
    pub tokens: usize,
    /// Whether that is within the budget; the least there is may still be too much.
    pub fits: bool,
}

impl Plan {
    fn new(level: Level, text: String, definitions: Option<Definitions>, budget: usize) -> Self {
        let defined = definitions.as_ref().map(|all| all.request_value().to_string());
        let tokens = estimate(&text) + defined.map_or(0, |text| estimate(&text));
        Self { level, text, definitions, tokens, fits: tokens <= budget }
    }
}

/// The fullest view that fits, for models that call in text.
#[must_use]
pub fn fit(servers: &[ShownServer<'_>], budget_tokens: usize, options: &Options) -> Plan {
    let full = Plan::new(Level::Full, xml::section(servers, options), None, budget_tokens);
    if full.fits || servers.is_empty() || options.mode == Mode::Off {
        return full;
    }
    let head = format!("{}\n{}\n", xml::opening(servers, options), search_tools::text(options));
    smaller(servers, budget_tokens, &head, None)
}

/// The fullest view that fits, for models that take tool definitions.
#[must_use]
pub fn fit_native(
    servers: &[ShownServer<'_>],
    budget_tokens: usize,
    vendor: Vendor,
    options: &Options,
) -> Plan {
    if servers.is_empty() || options.mode == Mode::Off {
        let none = definitions(&[], vendor, options);
        let text =
            if options.mode == Mode::Off { String::new() } else { xml::section(&[], options) };
        return Plan::new(Level::Full, text, Some(none), budget_tokens);
    }
    let opening = native_opening(options);
    let all = definitions_with_own(servers, vendor, options);
    let allowed = vendor.most_tools().is_none_or(|most| all.tools.len() <= most);
    let text = format!("{opening}{}", notes(servers, options));
    let full = Plan::new(Level::Full, text, Some(all), budget_tokens);
    if full.fits && allowed {
        return full;
    }
    let head = format!(
        "{opening}\nThe servers offer more tools than fit here. Use `find_tools` to look for one, \
         `describe_tool` to see its arguments and `call_tool` to run it.\n\n"
    );
    smaller(servers, budget_tokens, &head, Some(search_tools::native(vendor, options)))
}

fn smaller(
    servers: &[ShownServer<'_>],
    budget: usize,
    head: &str,
    definitions: Option<Definitions>,
) -> Plan {
    let plan = |level, list: String| {
        Plan::new(level, format!("{head}{list}"), definitions.clone(), budget)
    };
    let sentences = plan(Level::Sentences, compact::sentences(servers));
    if sentences.fits {
        return sentences;
    }
    let names = plan(Level::Names, compact::names(servers));
    if names.fits {
        return names;
    }
    let without_list = plan(Level::Counts, String::new()).tokens;
    let left = budget.saturating_sub(without_list);
    plan(Level::Counts, compact::counts(servers, left))
}

fn native_opening(options: &Options) -> String {
    let mut out =
        format!("{}\nRules:\n{}", fixed_text::INTRODUCTION, fixed_text::native_rules(options));
    let help = options.mode.help();
    if !help.is_empty() {
        out.push('\n');
        out.push_str(help);
    }
    out
}

/// What servers say about themselves and offer beside tools, which has no place in definitions.
fn notes(servers: &[ShownServer<'_>], options: &Options) -> String {
    let mut out = String::new();
    for server in servers {
        let said = clean(server.instructions.unwrap_or_default(), options.longest_instructions);
        let mut about = String::new();
        if !said.is_empty() {
            about.push_str(fixed_text::SERVER_NOTES);
            about.push_str(&fenced(&said));
        }
        write_rest(&mut about, server, options);
        if !about.is_empty() {
            out.push_str(&format!("\n## Server {}\n{about}", code(server.name)));
        }
    }
    out
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
