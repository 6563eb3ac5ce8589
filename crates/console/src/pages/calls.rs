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

/// Choices of the time filter.
const TIME_SPANS: [(&str, &str); 5] = [
    ("10m", "10 minutes"),
    ("1h", "An hour"),
    ("24h", "A day"),
    ("7d", "A week"),
    ("30d", "30 days"),
];

pub(crate) async fn calls(asked: PageRequest, Query(query): Query<CallQuery>) -> Response {
    let shown = switchboard_views::calls(&asked.console.host, &query).await;
    let servers = asked.server_names();
    let page = shown.map(|shown| ConsolePage {
        title: "Calls".to_owned(),
        section: ConsoleSection::Calls,
        body: body(&shown, &servers, &query),
    });
    asked.respond(page).await
}

fn body(shown: &CallsShown, servers: &[String], query: &CallQuery) -> Markup {
    let is_newest = query.before.is_none() && query.until.is_none();
    html! {
        div class="row-heading" {
            (heading("Calls", &html! { "Everything that was called, by whom, and how it ended." }))
            div class="actions" {
                @if is_newest {
                    button type="button" class="button" data-pause="" aria-pressed="false"
                        title="New calls appear by themselves" { "Pause" }
                }
                a class="button" href=(address("/api/v1/calls/export", query, None)) download {
                    "Export as JSON Lines"
                }
            }
        }
        (filters(servers, query))
        div data-live=[is_newest.then_some("calls")] {
            @if shown.calls.is_empty() {
                (empty_state("No calls here", &html! {
                    "Nothing that was called fits. " a href="/calls" { "Show all" }
                    ", or try a tool on the " a href="/tools" { "Tools" } " page."
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
                    "Looked at the calls back to " (when(time)) ". "
                    a class="button" data-further="" href=(address("/calls", query, Some(("until", time)))) {
                        "Look further back"
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
                    option value="" { "Ever" }
                    @for (value, label) in TIME_SPANS {
                        option value=(value) selected[chosen(&query.since, value)] { (label) }
                    }
                }
            }
            button type="submit" class="button" { "Filter" }
        }
    }
}

/// Renders calls as a table.
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
    let page = shown.map(|shown| ConsolePage {
        title: format!("Call {}", shown.row.id),
        section: ConsoleSection::Calls,
        body: call_body(&shown),
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
