//! Definitions that are held until a person approves them: what is different, and the button.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::first_use::first_use;
use super::parts::{page_path, server_link};
use switchboard_views::{FoundShown, HeldServerShown, HeldShown};

/// Everything that is held, a card for each server.
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
                    (server_link(&held.server)) span class="muted" { " offers something else" }
                }
                @if approvable.len() > 1 || held.whole.is_some() && !approvable.is_empty() {
                    (approve_button(&held.server, &approvable, &format!("Approve all {}", approvable.len())))
                }
            }
            @if let Some(why) = &held.whole {
                p class="note" { "Nothing of it is used: " (why) "." }
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
                    (approve_button(&held.server, &[held], "Approve"))
                }
            }
            (diff(held))
        }
    }
}

/// What is different, line by line; what went and what came is told by signs, not by colour alone.
pub(super) fn diff(held: &HeldShown) -> Markup {
    html! {
        pre class="code diff" tabindex="0" aria-label="What is different" {
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

/// A button that approves exactly what is shown.
fn approve_button(server: &str, held: &[&HeldShown], label: &str) -> Markup {
    approve_and_go(server, held, label, None)
}

/// The same, and then to a page.
pub(super) fn approve_and_go(
    server: &str,
    held: &[&HeldShown],
    label: &str,
    then: Option<&str>,
) -> Markup {
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

/// What the scanner found.
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
