//! The report on the cost of a catalog.

use std::path::PathBuf;

use serde_json::json;

use super::offered_servers::OfferedServers;
use super::prefix::{KeptPrefix, measure_prefixes};
use super::texts::{BUDGET, CatalogForm, count_tokens, forms};

use crate::error::Result;
use crate::report::{PerformanceTarget, ReportSection, Table, at_least, at_most, number};

/// The catalog to show, and where to find the tokenizer.
pub(crate) struct PromptPlan {
    pub(crate) catalog: Option<PathBuf>,
    pub(crate) testenv: Option<PathBuf>,
    pub(crate) repeats: usize,
}

/// Shows a catalog in every form, and returns the report on the cost of each.
pub(crate) async fn sections(plan: &PromptPlan) -> Result<Vec<ReportSection>> {
    let offered = match &plan.catalog {
        Some(file) => OfferedServers::read(file)?,
        None => OfferedServers::made_up()?,
    };
    let servers = offered.shown_servers();
    let mut forms = forms(&servers, plan.repeats);
    let texts: Vec<&str> = forms.iter().flat_map(|form| &form.texts).map(String::as_str).collect();
    let counts = count_tokens(&texts, plan.testenv.as_deref()).await?;
    let bytes: Vec<usize> =
        forms.iter().map(|form| form.texts.iter().map(String::len).sum()).collect();
    if let Some(counts) = counts {
        let mut counts = counts.into_iter();
        for form in &mut forms {
            form.counted = Some(counts.by_ref().take(form.texts.len()).sum());
        }
    }
    let whose = if plan.catalog.is_some() { "from the file" } else { "that were generated" };
    let cost = ReportSection {
        title: "prompt".to_owned(),
        note: format!(
            "{} servers {whose}, {} tools: the cost of showing them, by our estimate and by the \
             tokenizer `o200k`. Milliseconds of processor time per form, median of {}.",
            servers.len(),
            offered.tools(),
            plan.repeats
        ),
        table: cost_table(&forms, &bytes),
        targets: targets(&forms),
        measured: json!(forms),
    };
    Ok(vec![cost, prefix_section(&measure_prefixes(&servers))])
}

fn cost_table(forms: &[CatalogForm], bytes: &[usize]) -> Table {
    let row = |(form, bytes): (&CatalogForm, &usize)| {
        let none = || "–".to_owned();
        vec![
            form.title.clone(),
            form.level.to_owned(),
            bytes.to_string(),
            form.estimated.to_string(),
            form.counted.map_or_else(none, |counted| counted.to_string()),
            form.error().map_or_else(none, |error| format!("{error:+.1} %")),
            number(form.milliseconds),
        ]
    };
    Table {
        head: "form|shows|bytes|estimate|tokens|error|ms",
        rows: forms.iter().zip(bytes).map(row).collect(),
    }
}

impl CatalogForm {
    /// Returns by how many percent the estimate exceeds the count.
    fn error(&self) -> Option<f64> {
        let counted = self.counted.filter(|counted| *counted > 0)? as f64;
        Some((self.estimated as f64 / counted - 1.0) * 100.0)
    }
}

fn targets(forms: &[CatalogForm]) -> Vec<PerformanceTarget> {
    let mut targets = Vec::new();
    for form in forms {
        if form.within_budget {
            // Without a tokenizer, there is only the estimate.
            let tokens = form.counted.unwrap_or(form.estimated) as f64;
            targets.push(at_most(&form.title, BUDGET as f64, tokens, " tokens"));
        } else if let Some(error) = form.error() {
            let what = format!("error of the estimate: {}", form.title);
            targets.push(at_most(what, 15.0, error.abs(), " %"));
        }
    }
    targets
}

fn prefix_section(kept: &[KeptPrefix]) -> ReportSection {
    let row = |kept: &KeptPrefix| {
        let shown = |bytes: f64, share: f64| format!("{bytes:.0} ({:.0} %)", share * 100.0);
        vec![
            kept.order.title().to_owned(),
            kept.bytes.to_string(),
            shown(kept.returned, kept.returned_share),
            shown(kept.joined, kept.joined_share),
        ]
    };
    let ours = kept.first();
    let target = |what: &str, share: Option<f64>| {
        at_least(what, 100.0, share.unwrap_or(f64::NAN) * 100.0, " %")
    };
    ReportSection {
        title: "prompt: common prefix when a server comes or goes".to_owned(),
        note: "Bytes of the text section before the first difference to the previous one; median \
               of ten servers, each of which leaves and returns, or joins the others."
            .to_owned(),
        table: Table {
            head: "order|bytes|one left and returned|one joined",
            rows: kept.iter().map(row).collect(),
        },
        targets: vec![
            target("the prompt after a reconnect", ours.map(|kept| kept.returned_share)),
            target("the prompt before a server joined", ours.map(|kept| kept.joined_share)),
        ],
        measured: json!(kept),
    }
}
