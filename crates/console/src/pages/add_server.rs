//! Adding servers: typed, or pasted from the configuration of another program.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use switchboard_host::config::Finding;

use super::layout::{Page, Section, respond};
use super::parts::{json, place, prose};
use crate::console::Shared;
use crate::door::Signed;
use crate::shown::ProposedServer;

/// The page to add servers.
pub(crate) async fn add_server(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
) -> Response {
    let page = Page { title: "Add a server".to_owned(), section: Section::Servers, body: body() };
    respond(&console, &signed, Ok(page)).await
}

fn body() -> Markup {
    html! {
        p class="crumbs" { a href="/servers" { "Servers" } " / add" }
        h1 { "Add a server" }
        p class="muted" { "Nothing runs before you have seen what it is." }
        div class="columns" {
            section class="card" aria-labelledby="by-hand" {
                h2 id="by-hand" { "By hand" }
                (by_hand())
            }
            section class="card" aria-labelledby="pasted" {
                h2 id="pasted" { "From a configuration" }
                (from_text())
            }
        }
        section aria-labelledby="preview" {
            h2 id="preview" { "What would be added" }
            div id="found" aria-live="polite" {
                p class="muted" { "Look first; then add it here." }
            }
        }
    }
}

fn by_hand() -> Markup {
    html! {
        form data-call="/api/v1/configurations/read" data-into="found" autocomplete="off" {
            (line("add-name", "name", "Name", "github"))
            (line("add-target", "target", "Command or address", "npx -y @scope/server, or https://mcp.example"))
            details {
                summary { "Variables and headers" }
                (lines("add-environment", "environment", "Variables of a command", "API_KEY=${keyring:NAME}"))
                (lines("add-headers", "headers", "Headers of an address", "X-Key: ${keyring:NAME}"))
                p class="muted small" {
                    code { "${NAME}" } " takes a variable, " code { "${keyring:NAME}" }
                    " what " code { "switchboard secrets set" } " keeps."
                }
            }
            button type="submit" class="button primary" { "Look" }
        }
    }
}

fn from_text() -> Markup {
    html! {
        form data-call="/api/v1/configurations/read" data-into="found" autocomplete="off" {
            div class="field" {
                label for="add-text" { "JSON" }
                textarea id="add-text" class="mono" rows="8" data-member="text" spellcheck="false"
                    placeholder="{ \"mcpServers\": { … } }" {}
                p class="muted small" {
                    "A configuration with " code { "mcpServers" } " or " code { "servers" }
                    ", or one entry alone."
                }
            }
            (line("add-text-name", "name", "Name, for an entry alone", ""))
            button type="submit" class="button primary" { "Look" }
        }
    }
}

fn line(id: &str, member: &str, label: &str, example: &str) -> Markup {
    html! {
        div class="field" {
            label for=(id) { (label) }
            input id=(id) type="text" data-member=(member) placeholder=(example) spellcheck="false";
        }
    }
}

fn lines(id: &str, member: &str, label: &str, example: &str) -> Markup {
    html! {
        div class="field" {
            label for=(id) { (label) }
            textarea id=(id) class="mono" rows="2" data-member=(member) placeholder=(example)
                spellcheck="false" {}
        }
    }
}

/// What would be added, each server with a button of its own.
pub(crate) fn proposed(all: &[ProposedServer]) -> Markup {
    html! { div class="stack" { @for (number, one) in all.iter().enumerate() { (card(number, one)) } } }
}

fn card(number: usize, one: &ProposedServer) -> Markup {
    let then = one.name.as_deref().map(|name| place(&["servers", name]));
    html! {
        form class="card proposed" data-act="/api/v1/servers"
            data-then=(then.as_deref().unwrap_or("/servers")) {
            input type="hidden" data-member="entry" data-kind="json" value=(one.entry);
            div class="row-heading" {
                @if let Some(name) = &one.name {
                    h3 { (name) }
                    input type="hidden" data-member="name" value=(name);
                } @else {
                    label class="inline" {
                        span { "Name" }
                        input type="text" data-member="name" required autocomplete="off";
                    }
                }
                @if one.problem.is_none() {
                    button type="submit" class="button primary" {
                        @if one.exists { "Replace" } @else { "Add" }
                    }
                }
            }
            p { span class="mono" { (one.how) } }
            @if let Some(problem) = &one.problem {
                div class="note bad" {
                    p { (prose(problem)) }
                    @if let Some(hint) = &one.hint { p class="muted" { (prose(hint)) } }
                }
            }
            (dangers(&one.findings, &format!("agree-{number}")))
            @if one.exists && one.problem.is_none() {
                label class="check" {
                    input type="checkbox" data-member="replace" data-kind="yes" required;
                    " There is a server of this name: replace it"
                }
            }
            details { summary { "Entry" } (json(&one.entry.to_string())) }
        }
    }
}

/// What to know before a server runs; what is dangerous has to be agreed to.
pub(super) fn dangers(findings: &[Finding], prefix: &str) -> Markup {
    html! {
        @for (number, finding) in findings.iter().enumerate() {
            @if finding.is_danger() {
                div class="note bad" {
                    p { strong { "Dangerous. " } (prose(&finding.message)) }
                    label class="check" for={ (prefix) "-" (number) } {
                        input id={ (prefix) "-" (number) } type="checkbox" data-agreed=(finding.word)
                            required;
                        " I have looked at it and want it (" (finding.word) ")"
                    }
                }
            } @else { div class="note" { p { (prose(&finding.message)) } } }
        }
    }
}
