//! Presents a new server to the person at the terminal.

use std::cmp::Reverse;

use console::{measure_text_width, truncate_str};
use switchboard_catalog::Flagged;
use switchboard_host::{NewDefinition, NewServer};
use switchboard_store::AskReply;
use switchboard_text::{escape_json, escape_line};
use switchboard_trust::PinKind;
use switchboard_vetting::EntryFinding;

use crate::asker::withdrawable;
use crate::form::Typist;
use crate::keys::KeyboardTypist;
use crate::menu::pretty;

/// Maximum number of tools in the short description.
const MAX_LISTED_TOOLS: usize = 12;
const MAX_LISTED_FINDINGS: usize = 8;
/// Maximum number of prompts; after that, the answer is "not now".
const MAX_TRIES: usize = 5;
const MAX_NAME_CHARS: usize = 32;

const QUESTION: &str = "Approve it?  [y] yes, as shown   [n] not now   [a] show everything  > ";

/// A person's answer about a new server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewServerAnswer {
    Use,
    NotNow,
    /// The person wants to stop, or the terminal was closed.
    Left,
}

/// Shows the server and asks; dropping the future withdraws the question.
pub async fn present_new_server(new: NewServer, width: usize) -> NewServerAnswer {
    let asking = withdrawable("\n(question withdrawn)", move |standing| {
        decide(&new, width, &mut KeyboardTypist::new(standing))
    });
    asking.await.unwrap_or(NewServerAnswer::Left)
}

fn decide(new: &NewServer, width: usize, person: &mut impl Typist) -> NewServerAnswer {
    let asked = (|| -> Result<NewServerAnswer, AskReply> {
        person.show(&short_text(new, width))?;
        for _ in 0..MAX_TRIES {
            let line = person.line(QUESTION)?;
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return Ok(NewServerAnswer::Use),
                // Pressing Enter without reading must not approve anything.
                "" | "n" | "no" | "not now" => return Ok(NewServerAnswer::NotNow),
                "a" | "all" => person.show(&full_text(new))?,
                _ => person.show("Please answer y, n or a.\n")?,
            }
        }
        Ok(NewServerAnswer::NotNow)
    })();
    asked.unwrap_or(NewServerAnswer::Left)
}

fn short_text(new: &NewServer, width: usize) -> String {
    let mut text = heading(new);
    let mut tools: Vec<&NewDefinition> = definitions_by_kind(new, PinKind::Tool).collect();
    let count = tools.len();
    text.push_str(&match count {
        0 => "  it offers no tools\n".to_owned(),
        1 => "  it offers 1 tool:\n".to_owned(),
        _ => format!("  it offers {count} tools:\n"),
    });
    if count > MAX_LISTED_TOOLS {
        // If not all of them fit, the riskiest ones must be among those shown.
        tools.sort_by_key(|tool| Reverse(score(tool)));
    }
    let column =
        tools.iter().take(MAX_LISTED_TOOLS).map(|tool| measure_text_width(&tool.name)).max();
    let column = column.unwrap_or(0).min(MAX_NAME_CHARS);
    for tool in tools.iter().take(MAX_LISTED_TOOLS) {
        text.push_str(&row(tool, column, width));
    }
    if let Some(more) = count.checked_sub(MAX_LISTED_TOOLS).filter(|more| *more > 0) {
        text.push_str(&format!("    and {more} more with lower risk\n"));
    }
    for (kind, word) in [(PinKind::Prompt, "prompts"), (PinKind::Template, "resource templates")] {
        let names: Vec<&str> =
            definitions_by_kind(new, kind).map(|one| one.name.as_str()).collect();
        if !names.is_empty() {
            let line = format!("  {word} ({}): {}", names.len(), escape_line(&names.join(", ")));
            text.push_str(&format!("{}\n", cut(&line, width)));
        }
    }
    for said in definitions_by_kind(new, PinKind::Instructions) {
        let line = format!("  instructions for models: {}", escape_line(&said.says));
        text.push_str(&format!("{}\n", cut(&line, width)));
    }
    text.push_str(&findings(new));
    text
}

