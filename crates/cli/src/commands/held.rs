//! Prints the scanner's findings about definitions, and which definitions are quarantined.

use switchboard_catalog::Flagged;
use switchboard_scan::{ScanFinding, Severity};
use switchboard_terminal::CliError;
use switchboard_text::escape_line;

use crate::context::CommandContext;

pub(crate) fn print(context: &CommandContext, flagged: &[Flagged]) -> Result<(), CliError> {
    let shown = flagged.iter().filter(|one| one.severity >= Severity::Ask);
    let shown: Vec<&Flagged> = shown.collect();
    if shown.is_empty() && !context.printer.json {
        context.printer.say("nothing is quarantined");
    }
    let heading = ["server", "what", "name", "state", "found", "where"];
    context.printer.list(&shown, |one| *one, heading, |one| row(one))
}

/// Returns whether `doctor` reports the definition.
pub(crate) fn is_worth_telling(flagged: &Flagged) -> bool {
    // Two servers with one tool name are worth a note even if nothing else is wrong.
    let shared = flagged.findings.iter().any(|finding| finding.rule == "same_name");
    shared || flagged.severity >= Severity::Ask
}

pub(crate) fn description(flagged: &Flagged) -> String {
    let mut text =
        format!("{}: {} {}\n", state(flagged), flagged.kind.as_str(), escape_line(&flagged.name));
    for finding in &flagged.findings {
        text.push_str(&format!("  {}\n", line(finding)));
    }
    text
}

fn row(flagged: &Flagged) -> [String; 6] {
    let first = flagged.findings.first();
    let rules: Vec<&str> = flagged.findings.iter().map(|finding| finding.rule).collect();
    [
        flagged.server.to_string(),
        flagged.kind.as_str().to_owned(),
        flagged.name.clone(),
        state(flagged).to_owned(),
        rules.join(", "),
        first.map(|finding| format!("{}: {}", finding.place, finding.excerpt)).unwrap_or_default(),
    ]
}

const fn state(flagged: &Flagged) -> &'static str {
    match flagged.severity {
        Severity::Ask | Severity::Block if flagged.accepted => "accepted",
        Severity::Block => "quarantined",
        Severity::Ask => "needs review",
        Severity::Inform => "noted",
    }
}

fn line(finding: &ScanFinding) -> String {
    let decoded = finding.decoded.as_deref();
    let says = decoded.map(|text| format!(", decoded as `{}`", escape_line(text)));
    format!(
        "{} ({}) at {}: {}{}",
        finding.rule,
        finding.severity.as_str(),
        if finding.place.is_empty() { "the text".into() } else { escape_line(&finding.place) },
        escape_line(&finding.excerpt),
        says.unwrap_or_default(),
    )
}
