//! A server that is new: what it runs, what it offers, what was found, and the question.

use maud::{Markup, html};
use switchboard_host::{NewDefinition, NewServer};
use switchboard_trust::PinKind;

use super::parts::{count, json, prose, server_link};
use super::quarantine::{approve_and_go, scan_findings};
use super::risk::risk_line;
use switchboard_views::{HeldServerShown, HeldShown, scan_finding};

/// So many tools are shown before somebody opens the rest.
const MAX_VISIBLE_TOOLS: usize = 12;

/// The question whether a new server may be used.
pub(super) fn first_use(held: &HeldServerShown, new: &NewServer) -> Markup {
    let shown: Vec<&HeldShown> = held.definitions.iter().collect();
    let tools: Vec<&NewDefinition> = definitions_by_kind(new, PinKind::Tool).collect();
    let others: Vec<&NewDefinition> =
        new.definitions.iter().filter(|one| one.kind != PinKind::Tool).collect();
    let findings: Vec<_> = new.found.iter().map(scan_finding).collect();
    html! {
        article class="card held attention-card" {
            div class="row-heading" {
                h3 { (server_link(&held.server)) span class="muted" { " is new" } }
                (approve_and_go(&held.server, &shown, "Use it as it is", None))
            }
            p class="note" {
                "Nothing of it is used before you agree to what it offers. To leave it for now, do nothing."
            }
            p { span class="mono how" { (new.how) } }
            @if !new.entry_findings.is_empty() {
                ul class="plain" {
                    @for finding in &new.entry_findings { li { (prose(&finding.message)) } }
                }
            }
            h4 { (count(tools.len(), "tool")) }
            ul class="plain" { @for tool in tools.iter().take(MAX_VISIBLE_TOOLS) { li { (definition(tool)) } } }
            @if tools.len() > MAX_VISIBLE_TOOLS {
                details {
                    summary { (tools.len() - MAX_VISIBLE_TOOLS) " more" }
                    ul class="plain" {
                        @for tool in tools.iter().skip(MAX_VISIBLE_TOOLS) { li { (definition(tool)) } }
                    }
                }
            }
            @if !others.is_empty() {
                h4 { "Also" }
                ul class="plain" { @for one in &others { li { (definition(one)) } } }
            }
            @if findings.is_empty() {
                p class="muted" { "The scanner found nothing in it." }
            } @else {
                h4 { "What the scanner found" }
                (scan_findings(&findings))
            }
        }
    }
}

fn definition(one: &NewDefinition) -> Markup {
    html! {
        span class="first" {
            @if one.name.is_empty() { strong { "Instructions" } }
            @else { strong class="mono" { (one.name) } }
            @if one.kind != PinKind::Tool { span class="tag" { (one.kind.as_str()) } }
            @for hint in &one.hints { span class="tag" { "says " (hint) } }
        }
        @if !one.says.is_empty() { span { (one.says) } }
        @if let Some(risk) = &one.risk { (risk_line(risk)) }
        details { summary { "Definition" } (json(&one.definition)) }
    }
}

fn definitions_by_kind(new: &NewServer, kind: PinKind) -> impl Iterator<Item = &NewDefinition> {
    new.definitions.iter().filter(move |one| one.kind == kind)
}
