//! Cards for quarantined definitions and new servers: the diff and the button to approve.

use maud::{Markup, html};
use serde_json::{Value, json};
use switchboard_host::{NewDefinition, NewServer};
use switchboard_trust::PinKind;
use switchboard_views::{FoundShown, HeldServerShown, HeldShown, scan_finding};

use super::parts::{count, json, page_path, prose, risk_line, server_link};

pub(super) fn quarantined_servers(servers: &[HeldServerShown]) -> Markup {
    html! {
        @for server in servers {
            @match &server.new {
                Some(new) => { (first_use(server, new)) },
                None => { (server_card(server)) },
            }
        }
    }
}

fn server_card(held: &HeldServerShown) -> Markup {
    let approvable: Vec<&HeldShown> =
        held.definitions.iter().filter(|one| one.can_be_approved).collect();
    html! {
        article class="card held" {
            div class="row-heading" {
                h3 {
                    (server_link(&held.server)) span class="muted" { " has changed definitions" }
                }
                @if approvable.len() > 1 || held.whole.is_some() && !approvable.is_empty() {
                    (approve_button(&held.server, &approvable, &format!("Approve all {}", approvable.len()), None))
                }
            }
            @if let Some(why) = &held.whole {
                p class="note" { "The whole server is in quarantine: " (why) "." }
            }
            @for one in &held.definitions { (definition(one, held.whole.is_none())) }
        }
    }
}

fn definition(held: &HeldShown, by_itself: bool) -> Markup {
    html! {
        div class="definition" {
            div class="row-heading" {
                span class="first" {
                    @if held.name.is_empty() { strong { "Instructions" } }
                    @else if held.kind.as_str() == "tool" {
                        a class="mono" href=(page_path(&["tools", &held.server, &held.name])) { (held.name) }
                    } @else { strong class="mono" { (held.name) } }
                    span class="tag" { (held.kind.as_str()) }
                    span class="tag warn" { (held.why) }
                }
                @if held.can_be_approved && by_itself {
                    (approve_button(&held.server, &[held], "Approve", None))
                }
            }
            (diff(held))
        }
    }
}

pub(super) fn diff(held: &HeldShown) -> Markup {
    // The signs stay in the text, because color alone is not accessible.
    html! {
        pre class="code diff" tabindex="0" aria-label="Changes" {
            @for line in &held.diff {
                span class=(tone(line)) { (line) "\n" }
            }
        }
    }
}

fn tone(line: &str) -> &'static str {
    match line.chars().next() {
        Some('-') => "gone",
        Some('+') => "come",
        _ => "same",
    }
}

/// Renders a button that approves exactly the definitions that are shown, and may then open a page.
pub(super) fn approve_button(
    server: &str,
    held: &[&HeldShown],
    label: &str,
    then: Option<&str>,
) -> Markup {
    // The digests pin the approval to what this page shows.
    let shown: Vec<Value> = held
        .iter()
        .map(|one| json!({"kind": one.kind, "name": one.name, "digest": one.digest}))
        .collect();
    let body = json!({"server": server, "definitions": shown});
    html! {
        button type="button" class="button primary" data-post="/api/v1/pins/approve"
            data-body=(body) data-done="Approved" data-then=[then] { (label) }
    }
}

pub(super) fn scan_findings(all: &[FoundShown]) -> Markup {
    html! {
        ul class="plain" {
            @for one in all {
                li {
                    span class="first" {
                        (server_link(&one.server)) strong class="mono" { (one.name) }
                        span class="tag" { (one.kind) }
                        span class={ "tag " @if one.state == "held" { "bad" } @else { "warn" } } {
                            (one.state)
                        }
                    }
                    @for finding in &one.findings { span class="small" { (finding) } }
                }
            }
        }
    }
}

/// How many tools are shown; the others are collapsed.
const MAX_VISIBLE_TOOLS: usize = 12;

pub(super) fn first_use(held: &HeldServerShown, new: &NewServer) -> Markup {
    let shown: Vec<&HeldShown> = held.definitions.iter().collect();
    let (tools, others): (Vec<&NewDefinition>, Vec<&NewDefinition>) =
        new.definitions.iter().partition(|one| one.kind == PinKind::Tool);
    let findings: Vec<_> = new.found.iter().map(scan_finding).collect();
    html! {
        article class="card held attention-card" {
            div class="row-heading" {
                h3 { (server_link(&held.server)) span class="muted" { " is new" } }
                (approve_button(&held.server, &shown, "Approve as shown", None))
            }
            p class="note" {
                "The server is not used until you approve its offers. To decide later, do nothing."
            }
            p { span class="mono how" { (new.how) } }
            @if !new.entry_findings.is_empty() {
                ul class="plain" {
                    @for finding in &new.entry_findings { li { (prose(&finding.message)) } }
                }
            }
            h4 { (count(tools.len(), "tool")) }
            ul class="plain" { @for tool in tools.iter().take(MAX_VISIBLE_TOOLS) { li { (new_definition(tool)) } } }
            @if tools.len() > MAX_VISIBLE_TOOLS {
                details {
                    summary { (tools.len() - MAX_VISIBLE_TOOLS) " more" }
                    ul class="plain" {
                        @for tool in tools.iter().skip(MAX_VISIBLE_TOOLS) { li { (new_definition(tool)) } }
                    }
                }
            }
            @if !others.is_empty() {
                h4 { "Other definitions" }
                ul class="plain" { @for one in &others { li { (new_definition(one)) } } }
            }
            @if findings.is_empty() {
                p class="muted" { "No scanner findings." }
            } @else {
                h4 { "Scanner findings" }
                (scan_findings(&findings))
            }
        }
    }
}

fn new_definition(one: &NewDefinition) -> Markup {
    html! {
        span class="first" {
            @if one.name.is_empty() { strong { "Instructions" } }
            @else { strong class="mono" { (one.name) } }
            @if one.kind != PinKind::Tool { span class="tag" { (one.kind.as_str()) } }
            @for hint in &one.hints { span class="tag" { "claims " (hint) } }
        }
        @if !one.says.is_empty() { span { (one.says) } }
        @if let Some(risk) = &one.risk { (risk_line(risk)) }
        details { summary { "Definition" } (json(&one.definition)) }
    }
}
