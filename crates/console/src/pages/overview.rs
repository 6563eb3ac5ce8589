//! The first page: what is connected, what waits, and how the last hour was.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::calls::table;
use super::layout::{ConsolePage, ConsoleSection, respond};
use super::parts::{count, empty_state, heading, prose, server_link, state};
use super::quarantine::{quarantined_servers, scan_findings};
use super::{chart, relative_time};
use crate::auth::Principal;
use crate::console::SharedConsole;
use switchboard_views::OverviewShown;

/// The whole at a glance.
pub(crate) async fn overview(
    State(console): State<SharedConsole>,
    Extension(signed): Extension<Principal>,
) -> Response {
    let shown = switchboard_views::overview(&console.host).await;
    let page = shown.map(|shown| ConsolePage {
        title: "Overview".to_owned(),
        section: ConsoleSection::Overview,
        body: body(&shown),
    });
    respond(&console, &signed, page).await
}

fn body(shown: &OverviewShown) -> Markup {
    let waiting = shown.waiting + held_count(shown);
    html! {
        (heading("Overview", &html! { "What is connected, what waits for you, and what happened." }))
        div data-live="overview" {
            @if let Some(why) = &shown.refused {
                p class="note bad" role="alert" { "Calls are refused: " (why) }
            }
            div class="tiles" {
                (tile("Servers", "/servers", &servers_count(shown), &by_state(shown)))
                (tile("Waiting for you", "/reviews", &html! {
                    span class=[(waiting > 0).then_some("attention")] { (waiting) }
                }, &waiting_notice(shown)))
                (tile("Calls, last hour", "/calls", &html! { (shown.hour.calls) }, &html! {
                    (rate(shown)) " a minute"
                }))
                (tile("Errors", "/calls", &html! { (error_share(shown)) }, &html! {
                    (shown.hour.failed) " of " (shown.hour.ended)
                }))
                (tile("Duration", "/calls", &html! { (duration_text(shown.hour.p50_milliseconds)) }, &html! {
                    "99 % within " (duration_text(shown.hour.p99_milliseconds))
                }))
            }
            div class="columns" {
                section class="card" aria-labelledby="per-minute" {
                    h2 id="per-minute" { "Calls per minute" }
                    (chart::calls(&shown.minutes))
                    p class="legend" { span class="key bar" {} "calls" span class="key failed" {} "failed" }
                }
                section class="card" aria-labelledby="durations" {
                    h2 id="durations" { "Duration" }
                    (chart::durations(&shown.minutes))
                    p class="legend" { span class="key bar" {} "median" span class="key slow" {} "99th percentile" }
                }
            }
            @if !shown.held.is_empty() {
                section aria-labelledby="held" {
                    div class="row-heading" {
                        h2 id="held" { "Held until you have looked" }
                        a href="/reviews" { "All reviews" }
                    }
                    (quarantined_servers(&shown.held))
                }
            }
            @if !shown.pinned_unseen.is_empty() { (unseen(shown)) }
            @if !shown.found.is_empty() {
                section class="card" aria-labelledby="findings" {
                    h2 id="findings" { "What the scanner found" }
                    (scan_findings(&shown.found))
                }
            }
            @if !shown.attention.is_empty() { (attention(shown)) }
            section aria-labelledby="newest" {
                div class="row-heading" {
                    h2 id="newest" { "Newest calls" }
                    a href="/calls" { "All calls" }
                }
                @if shown.newest.is_empty() {
                    (empty_state("No calls yet", &html! {
                        "Try one on the " a href="/tools" { "Tools" } " page, or connect a client to "
                        code { "/mcp" } " at this address."
                    }))
                } @else { (table(&shown.newest)) }
            }
        }
    }
}

fn held_count(shown: &OverviewShown) -> usize {
    shown.held.iter().map(|server| server.definitions.len()).sum()
}

fn waiting_notice(shown: &OverviewShown) -> Markup {
    html! {
        @match (shown.waiting, held_count(shown)) {
            (0, 0) => { "nothing waits" },
            (0, held) => { (count(held, "changed definition")) },
            (waiting, 0) => { (count(waiting, "question")) },
            (waiting, held) => { (count(waiting, "question")) ", " (count(held, "changed definition")) },
        }
    }
}

fn tile(label: &str, place: &str, value: &Markup, below: &Markup) -> Markup {
    html! {
        a class="tile" href=(place) {
            span class="tile-label" { (label) }
            span class="tile-value" { (value) }
            span class="tile-below" { (below) }
        }
    }
}

fn servers_count(shown: &OverviewShown) -> Markup {
    let ready = shown.states.get("ready").copied().unwrap_or(0);
    html! { (ready) span class="of" { " / " (shown.servers) } }
}

fn by_state(shown: &OverviewShown) -> Markup {
    let others: Vec<String> = shown
        .states
        .iter()
        .filter(|(word, _)| **word != "ready")
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    html! {
        @if others.is_empty() { "all ready, " (shown.tools) " tools" } @else { (others.join(", ")) }
    }
}

/// What nobody was asked about.
fn unseen(shown: &OverviewShown) -> Markup {
    html! {
        details class="card" {
            summary {
                (count(shown.pinned_unseen.len(), "new server"))
                " pinned as they are: nobody was there to be asked"
            }
            ul class="plain" {
                @for one in &shown.pinned_unseen {
                    li {
                        span class="first" {
                            (server_link(&one.server)) span class="tag" { (count(one.tools, "tool")) }
                        }
                        span class="mono small" { (one.how) }
                        @for finding in &one.findings { span class="small" { (prose(finding)) } }
                    }
                }
            }
        }
    }
}

fn attention(shown: &OverviewShown) -> Markup {
    html! {
        section class="card" aria-labelledby="attention" {
            h2 id="attention" { "Servers that need something" }
            ul class="plain" {
                @for server in &shown.attention {
                    li {
                        span class="first" { (server_link(&server.name)) (state(server.state)) }
                        @if let Some(reason) = &server.reason { span { (prose(reason)) } }
                        @if let Some(step) = &server.next_step {
                            span class="muted" { "Next: " (prose(step)) }
                        }
                    }
                }
            }
        }
    }
}

fn rate(shown: &OverviewShown) -> String {
    let minutes = shown.minutes.len().max(1) as f64;
    format!("{:.1}", shown.hour.calls as f64 / minutes)
}

fn error_share(shown: &OverviewShown) -> String {
    if shown.hour.ended == 0 {
        return "–".to_owned();
    }
    format!("{:.1} %", 100.0 * shown.hour.failed as f64 / shown.hour.ended as f64)
}

fn duration_text(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(|| "–".to_owned(), relative_time::duration)
}
