//! What a model is shown of a catalog, in every form, and how long it takes to make it.

use std::hint::black_box;

use serde::Serialize;
use switchboard_prompting::{
    DetailLevel, FittedPrompt, PromptOptions, ShownServer, Vendor, definitions, estimate_tokens,
    fit, fit_native, section,
};

use crate::meter::spent;
use crate::statistics::median;

/// The tokens that a catalog may cost in the smaller views.
pub(super) const BUDGET: usize = 4_000;

/// One form of a catalog.
#[derive(Serialize)]
pub(super) struct CatalogForm {
    pub(super) title: String,
    /// How much of the catalog it holds.
    pub(super) level: &'static str,
    /// Whether it was made to fit the budget.
    pub(super) within_budget: bool,
    pub(super) estimated: usize,
    /// Tokens by the real tokenizer, where there is one.
    pub(super) counted: Option<usize>,
    pub(super) milliseconds: f64,
    /// Text and definitions, which vendors count apart.
    #[serde(skip)]
    pub(super) texts: Vec<String>,
}

/// All forms, each made `repeats` times for the clock.
pub(super) fn forms(servers: &[ShownServer<'_>], repeats: usize) -> Vec<CatalogForm> {
    let options = PromptOptions::default();
    let vendors =
        [(Vendor::OpenAi, "OpenAI"), (Vendor::Anthropic, "Anthropic"), (Vendor::Gemini, "Gemini")];
    let mut forms = vec![full_form("text section", repeats, || section(servers, &options))];
    for (vendor, name) in vendors {
        forms.push(full_form(&format!("definitions, {name}"), repeats, || {
            definitions(servers, vendor, &options).request_value().to_string()
        }));
    }
    forms.push(fitted_form("text section", repeats, || fit(servers, BUDGET, &options)));
    for (vendor, name) in vendors {
        forms.push(fitted_form(&format!("text and definitions, {name}"), repeats, || {
            fit_native(servers, BUDGET, vendor, &options)
        }));
    }
    forms
}

fn full_form(title: &str, repeats: usize, make: impl Fn() -> String) -> CatalogForm {
    let (milliseconds, text) = time(repeats, make);
    CatalogForm {
        title: title.to_owned(),
        level: word(DetailLevel::Full),
        within_budget: false,
        estimated: estimate_tokens(&text),
        counted: None,
        milliseconds,
        texts: vec![text],
    }
}

fn fitted_form(title: &str, repeats: usize, make: impl Fn() -> FittedPrompt) -> CatalogForm {
    let (milliseconds, plan) = time(repeats, make);
    let defined = plan.definitions.map(|all| all.request_value().to_string());
    CatalogForm {
        title: format!("{title}, within {BUDGET}"),
        level: word(plan.level),
        within_budget: true,
        estimated: plan.tokens,
        counted: None,
        milliseconds,
        texts: std::iter::once(plan.text).chain(defined).collect(),
    }
}

fn time<T>(repeats: usize, make: impl Fn() -> T) -> (f64, T) {
    let made = make();
    let times = (0..repeats).map(|_| spent(|| black_box(make())).0);
    (median(times) * 1e3, made)
}

const fn word(level: DetailLevel) -> &'static str {
    match level {
        DetailLevel::Full => "everything",
        DetailLevel::Sentences => "a sentence each",
        DetailLevel::Names => "names",
        DetailLevel::Counts => "counts",
    }
}
