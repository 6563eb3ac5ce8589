//! The pages of conversations: a list, and one conversation with its calls.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};

use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::markdown::markdown;
use super::parts::{empty_state, heading, outcome, page_path};
use super::relative_time::when;
use crate::views::{self, SessionRow, SessionShown, Turn};

pub(crate) async fn sessions(asked: PageRequest) -> Response {
    let models = views::models(&asked.console);
    let page = views::sessions(&asked.console).await.map(|listed| {
        ConsolePage::new("Sessions", ConsoleSection::Sessions, list(&listed, &models))
    });
    asked.respond(page).await
}

pub(crate) async fn session(asked: PageRequest, Path(id): Path<String>) -> Response {
    let page = views::session(&asked.console, &id).await.map(|shown| {
        let body = body(&shown, !views::models(&asked.console).is_empty());
        ConsolePage::new(&shown.row.title, ConsoleSection::Sessions, body)
    });
    asked.respond(page).await
}

fn begin(models: &[String]) -> Markup {
    html! {
        @if models.is_empty() {
            p class="note" {
                "No model is configured. To hold conversations here, add one to " code { "models" }
                " in the configuration. " code { "switchboard models" } " checks it."
            }
        } @else {
            form class="card talk" data-begin="/api/v1/sessions" {
                label for="first-words" class="hidden" { "First message" }
                textarea id="first-words" rows="2" data-member="text" required
                    placeholder="Ask anything; all tools are available" {}
                div class="actions" {
                    label class="inline" {
                        span class="small muted" { "Model" }
                        select data-member="model" {
                            @for model in models { option value=(model) { (model) } }
                        }
                    }
                    button type="submit" class="button primary" { "Start" }
                }
            }
        }
    }
}

fn talk(shown: &SessionShown) -> Markup {
    let api = format!("/api/v1{}", page_path(&["sessions", &shown.row.id]));
    html! {
        div class="turns" id="now" data-talk=(api) aria-live="polite" {}
        div data-inline-reviews="" data-session=(shown.row.id) {}
        form class="card talk" data-say={ (api) "/say" } {
            label for="words" class="hidden" { "Message" }
            textarea id="words" rows="2" data-member="text" required
                placeholder="Message (Enter sends, Shift+Enter starts a new line)" {}
            div class="actions" {
                button type="submit" class="button primary" { "Send" }
                button type="button" class="button" data-stop="" hidden { "Stop" }
                span class="muted small" id="talk-state" role="status" {}
            }
        }
    }
}

fn list(listed: &[SessionRow], models: &[String]) -> Markup {
    html! {
        (heading("Sessions", &html! { "Conversations with models, step by step." }))
        (begin(models))
        div data-live="sessions" {
            @if listed.is_empty() {
                (empty_state("No conversations yet", &html! {
                    "Start one in a terminal: " code { "switchboard chat" }
                }))
            } @else {
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Last step" } th { "Title" } th { "Model" }
                            th class="number" { "Steps" } th { "Folder" }
                        } }
                        tbody {
                            @for session in listed {
                                tr {
                                    td class="nowrap" { (when(&session.changed_at)) }
                                    td class="strong" {
                                        a href=(page_path(&["sessions", &session.id])) { (session.title) }
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

fn body(shown: &SessionShown, can_talk: bool) -> Markup {
    html! {
        p class="crumbs" { a href="/sessions" { "Sessions" } " / " (shown.row.id) }
        h1 { (shown.row.title) }
        p class="muted" {
            (shown.row.model) " · started " (when(&shown.row.created_at)) " · "
            span class="mono small" { (shown.row.folder) }
        }
        div data-live="session" { ol class="turns" { @for one in &shown.turns { (turn(one)) } } }
        @if can_talk { (talk(shown)) }
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
                    }
                    pre class="text" tabindex="0" { (turn.text) }
                }
                @if let Some(call) = &turn.call {
                    a class="small" href=(page_path(&["calls", call])) { "call " (call) }
                }
            } @else {
                span class="who" { (turn.who) }
                // A person's text is shown as typed; models write Markdown.
                @if turn.who == "model" { div class="said rendered" { (markdown(&turn.text)) } }
                @else { div class="said" { (turn.text) } }
            }
        }
    }
}
