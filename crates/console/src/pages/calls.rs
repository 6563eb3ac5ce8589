//! The list of recorded calls with its filters, and the page of one call.

use axum::extract::{Path, Query};
use axum::response::Response;
use maud::{Markup, html};
use switchboard_core::OutcomeKind;
use switchboard_views::{CallQuery, CallRow, CallShown, CallsShown};

use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{empty_state, heading, json, outcome, page_path, server_link};
use super::relative_time::{duration, when};
use super::result::{outcome_text, result_block};
use super::timeline::timeline;

const TIME_SPANS: [(&str, &str); 5] = [
    ("10m", "Last 10 minutes"),
    ("1h", "Last hour"),
    ("24h", "Last day"),
    ("7d", "Last week"),
    ("30d", "Last 30 days"),
];

pub(crate) async fn calls(asked: PageRequest, Query(query): Query<CallQuery>) -> Response {
    let shown = switchboard_views::calls(&asked.console.host, &query).await;
    let servers = asked.server_names();
    let page = shown.map(|shown| {
        ConsolePage::new("Calls", ConsoleSection::Calls, body(&shown, &servers, &query))
    });
    asked.respond(page).await
}

fn body(shown: &CallsShown, servers: &[String], query: &CallQuery) -> Markup {
    // An older page must not change under the reader when new calls arrive.
    let is_newest = query.before.is_none() && query.until.is_none();
    html! {
        div class="row-heading" {
            (heading("Calls", &html! { "Every recorded call with its caller and outcome." }))
            div class="actions" {
                @if is_newest {
                    button type="button" class="button" data-pause="" aria-pressed="false"
                        title="New calls appear automatically" { "Pause" }
                }
                a class="button" href=(address("/api/v1/calls/export", query, None)) download {
                    "Export as JSON Lines"
                }
            }
        }
        (filters(servers, query))
        div data-live=[is_newest.then_some("calls")] {
            @if shown.calls.is_empty() {
                (empty_state("No matching calls", &html! {
                    a href="/calls" { "Remove the filters" } ", or try a tool on the "
                    a href="/tools" { "Tools" } " page."
                }))
            } @else { (table(&shown.calls)) }
            @if let Some(next) = &shown.next {
                p class="pages" {
                    a class="button" href=(address("/calls", query, Some(("before", next)))) {
                        "Older calls"
                    }
                }
            }
            @if let Some(time) = &shown.looked_back_to {
                p class="pages muted" {
                    "Searched back to " (when(time)) ". "
                    a class="button" data-further="" href=(address("/calls", query, Some(("until", time)))) {
                        "Search further back"
                    }
                }
            }
        }
    }
}

fn filters(servers: &[String], query: &CallQuery) -> Markup {
    let chosen = |given: &Option<String>, value: &str| given.as_deref() == Some(value);
    html! {
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
                span { "Tool" }
                input type="text" name="tool" value=[query.tool.as_deref()] autocomplete="off"
                    spellcheck="false" placeholder="All";
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
            label {
                span { "Caller" }
                input type="text" name="caller" value=[query.caller.as_deref()] autocomplete="off"
                    spellcheck="false" placeholder="All";
            }
            label {
                span { "Time" }
                select name="since" {
                    option value="" { "Any time" }
                    @for (value, label) in TIME_SPANS {
                        option value=(value) selected[chosen(&query.since, value)] { (label) }
                    }
                }
            }
            button type="submit" class="button" { "Filter" }
        }
    }
}

pub(super) fn table(calls: &[CallRow]) -> Markup {
    html! {
        div class="scroll" {
            table class="calls" {
                thead { tr {
                    th { "Time" } th { "Target" } th { "Outcome" }
                    th class="number" { "Duration" } th { "Caller" }
                } }
                tbody {
                    @for call in calls {
                        tr data-key=(call.id) {
                            td class="nowrap" { a href=(page_path(&["calls", &call.id])) { (when(&call.created_at)) } }
                            td {
                                (server_link(&call.server)) span class="muted" { " / " }
                                a class="mono" href=(page_path(&["calls", &call.id])) { (call.target) }
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

/// Returns a URL with the same filters and one more parameter.
fn address(path: &str, query: &CallQuery, more: Option<(&'static str, &str)>) -> String {
    let limit = query.limit.map(|limit| limit.to_string());
    let limit = limit.as_deref().map(|limit| ("limit", limit));
    let given = more.into_iter().chain(query.filters()).chain(limit);
    let pairs: Vec<String> = given
        .map(|(name, value)| format!("{name}={}", page_path(&[value]).trim_start_matches('/')))
        .collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

pub(crate) async fn call(asked: PageRequest, Path(id): Path<String>) -> Response {
    let shown = switchboard_views::call(&asked.console.host, &id).await;
    let page = shown.map(|shown| {
        let title = format!("Call {}", shown.row.id);
        ConsolePage::new(&title, ConsoleSection::Calls, call_body(&shown))
    });
    asked.respond(page).await
}

fn call_body(shown: &CallShown) -> Markup {
    let row = &shown.row;
    html! {
        p class="crumbs" { a href="/calls" { "Calls" } " / " (row.id) }
        div data-live="call" {
            div class="row-heading" {
                h1 class="mono" { (row.target) }
                div class="actions" {
                    (outcome(row.state))
                    // A form and not a link: prefetching a link would repeat the call.
                    form data-call={ "/api/v1" (page_path(&["calls", &row.id])) "/again" }
                        data-into="ran" {
                        button type="submit" class="button" { "Run again" }
                    }
                    @if row.kind == "tool" {
                        a class="button" href=(page_path(&["tools", &row.server, &row.target])) {
                            "Open the tool"
                        }
                    }
                }
            }
            (outcome_text(shown.message.as_deref(), shown.hint.as_deref()))
            div class="columns" {
                section class="card" aria-labelledby="timeline" {
                    h2 id="timeline" { "Timeline" }
                    (timeline(shown))
                }
                section class="card" aria-labelledby="arguments" {
                    h2 id="arguments" { "Arguments" }
                    @if let Some(arguments) = &shown.arguments { (json(arguments.get())) }
                    @if let Some(sent) = &shown.sent_arguments {
                        h3 { "Arguments as sent" }
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
                        "The result is too long to show here. "
                        a href={ "/api/v1" (page_path(&["calls", &row.id, "result"])) } download { "Download it" }
                    }
                } @else { p class="muted" { "No result." } }
                @if let Some(late) = &shown.late_answer {
                    h3 { "Response after the call was cancelled" }
                    (json(late.get()))
                }
            }
        }
    }
}
