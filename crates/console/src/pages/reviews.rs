//! What waits for a person, with everything that is decided about.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::fields::fields;
use super::layout::{Page, Section, respond};
use super::parts::{empty, heading, json, place, prose, to_server};
use super::when::when;
use crate::console::Shared;
use crate::door::Signed;
use crate::shown::{self, ReviewShown, Wanted};

/// What waits.
pub(crate) async fn reviews(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
) -> Response {
    let shown = shown::reviews(&console).await;
    let page = shown.map(|shown| Page {
        title: "Reviews".to_owned(),
        section: Section::Reviews,
        body: body(&shown),
    });
    respond(&console, &signed, page).await
}

fn body(waiting: &[ReviewShown]) -> Markup {
    html! {
        (heading("Reviews", &html! {
            "What waits for your word. The first answer counts, here or in a terminal. "
            span class="keys" {
                "Keys: " kbd { "j" } " " kbd { "k" } " choose, " kbd { "r" } " run, "
                kbd { "s" } " skip, " kbd { "x" } " reject."
            }
        }))
        div data-live="reviews" data-keep="" {
            @if waiting.is_empty() {
                (empty("Nothing waits", &html! {
                    "Calls that no rule allows, and what servers ask, appear here at once. "
                    "Start with " code { "switchboard serve --review ask" } " to be asked."
                }))
            }
            @for review in waiting { (card(review)) }
        }
    }
}

fn card(review: &ReviewShown) -> Markup {
    html! {
        article class="card review" tabindex="0" data-review=(review.id)
            data-api={ "/api/v1" (place(&["reviews", &review.id])) "/answer" }
            data-digest=(review.digest) aria-label={ "Review " (review.id) } {
            div class="row-heading" {
                h2 {
                    (to_server(&review.server))
                    @if let Some(target) = &review.target {
                        span class="muted" { " / " } span class="mono" { (target) }
                    }
                }
                span class="muted small" {
                    (when(&review.created_at)) " · " (review.seconds_left) " s left · "
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
        Wanted::Call { arguments, why, problem, can_always } => html! {
            p { (prose(why)) }
            @if let Some(problem) = problem { p class="note bad" { (problem) } }
            (json(arguments))
            label class="words" {
                span class="small muted" { "Words for whoever wants it, if you reject it" }
                input type="text" data-words="" autocomplete="off";
            }
            div class="actions" {
                (answer("run", "Run", "primary"))
                @if *can_always { (answer("always", "Always run", "")) }
                (answer("skip", "Skip", ""))
                (answer("reject", "Reject", "bad"))
            }
        },
        Wanted::Form { message, schema } => html! {
            p class="description" { (message) }
            div class="form" { (fields(schema, &review.id)) }
            (yes_or_no("Send"))
        },
        Wanted::Address { message, url } => html! {
            p class="description" { (message) }
            p { "It wants you to visit " span class="mono" { (url) } }
            p class="small muted" {
                "Copy it only if you know who runs that place, then say that you did."
            }
            (yes_or_no("I went there"))
        },
        Wanted::Consent { message, details } => html! {
            p class="description" { (message) }
            (json(&details.to_string()))
            (yes_or_no("Allow"))
        },
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
