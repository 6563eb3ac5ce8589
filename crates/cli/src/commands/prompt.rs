//! Prints what a model is shown of the tools.

use serde_json::json;
use switchboard_host::prompt::{Definitions, Options, Plan, Vendor, fit, fit_native, shown};
use switchboard_terminal::{CliError, exit_code};

use crate::args::{Audience, OfServer};
use crate::commands::tools;
use crate::context::Context;

/// Prints the text section or a vendor's definitions, within a budget if there is one.
pub(crate) async fn show(
    context: &Context,
    audience: Audience,
    budget: Option<usize>,
    of: OfServer,
) -> Result<u8, CliError> {
    let host = tools::start(context, &of).await?;
    let lease = host.lease();
    let (options, budget) = (Options::default(), budget.unwrap_or(usize::MAX));
    let plan: Plan = shown(&lease, |servers| match audience {
        Audience::Text => fit(servers, budget, &options),
        Audience::Openai => fit_native(servers, budget, Vendor::OpenAi, &options),
        Audience::Anthropic => fit_native(servers, budget, Vendor::Anthropic, &options),
        Audience::Gemini => fit_native(servers, budget, Vendor::Gemini, &options),
    });
    host.stop().await;
    let definitions = plan.definitions.as_ref().map(Definitions::request_value);
    context.printer.say(&format!("about {} tokens", plan.tokens));
    if !plan.fits {
        context
            .printer
            .warn("this is the shortest there is, and still longer than the budget", None);
    }
    match (context.printer.json, definitions) {
        (true, definitions) => context.printer.json(&json!({
            "tokens": plan.tokens, "fits": plan.fits, "text": plan.text, "tools": definitions,
        }))?,
        (false, Some(definitions)) => context.printer.json(&definitions)?,
        (false, None) => context.printer.data(&plan.text)?,
    }
    Ok(exit_code::OK)
}
