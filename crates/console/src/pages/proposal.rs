//! The preview of servers to add: a card per server with its findings and a checkbox.

use maud::{Markup, html};
use switchboard_vetting::EntryFinding;

use super::parts::{count, empty_state, json, page_path, prose};
use crate::other_products::{Proposal, ProposedServer};

/// Renders the preview. Each server has a button, and several servers share one more.
pub(crate) fn proposal(proposal: &Proposal) -> Markup {
    let addable = proposal.servers.iter().filter(|one| can_be_added(one)).count();
    let is_empty = proposal.servers.is_empty() && proposal.left_out.is_empty();
    html! {
        div class="stack" {
            @if is_empty && proposal.unreadable.is_empty() {
                (empty_state("No servers found", &html! {
                    "Paste a configuration, search a registry, or enter a server by hand."
                }))
            }
            @if addable > 1 {
                div class="card row-heading chosen-bar" {
                    span { (count(addable, "server")) " can be added." }
                    button type="button" class="button primary" data-add-chosen="" {
                        "Add selected servers"
                    }
                }
            }
            @for (number, one) in proposal.servers.iter().enumerate() {
                (card(number, one, addable > 1))
            }
            @if !proposal.left_out.is_empty() {
                div class="note" {
                    p { "Skipped:" }
                    ul { @for one in &proposal.left_out { li { (prose(one)) } } }
                }
            }
            @for file in &proposal.unreadable {
                div class="note bad" {
                    p { span class="mono" { (file.place) } ": " (file.message) }
                    p class="muted" { (file.hint) }
                }
            }
        }
    }
}

fn can_be_added(one: &ProposedServer) -> bool {
    one.problem.is_none() && one.needless.is_none()
}

fn card(number: usize, one: &ProposedServer, is_one_of_many: bool) -> Markup {
    let stays = one.source.as_ref().and_then(|source| source.digest.as_deref());
    let act = if stays.is_some() { "/api/v1/configurations/take" } else { "/api/v1/servers" };
    let then = one.name.as_deref().map(|name| page_path(&["servers", name]));
    html! {
        form class="card proposed" data-act=(act)
            data-then=(then.as_deref().unwrap_or("/servers")) {
            (hidden_fields(one))
            div class="row-heading" {
                span class="first" {
                    @if can_be_added(one) && is_one_of_many {
                        // Dangerous servers are never preselected.
                        input type="checkbox" data-chosen="" checked[!one.findings.iter().any(EntryFinding::is_danger) && !one.exists]
                            aria-label={ "Select " (one.name.as_deref().unwrap_or("this server")) };
                    }
                    (name_field(one))
                    @if let Some(source) = &one.source { span class="tag" { (source.product) } }
                    @if let Some(scope) = one.source.as_ref().map(|source| source.scope).filter(|scope| *scope == "project") {
                        span class="tag warn" { (scope) }
                    }
                }
                @if can_be_added(one) {
                    button type="submit" class="button" {
                        @if one.exists { "Replace" } @else { "Add" }
                    }
                }
            }
            p { span class="mono how" { (one.how) } }
            @if let Some(why) = &one.needless { p class="muted" { "Not needed: " (prose(why)) "." } }
            @if let Some(problem) = &one.problem {
                div class="note bad" {
                    p { (prose(problem)) }
                    @if let Some(hint) = &one.hint { p class="muted" { (prose(hint)) } }
                }
            }
            (notes(one))
            @if can_be_added(one) { (dangers(&one.findings, &format!("agree-{number}"))) }
            @if one.exists && one.problem.is_none() && stays.is_none() {
                label class="check" {
                    input type="checkbox" data-member="replace" data-kind="yes" required;
                    " Replace the existing server of this name"
                }
            }
            details {
                summary { "Entry" }
                @if let Some(source) = &one.source {
                    p class="small muted" { "From " span class="mono" { (source.place) } }
                }
                (json(&one.entry.to_string()))
            }
        }
    }
}

fn hidden_fields(one: &ProposedServer) -> Markup {
    html! {
        @match one.source.as_ref().and_then(|source| Some((source, source.digest.as_ref()?))) {
            // The entry's values stay in the other product's file; the form identifies the entry.
            Some((source, digest)) => {
                input type="hidden" data-member="place" value=(source.place);
                input type="hidden" data-member="name" value=(source.name);
                input type="hidden" data-member="digest" value=(digest);
            },
            None => { input type="hidden" data-member="entry" data-kind="json" value=(one.entry); },
        }
    }
}

fn name_field(one: &ProposedServer) -> Markup {
    let member = match one.source.as_ref().and_then(|source| source.digest.as_ref()) {
        Some(_) => "under",
        None => "name",
    };
    html! {
        @if let Some(name) = &one.name {
            h3 { (name) }
            @if let Some(source) = one.source.as_ref().filter(|source| source.name != *name) {
                span class="muted small" { "called " (source.name) " there" }
            }
            input type="hidden" data-member=(member) value=(name);
        } @else {
            label class="inline" {
                span { "Name" }
                input type="text" data-member=(member) required autocomplete="off";
            }
        }
    }
}

fn notes(one: &ProposedServer) -> Markup {
    html! {
        @if !one.notes.is_empty() || !one.plain_secrets.is_empty() {
            ul class="small muted notes" {
                @for note in &one.notes { li { (prose(note)) } }
                @for key in &one.plain_secrets {
                    li { code { (key) } " is a secret in plain text" }
                }
            }
        }
    }
}

/// Renders the findings of an entry. A danger has a checkbox that must be ticked.
pub(super) fn dangers(findings: &[EntryFinding], prefix: &str) -> Markup {
    html! {
        @for (number, finding) in findings.iter().enumerate() {
            @if finding.is_danger() {
                div class="note bad" {
                    p { strong { "Dangerous. " } (prose(&finding.message)) }
                    label class="check" for={ (prefix) "-" (number) } {
                        input id={ (prefix) "-" (number) } type="checkbox" data-agreed=(finding.word)
                            required;
                        " I have reviewed this and accept it (" (finding.word) ")"
                    }
                }
            } @else { div class="note" { p { (prose(&finding.message)) } } }
        }
    }
}
