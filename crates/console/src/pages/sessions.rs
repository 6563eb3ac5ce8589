//! Conversations: a list, and one step by step with its calls in place.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};

use super::layout::{Page, Section, respond};
use super::parts::{empty, heading, outcome, place};
use super::when::when;
use crate::console::Shared;
use crate::door::Signed;
use crate::shown::{self, SessionRow, SessionShown, Turn};

/// All conversations.
pub(crate) async fn sessions(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
) -> Response {
    let page = shown::sessions(&console).await.map(|listed| Page {
        title: "Sessions".to_owned(),
        section: Section::Sessions,
        body: list(&listed),
    });
    respond(&console, &signed, page).await
}

/// One conversation.
pub(crate) async fn session(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
    Path(id): Path<String>,
) -> Response {
    let page = shown::session(&console, &id).await.map(|shown| Page {
        title: shown.row.title.clone(),
        section: Section::Sessions,
        body: body(&shown),
    });
    respond(&console, &signed, page).await
}

fn list(listed: &[SessionRow]) -> Markup {
    html! {
        (heading("Sessions", &html! { "Conversations with models, step by step." }))
        div data-live="sessions" {
            @if listed.is_empty() {
                (empty("No conversations yet", &html! {
                    "Begin one in a terminal: " code { "switchboard chat" }
                }))
            } @else {
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Last step" } th { "About" } th { "Model" }
                            th class="number" { "Steps" } th { "Folder" }
                        } }
                        tbody {
                            @for session in listed {
                                tr {
                                    td class="nowrap" { (when(&session.changed_at)) }
                                    td class="strong" {
                                        a href=(place(&["sessions", &session.id])) { (session.title) }
                                    }
                                    td class="small" { (session.model) }
                                    td class="number" { (session.steps) }
                                    td class="mono small muted" { (session.folder) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn body(shown: &SessionShown) -> Markup {
    html! {
        p class="crumbs" { a href="/sessions" { "Sessions" } " / " (shown.row.id) }
        h1 { (shown.row.title) }
        p class="muted" {
            (shown.row.model) " · begun " (when(&shown.row.created_at)) " · "
            span class="mono small" { (shown.row.folder) }
        }
        div data-live="session" { ol class="turns" { @for one in &shown.turns { (turn(one)) } } }
    }
}

fn turn(turn: &Turn) -> Markup {
    html! {
        li class={ "turn " (turn.who) } {
            @if turn.who == "call" {
                details {
                    summary {
                        span class="mono" { (turn.name.as_deref().unwrap_or("call")) } " "
                        @if let Some(word) = turn.outcome { (outcome(word)) }
                        @if let Some(call) = &turn.call {
                            " " a href=(place(&["calls", call])) { "call " (call) }
                        }
                    }
                    pre class="text" tabindex="0" { (turn.text) }
                }
            } @else {
                span class="who" { (turn.who) }
                div class="said" { (turn.text) }
            }
        }
    }
}
