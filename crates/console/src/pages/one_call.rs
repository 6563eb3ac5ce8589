//! One call as a timeline, with what was asked and what came back.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};

use super::layout::{Page, Section, respond};
use super::parts::{json, outcome, place, prose, to_server};
use super::result::{result_of, words};
use super::when::{duration, size, when};
use crate::console::Shared;
use crate::door::Signed;
use crate::shown::{self, CallShown};

/// One call.
pub(crate) async fn call(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
    Path(id): Path<String>,
) -> Response {
    let shown = shown::call(&console, &id).await;
    let page = shown.map(|shown| Page {
        title: format!("Call {}", shown.row.id),
        section: Section::Calls,
        body: body(&shown),
    });
    respond(&console, &signed, page).await
}

fn body(shown: &CallShown) -> Markup {
    let row = &shown.row;
    html! {
        p class="crumbs" { a href="/calls" { "Calls" } " / " (row.id) }
        div data-live="call" {
            div class="row-heading" {
                h1 class="mono" { (row.target) }
                div class="actions" {
                    (outcome(row.state))
                    form data-call={ "/api/v1" (place(&["calls", &row.id])) "/again" }
                        data-into="ran" {
                        button type="submit" class="button" { "Run again" }
                    }
                    @if row.kind == "tool" {
                        a class="button" href=(place(&["tools", &row.server, &row.target])) {
                            "To the tool"
                        }
                    }
                }
            }
            (words(shown.message.as_deref(), shown.hint.as_deref()))
            div class="columns" {
                section class="card" aria-labelledby="timeline" {
                    h2 id="timeline" { "What happened" }
                    (timeline(shown))
                }
                section class="card" aria-labelledby="arguments" {
                    h2 id="arguments" { "Arguments" }
                    @if let Some(arguments) = &shown.arguments { (json(arguments.get())) }
                    @if let Some(sent) = &shown.sent_arguments {
                        h3 { "What was sent instead" }
                        (json(sent.get()))
                    }
                }
            }
            div id="ran" aria-live="polite" {}
            section class="card" aria-labelledby="result" {
                h2 id="result" { "Result" }
                @if let Some(result) = &shown.result { (result_of(row.kind, Some(&row.id), result.get())) }
                @else if shown.result_cut {
                    p class="muted" {
                        "It is too long to be shown here. "
                        a href={ "/api/v1" (place(&["calls", &row.id, "result"])) } download { "Download it" }
                    }
                } @else { p class="muted" { "There is none." } }
                @if let Some(late) = &shown.late_answer {
                    h3 { "What the server answered after it was given up" }
                    (json(late.get()))
                }
            }
        }
    }
}

fn timeline(shown: &CallShown) -> Markup {
    let row = &shown.row;
    html! {
        ol class="timeline" {
            li {
                span class="step" { "Proposed" } (when(&row.created_at))
                span class="muted" { "by " (row.caller) ", through " (row.face) ", for " (to_server(&row.server)) }
                @if let Some(reference) = &shown.reference {
                    span class="muted small" { "as " span class="mono" { (reference) } }
                }
            }
            @if let Some(verdict) = row.verdict {
                li {
                    span class="step" { "Decided: " (verdict) }
                    @if let Some(by) = &row.verdict_by { span class="muted" { "by " (prose(by)) } }
                }
            }
            @if shown.sent_arguments.is_some() {
                li {
                    span class="step" { "Changed" }
                    span class="muted" { "other arguments were put in place, by a hook or by a person" }
                }
            }
            @if let Some(sent_at) = &shown.sent_at {
                li {
                    span class="step" { "Sent" } (when(sent_at))
                    @if let Some(instance) = &shown.instance {
                        span class="muted" { "to " span class="mono" { (instance) } }
                    }
                    @if shown.attempts > 1 { span class="muted" { (shown.attempts) " attempts" } }
                    @if let Some(fallback) = &shown.fallback { span class="muted" { (fallback) } }
                }
            }
            li class=[shown.finished_at.is_none().then_some("open")] {
                @if let Some(finished) = &shown.finished_at {
                    span class="step" { "Ended: " (row.state.replace('_', " ")) } (when(finished))
                } @else { span class="step" { "Under way" } }
                @if let Some(reason) = &row.reason { span class="muted mono" { (reason) } }
                @if let Some(milliseconds) = row.milliseconds {
                    span class="muted" { "after " (duration(milliseconds)) }
                }
                @if let Some(bytes) = row.result_bytes { span class="muted" { (size(bytes)) } }
            }
        }
    }
}
