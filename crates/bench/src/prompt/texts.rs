//! What a model is shown of a catalog, in every form, and how long it takes to make it.

use std::hint::black_box;

use serde::Serialize;
use switchboard_prompting::{
    Level, Options, Plan, ShownServer, Vendor, definitions, estimate, fit, fit_native, section,
};

use crate::meter::spent;
use crate::statistics::median;

/// The tokens that a catalog may cost in the smaller views.
pub(super) const BUDGET: usize = 4_000;

/// One form of a catalog.
#[derive(Serialize)]
pub(super) struct Form {
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
pub(super) fn forms(servers: &[ShownServer<'_>], repeats: usize) -> Vec<Form> {
    let options = Options::default();
    let vendors =
        [(Vendor::OpenAi, "OpenAI"), (Vendor::Anthropic, "Anthropic"), (Vendor::Gemini, "Gemini")];
    let mut forms = vec![full("text section", repeats, || section(servers, &options))];
    for (vendor, name) in vendors {
        forms.push(full(&format!("definitions, {name}"), repeats, || {
            definitions(servers, vendor, &options).request_value().to_string()
        }));
    }
    forms.push(fitted("text section", repeats, || fit(servers, BUDGET, &options)));
    for (vendor, name) in vendors {
        forms.push(fitted(&format!("text and definitions, {name}"), repeats, || {
            fit_native(servers, BUDGET, vendor, &options)
        }));
    }
    forms
}

fn full(title: &str, repeats: usize, make: impl Fn() -> String) -> Form {
    let (milliseconds, text) = timed(repeats, make);
    Form {
        title: title.to_owned(),
        level: word(Level::Full),
        within_budget: false,
        estimated: estimate(&text),
        counted: None,
        milliseconds,
        texts: vec![text],
    }
}

fn fitted(title: &str, repeats: usize, make: impl Fn() -> Plan) -> Form {
    let (milliseconds, plan) = timed(repeats, make);
    let defined = plan.definitions.map(|all| all.request_value().to_string());
    Form {
        title: format!("{title}, within {BUDGET}"),
        level: word(plan.level),
        within_budget: true,
        estimated: plan.tokens,
        counted: None,
        milliseconds,
        texts: std::iter::once(plan.text).chain(defined).collect(),
    }
}

fn timed<T>(repeats: usize, make: impl Fn() -> T) -> (f64, T) {
    let made = make();
    let times = (0..repeats).map(|_| spent(|| black_box(make())).0);
    (median(times) * 1e3, made)
}

const fn word(level: Level) -> &'static str {
    match level {
        Level::Full => "everything",
        Level::Sentences => "a sentence each",
        Level::Names => "names",
        Level::Counts => "counts",
    }
}
