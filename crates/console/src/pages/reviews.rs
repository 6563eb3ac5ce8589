//! The reviews page: pending reviews, elicitations and quarantined definitions.

use axum::response::Response;
use maud::{Markup, html};
use switchboard_views::{HeldServerShown, ReviewShown, ReviewSubject};

use super::fields::fields;
use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{empty_state, heading, json, page_path, pretty, prose, risk_line, server_link};
use super::quarantine::quarantined_servers as held_cards;
use super::relative_time::when;

pub(crate) async fn reviews(asked: PageRequest) -> Response {
    let shown = switchboard_views::reviews(&asked.console.host).await;
    let held = switchboard_views::held_servers(&asked.console.host);
    let page = shown
        .map(|shown| ConsolePage::new("Reviews", ConsoleSection::Reviews, body(&shown, &held)));
    asked.respond(page).await
}

fn body(waiting: &[ReviewShown], held: &[HeldServerShown]) -> Markup {
    html! {
        div class="row-heading" {
            (heading("Reviews", &html! {
                "Calls and questions that need your decision. The first answer counts, here or in a terminal. "
                span class="keys" {
                    "Keys: " kbd { "j" } " " kbd { "k" } " choose, " kbd { "r" } " run, "
                    kbd { "s" } " skip, " kbd { "x" } " reject."
                }
            }))
            button type="button" class="button" data-notify="" hidden { "Notify me" }
        }
        // `data-keep`: an update must not discard text that a person types into a review.
        div data-live="reviews" data-keep="" {
            @if waiting.is_empty() && held.is_empty() {
                (empty_state("No pending reviews", &html! {
                    "Calls that need approval and questions from servers appear here. Start with "
                    code { "switchboard serve --review ask" } " to review the calls of clients."
                }))
            }
            @for review in waiting { (card(review)) }
        }
        div data-live="held" {
            @if !held.is_empty() {
                section aria-labelledby="held" {
                    h2 id="held" { "Definitions in quarantine" }
                    p class="muted" {
                        "These definitions are new or have changed. They are not used until you approve them."
                    }
                    (held_cards(held))
                }
            }
        }
    }
}

fn card(review: &ReviewShown) -> Markup {
    html! {
        article class="card review" tabindex="0" data-review=(review.id)
            data-api={ "/api/v1" (page_path(&["reviews", &review.id])) "/answer" }
            data-digest=(review.digest) data-session=[&review.session]
            aria-label={ "Review " (review.id) } {
            div class="row-heading" {
                h2 {
                    (server_link(&review.server))
                    @if let Some(target) = &review.target {
                        span class="muted" { " / " } span class="mono" { (target) }
                    }
                }
                span class="muted small" {
                    (when(&review.created_at)) " · " (review.seconds_left) " s left · "
                    @if review.program_ended { "its program has ended · " }
                    span class="mono" { (review.id) }
                }
            }
            @if let Some(caller) = &review.caller { p class="small muted" { "For " (caller) } }
            (matter(review))
            p class="problem" role="alert" {}
        }
    }
}

fn matter(review: &ReviewShown) -> Markup {
    match &review.wanted {
        ReviewSubject::Call { arguments, why, problem, risk, can_always } => html! {
            p { (prose(why)) }
            @if risk.score > 0 { (risk_line(risk)) }
            @if let Some(problem) = problem { p class="note bad" { (problem) } }
            (json(arguments))
            details {
                summary { "Edit the arguments" }
                textarea class="mono" rows="4" data-arguments="" spellcheck="false"
                    aria-label="Edited arguments as JSON" { (pretty(arguments)) }
            }
            label class="words" {
                span class="small muted" { "Message to the caller (sent if you reject)" }
                input type="text" data-words="" autocomplete="off";
            }
            div class="actions" {
                (answer("run", "Run", "primary"))
                (answer("session", "Run in this session", ""))
                @if *can_always { (answer("always", "Always run", "")) }
                (answer("skip", "Skip", ""))
                (answer("reject", "Reject", "bad"))
            }
        },
        ReviewSubject::Form { message, schema, order } => html! {
            p class="description" { (message) }
            div class="form" { (fields(schema, order, &review.id)) }
            (yes_or_no("Send"))
        },
        ReviewSubject::Address { message, url, domain, warnings } => {
            address(message, url, domain.as_deref(), warnings)
        }
        ReviewSubject::Consent { message, details } => html! {
            p class="description" { (message) }
            (json(&details.to_string()))
            (yes_or_no("Allow"))
        },
    }
}

/// Renders a request to open a URL: the full URL, its domain and the warnings.
fn address(message: &str, url: &str, domain: Option<&str>, warnings: &[String]) -> Markup {
    html! {
        p class="description" { (message) }
        p class="address mono" { (url) }
        @for warning in warnings { p class="note bad" { (warning) } }
        @if let Some(domain) = domain {
            p {
                "The domain is " strong class="mono" { (domain) }
                ". Open it only if you trust its owner."
            }
            div class="actions" {
                a class="button" href=(url) target="_blank" rel="noopener noreferrer" {
                    "Open " (domain) " in a new tab"
                }
                (answer("accept", "I have visited it", "primary"))
                (answer("decline", "Decline", "")) (answer("cancel", "Cancel", ""))
            }
        } @else {
            div class="actions" { (answer("decline", "Decline", "primary")) (answer("cancel", "Cancel", "")) }
        }
    }
}

fn yes_or_no(yes: &str) -> Markup {
    html! {
        div class="actions" {
            (answer("accept", yes, "primary")) (answer("decline", "Decline", ""))
            (answer("cancel", "Cancel", ""))
        }
    }
}

fn answer(word: &str, label: &str, tone: &str) -> Markup {
    html! { button type="button" class={ "button " (tone) } data-answer=(word) { (label) } }
}
