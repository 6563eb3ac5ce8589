//! The forms in which a catalog is shown to a model, and the time to build each.

use std::hint::black_box;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;
use switchboard_prompting::{
    DetailLevel, FittedPrompt, PromptOptions, ShownServer, Vendor, definitions, estimate_tokens,
    fit, fit_native, section,
};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::error::Result;
use crate::meter::{median, spent};

/// Maximum tokens of a catalog in the smaller views.
pub(super) const BUDGET: usize = 4_000;

#[derive(Serialize)]
pub(super) struct CatalogForm {
    pub(super) title: String,
    /// The level of detail.
    pub(super) level: &'static str,
    /// Whether it was built to fit the budget.
    pub(super) within_budget: bool,
    pub(super) estimated: usize,
    /// Tokens by the real tokenizer, if it is installed.
    pub(super) counted: Option<usize>,
    pub(super) milliseconds: f64,
    /// Text and definitions, which vendors count separately.
    #[serde(skip)]
    pub(super) texts: Vec<String>,
}

/// Returns all forms, each built `repeats` times to measure the time.
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

/// Maximum duration of counting. Half a million tokens take a second or two.
const COUNT_TIMEOUT: Duration = Duration::from_secs(60);

/// Counts the tokens of each text in the vocabulary `o200k`. Returns `None` without a tokenizer.
pub(super) async fn count_tokens(
    texts: &[&str],
    testenv: Option<&Path>,
) -> Result<Option<Vec<usize>>> {
    let Some(modules) = testenv.map(|testenv| testenv.join("npm/node_modules")) else {
        return Ok(None);
    };
    if !modules.join("gpt-tokenizer").is_dir() {
        return Ok(None);
    }
    let mut command = Command::new(modules.join("node/bin/node"));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tokens.mjs")).arg(&modules);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let Some(mut input) = process.stdin.take() else { return Err("no pipe to Node".into()) };
    // Cannot deadlock: the script reads its whole input before it prints.
    input.write_all(&serde_json::to_vec(texts)?).await?;
    drop(input);
    let running = tokio::time::timeout(COUNT_TIMEOUT, process.wait_with_output()).await;
    let output =
        running.map_err(|_| format!("the tokenizer took longer than {COUNT_TIMEOUT:?}"))??;
    if !output.status.success() {
        return Err(format!("the tokenizer ended with {}", output.status).into());
    }
    let counts: Vec<usize> = serde_json::from_slice(&output.stdout)?;
    if counts.len() != texts.len() {
        return Err("the tokenizer did not count every text".into());
    }
    Ok(Some(counts))
}
