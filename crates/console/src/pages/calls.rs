//! The record of calls, by what is wanted, page by page.

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use switchboard_host::OutcomeKind;

use super::layout::{Page, Section, respond};
use super::parts::{empty, heading, outcome, place, to_server};
use super::when::{duration, when};
use crate::console::Shared;
use crate::door::Signed;
use crate::shown::{self, CallQuery, CallRow, CallsShown};

/// A page of calls.
pub(crate) async fn calls(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
    Query(query): Query<CallQuery>,
) -> Response {
    let shown = shown::calls(&console, &query).await;
    let servers: Vec<String> =
        shown::servers(&console).into_iter().map(|server| server.name).collect();
    let page = shown.map(|shown| Page {
        title: "Calls".to_owned(),
        section: Section::Calls,
        body: body(&shown, &servers, &query),
    });
    respond(&console, &signed, page).await
}

fn body(shown: &CallsShown, servers: &[String], query: &CallQuery) -> Markup {
    let chosen = |given: &Option<String>, value: &str| given.as_deref() == Some(value);
    html! {
        (heading("Calls", &html! { "Everything that was called, by whom, and how it ended." }))
        form class="filters" method="get" action="/calls" role="search" data-auto="" {
            label class="grow" {
                span { "Text" }
                input type="search" name="text" value=[query.text.as_deref()]
                    placeholder="tool, caller or message" autocomplete="off" data-hotkey="/";
            }
            label {
                span { "Server" }
                select name="server" {
                    option value="" { "All" }
                    @for server in servers {
                        option value=(server) selected[chosen(&query.server, server)] { (server) }
                    }
                }
            }
            label {
                span { "Outcome" }
                select name="outcome" {
                    option value="" { "All" }
                    @for kind in OutcomeKind::ALL {
                        @let word = kind.as_str();
                        option value=(word) selected[chosen(&query.outcome, word)] {
                            (word.replace('_', " "))
                        }
                    }
                }
            }
            button type="submit" class="button" { "Filter" }
        }
        div data-live=[query.before.is_none().then_some("calls")] {
            @if shown.calls.is_empty() {
                (empty("No calls here", &html! {
                    "Nothing that was called fits. " a href="/calls" { "Show all" }
                    ", or try a tool on the " a href="/tools" { "Tools" } " page."
                }))
            } @else { (table(&shown.calls)) }
            @if let Some(next) = &shown.next {
                p class="pages" { a class="button" href=(next_page(query, next)) { "Older calls" } }
            }
        }
    }
}

/// Calls in a table.
pub(super) fn table(calls: &[CallRow]) -> Markup {
    html! {
        div class="scroll" {
            table class="calls" {
                thead { tr {
                    th { "When" } th { "What" } th { "Outcome" } th class="number" { "Took" }
                    th { "Caller" }
                } }
                tbody {
                    @for call in calls {
                        tr {
                            td class="nowrap" { a href=(place(&["calls", &call.id])) { (when(&call.created_at)) } }
                            td {
                                (to_server(&call.server)) span class="muted" { " / " }
                                a class="mono" href=(place(&["calls", &call.id])) { (call.target) }
                                @if call.kind != "tool" { " " span class="tag" { (call.kind) } }
                            }
                            td class="nowrap" {
                                (outcome(call.state))
                                @if let Some(reason) = &call.reason {
                                    " " span class="muted small" { (reason) }
                                }
                            }
                            td class="number nowrap" {
                                (call.milliseconds.map_or_else(|| "–".to_owned(), duration))
                            }
                            td class="small muted" { (call.face) " · " (call.caller) }
                        }
                    }
                }
            }
        }
    }
}

/// The address of the next page, with the same filters.
fn next_page(query: &CallQuery, next: &str) -> String {
    let CallQuery { server, outcome, text, limit, .. } = query;
    let limit = limit.map(|limit| limit.to_string());
    let given = [("server", server), ("outcome", outcome), ("text", text), ("limit", &limit)];
    let mut out = format!("/calls?before={next}");
    for (name, value) in given {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            out.push_str(&format!("&{name}={}", place(&[value]).trim_start_matches('/')));
        }
    }
    out
}
