//! One call as a timeline, with what was asked and what came back.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};

use super::layout::{ConsolePage, ConsoleSection, respond};
use super::parts::{json, outcome, page_path};
use super::result::{outcome_text, result_block};
use super::timeline::timeline;
use crate::auth::Principal;
use crate::console::SharedConsole;
use switchboard_views::CallShown;

/// One call.
pub(crate) async fn call(
    State(console): State<SharedConsole>,
    Extension(signed): Extension<Principal>,
    Path(id): Path<String>,
) -> Response {
    let shown = switchboard_views::call(&console.host, &id).await;
    let page = shown.map(|shown| ConsolePage {
        title: format!("Call {}", shown.row.id),
        section: ConsoleSection::Calls,
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
                    form data-call={ "/api/v1" (page_path(&["calls", &row.id])) "/again" }
                        data-into="ran" {
                        button type="submit" class="button" { "Run again" }
                    }
                    @if row.kind == "tool" {
                        a class="button" href=(page_path(&["tools", &row.server, &row.target])) {
                            "To the tool"
                        }
                    }
                }
            }
            (outcome_text(shown.message.as_deref(), shown.hint.as_deref()))
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
                @if let Some(result) = &shown.result { (result_block(row.kind, Some(&row.id), result.get())) }
                @else if shown.result_cut {
                    p class="muted" {
                        "It is too long to be shown here. "
                        a href={ "/api/v1" (page_path(&["calls", &row.id, "result"])) } download { "Download it" }
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