fn heading(new: &NewServer) -> String {
    let name = escape_line(new.server.as_str());
    let how = escape_line(&new.how);
    let is_address = how.starts_with("http://") || how.starts_with("https://");
    let verb = if is_address { "is at" } else { "runs" };
    let mut text = format!("\nServer `{name}` is new and not approved.\n  it {verb}: {how}\n");
    for finding in &new.entry_findings {
        text.push_str(&format!("  {}\n", finding_line(finding)));
    }
    text
}

/// Returns a finding about a server as one line.
pub fn finding_line(finding: &EntryFinding) -> String {
    let kind = if finding.is_danger() { "danger" } else { "note" };
    format!("{kind}: {} ({})", escape_line(&finding.message), escape_line(&finding.word))
}

fn row(tool: &NewDefinition, column: usize, width: usize) -> String {
    let name = escape_line(&tool.name);
    let padding = " ".repeat(column.saturating_sub(measure_text_width(&name)));
    let mut about = vec![format!("risk {:>2}", score(tool))];
    if !tool.hints.is_empty() {
        about.push(format!("claims {}", tool.hints.join(", ")));
    }
    let says = escape_line(&tool.says);
    if !says.is_empty() {
        about.push(says.into_owned());
    }
    format!("{}\n", cut(&format!("    {name}{padding}  {}", about.join("; ")), width))
}

fn findings(new: &NewServer) -> String {
    if new.found.is_empty() {
        return "  the scanner found nothing\n".to_owned();
    }
    let mut text = "  the scanner found:\n".to_owned();
    for one in new.found.iter().take(MAX_LISTED_FINDINGS) {
        text.push_str(&finding_text(one));
    }
    if let Some(more) = new.found.len().checked_sub(MAX_LISTED_FINDINGS).filter(|more| *more > 0) {
        text.push_str(&format!("    and findings in {more} more\n"));
    }
    if new.found.iter().any(Flagged::is_held) {
        text.push_str("  quarantined definitions stay quarantined, whatever you answer\n");
    }
    text
}

fn finding_text(one: &Flagged) -> String {
    let state = if one.is_held() { "quarantined" } else { "needs review" };
    let name = if one.name.is_empty() { "instructions" } else { &one.name };
    let mut text = format!("    {state}: {} `{}`\n", one.kind.as_str(), escape_line(name));
    for finding in &one.findings {
        let place = if finding.place.is_empty() { "the text" } else { &finding.place };
        let place = escape_line(place);
        let excerpt = escape_line(&finding.excerpt);
        text.push_str(&format!("      {} at {place}: {excerpt}\n", finding.rule));
    }
    text
}

fn full_text(new: &NewServer) -> String {
    let mut text = heading(new);
    for one in &new.definitions {
        let name = if one.name.is_empty() { new.server.as_str() } else { &one.name };
        text.push_str(&format!("  {} `{}`\n", one.kind.as_str(), escape_line(name)));
        if let Some(risk) = &one.risk {
            let reasons = escape_line(&risk.reasons.join(", ")).into_owned();
            text.push_str(&format!("    risk {} of 100: {reasons}\n", risk.score));
        }
        text.push_str(&format!("    fingerprint {}\n", one.digest));
        for line in escape_json(&pretty(&one.definition)).lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    if new.found.is_empty() {
        text.push_str("  the scanner found nothing\n");
    }
    for one in &new.found {
        text.push_str(&finding_text(one));
    }
    text
}

fn definitions_by_kind(new: &NewServer, kind: PinKind) -> impl Iterator<Item = &NewDefinition> {
    new.definitions.iter().filter(move |one| one.kind == kind)
}

fn score(tool: &NewDefinition) -> u8 {
    tool.risk.as_ref().map_or(0, |risk| risk.score)
}

fn cut(line: &str, width: usize) -> String {
    truncate_str(line, width.max(40), "…").into_owned()
}
