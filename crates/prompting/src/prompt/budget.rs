//! Selection of the level of detail at which a catalog fits a token budget.

use crate::prompt::clean::{clean, code_span, wrap_in_fence};
use crate::prompt::native::{Definitions, Vendor, definitions, definitions_with_own};
use crate::prompt::options::{PromptMode, PromptOptions};
use crate::prompt::tokens::estimate_tokens;
use crate::prompt::views::ShownServer;
use crate::prompt::xml_server::write_rest;
use crate::prompt::{compact, fixed_text, own_tools, xml};

/// The level of detail of a catalog, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetailLevel {
    Full,
    /// Every tool with the first sentence of its description.
    Sentences,
    Names,
    /// The number of tools per server.
    Counts,
}

impl DetailLevel {
    /// Returns whether the model gets the search tools.
    #[must_use]
    pub const fn has_search_tools(self) -> bool {
        !matches!(self, Self::Full)
    }
}

/// A prompt fitted to a token budget.
#[derive(Debug, Clone)]
pub struct FittedPrompt {
    pub level: DetailLevel,
    pub text: String,
    /// The tool definitions for the vendor; `None` for models that call in text.
    pub definitions: Option<Definitions>,
    /// Estimated size of the text and the definitions.
    pub tokens: usize,
    /// Whether the tokens are within the budget. Even the lowest level may exceed it.
    pub fits: bool,
}

impl FittedPrompt {
    fn new(
        level: DetailLevel,
        text: String,
        definitions: Option<Definitions>,
        budget: usize,
    ) -> Self {
        let defined = definitions.as_ref().map(|all| all.request_value().to_string());
        let tokens = estimate_tokens(&text) + defined.map_or(0, |text| estimate_tokens(&text));
        Self { level, text, definitions, tokens, fits: tokens <= budget }
    }
}

/// Returns the most detailed prompt that fits, for models that call in text.
#[must_use]
pub fn fit(
    servers: &[ShownServer<'_>],
    budget_tokens: usize,
    options: &PromptOptions,
) -> FittedPrompt {
    let full =
        FittedPrompt::new(DetailLevel::Full, xml::section(servers, options), None, budget_tokens);
    if full.fits || servers.is_empty() || options.mode == PromptMode::Off {
        return full;
    }
    let head = format!("{}\n{}\n", xml::opening(servers, options), own_tools::text(options));
    fit_smaller(servers, budget_tokens, &head, None)
}

/// Returns the most detailed prompt that fits, for models that take tool definitions.
#[must_use]
pub fn fit_native(
    servers: &[ShownServer<'_>],
    budget_tokens: usize,
    vendor: Vendor,
    options: &PromptOptions,
) -> FittedPrompt {
    if servers.is_empty() || options.mode == PromptMode::Off {
        let none = definitions(&[], vendor, options);
        let text = xml::section(&[], options);
        return FittedPrompt::new(DetailLevel::Full, text, Some(none), budget_tokens);
    }
    let opening = native_opening(options);
    let all = definitions_with_own(servers, vendor, options);
    // Vendors reject a request with too many tools even if its tokens fit.
    let allowed = vendor.max_tools().is_none_or(|most| all.tools.len() <= most);
    let text = format!("{opening}{}", server_notes(servers, options));
    let full = FittedPrompt::new(DetailLevel::Full, text, Some(all), budget_tokens);
    if full.fits && allowed {
        return full;
    }
    let head = format!(
        "{opening}\nThe servers offer more tools than fit here. Use `find_tools` to look for one, \
         `describe_tool` to see its arguments and `call_tool` to run it.\n\n"
    );
    fit_smaller(servers, budget_tokens, &head, Some(own_tools::native(vendor, options)))
}

fn fit_smaller(
    servers: &[ShownServer<'_>],
    budget: usize,
    head: &str,
    definitions: Option<Definitions>,
) -> FittedPrompt {
    let plan = |level, list: String| {
        FittedPrompt::new(level, format!("{head}{list}"), definitions.clone(), budget)
    };
    let sentences = plan(DetailLevel::Sentences, compact::sentences(servers));
    if sentences.fits {
        return sentences;
    }
    let names = plan(DetailLevel::Names, compact::names(servers));
    if names.fits {
        return names;
    }
    // The lowest level cannot be skipped, so its list is cut to the tokens that are left.
    let without_list = plan(DetailLevel::Counts, String::new()).tokens;
    let left = budget.saturating_sub(without_list);
    plan(DetailLevel::Counts, compact::counts(servers, left))
}

fn native_opening(options: &PromptOptions) -> String {
    let mut out =
        format!("{}\nRules:\n{}", fixed_text::INTRODUCTION, fixed_text::native_rules(options));
    let help = options.mode.help();
    if !help.is_empty() {
        out.push('\n');
        out.push_str(help);
    }
    out
}

/// Renders what tool definitions cannot express: instructions, resources and prompts.
fn server_notes(servers: &[ShownServer<'_>], options: &PromptOptions) -> String {
    let mut out = String::new();
    for server in servers {
        let said = clean(server.instructions.unwrap_or_default(), options.max_instruction_chars);
        let mut about = String::new();
        if !said.is_empty() {
            about.push_str(fixed_text::SERVER_NOTES);
            about.push_str(&wrap_in_fence(&said));
        }
        write_rest(&mut about, server, options);
        if !about.is_empty() {
            out.push_str(&format!("\n## Server {}\n{about}", code_span(server.name)));
        }
    }
    out
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
