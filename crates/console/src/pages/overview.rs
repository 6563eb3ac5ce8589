//! The overview page: servers, pending reviews, traffic charts and the newest calls.

use axum::response::Response;
use maud::{Markup, html};
use switchboard_views::{MinuteShown, OverviewShown};

use super::calls::table;
use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{count, empty_state, heading, prose, server_link, state};
use super::quarantine::{quarantined_servers, scan_findings};
use super::relative_time::duration;

pub(crate) async fn overview(asked: PageRequest) -> Response {
    let shown = switchboard_views::overview(&asked.console.host).await;
    let page =
        shown.map(|shown| ConsolePage::new("Overview", ConsoleSection::Overview, body(&shown)));
    asked.respond(page).await
}

fn body(shown: &OverviewShown) -> Markup {
    let waiting = shown.waiting + held_count(shown);
    html! {
        (heading("Overview", &html! { "Servers, pending reviews and recent calls." }))
        div data-live="overview" {
            @if let Some(why) = &shown.refused {
                p class="note bad" role="alert" { "All calls are rejected: " (why) }
            }
            div class="tiles" {
                (tile("Servers", "/servers", &servers_count(shown), &by_state(shown)))
                (tile("Pending reviews", "/reviews", &html! {
                    span class=[(waiting > 0).then_some("attention")] { (waiting) }
                }, &waiting_notice(shown)))
                (tile("Calls, last hour", "/calls", &html! { (shown.hour.calls) }, &html! {
                    (rate(shown)) " per minute"
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
                    (calls_chart(&shown.minutes))
                    p class="legend" { span class="key bar" {} "calls" span class="key failed" {} "failed" }
                }
                section class="card" aria-labelledby="durations" {
                    h2 id="durations" { "Duration" }
                    (durations_chart(&shown.minutes))
                    p class="legend" { span class="key bar" {} "median" span class="key slow" {} "99th percentile" }
                }
            }
            @if !shown.held.is_empty() {
                section aria-labelledby="held" {
                    div class="row-heading" {
                        h2 id="held" { "In quarantine until you approve" }
                        a href="/reviews" { "All reviews" }
                    }
                    (quarantined_servers(&shown.held))
                }
            }
            @if !shown.pinned_unseen.is_empty() { (unseen(shown)) }
            @if !shown.found.is_empty() {
                section class="card" aria-labelledby="findings" {
                    h2 id="findings" { "Scanner findings" }
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
            (0, 0) => { "none" },
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
        .filter(|(word, _)| word.as_str() != "ready")
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    html! {
        @if others.is_empty() { "all ready, " (shown.tools) " tools" } @else { (others.join(", ")) }
    }
}

fn unseen(shown: &OverviewShown) -> Markup {
    html! {
        details class="card" {
            summary {
                (count(shown.pinned_unseen.len(), "new server"))
                " pinned without a review: no person could be asked"
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
            h2 id="attention" { "Servers that need attention" }
            ul class="plain" {
                @for server in &shown.attention {
                    li {
                        span class="first" { (server_link(&server.name)) (state(&server.state)) }
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
    milliseconds.map_or_else(|| "–".to_owned(), duration)
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 72.0;

fn calls_chart(minutes: &[MinuteShown]) -> Markup {
    let most = minutes.iter().map(|minute| minute.calls).max().unwrap_or(0).max(1);
    let step = WIDTH / minutes.len().max(1) as f64;
    let tall = |count: u64| HEIGHT * count as f64 / most as f64;
    html! {
        (figure("Calls per minute in the last hour", html! {
            @for (number, minute) in minutes.iter().enumerate() {
                @let left = number as f64 * step;
                @if minute.calls > 0 {
                    // A single call among thousands is still visible.
                    (bar("bar", left, step, tall(minute.calls).max(2.0)))
                }
                @if minute.failed > 0 {
                    (bar("bar failed", left, step, tall(minute.failed).max(2.0)))
                }
            }
        }))
        (scale(&format!("up to {most} per minute")))
    }
}

fn durations_chart(minutes: &[MinuteShown]) -> Markup {
    let all = minutes.iter().flat_map(|minute| [minute.p50_milliseconds, minute.p99_milliseconds]);
    // Never zero, because the chart divides by it.
    let most = all.flatten().fold(0.1, f64::max);
    let step = WIDTH / minutes.len().max(1) as f64;
    let points = |of: fn(&MinuteShown) -> Option<f64>| {
        let known = minutes.iter().enumerate().filter_map(|(number, minute)| {
            let x = (number as f64 + 0.5) * step;
            let y = HEIGHT - 2.0 - (HEIGHT - 4.0) * of(minute)? / most;
            Some((x, y))
        });
        known.collect::<Vec<_>>()
    };
    html! {
        (figure("Median and 99th percentile of durations in the last hour", html! {
            (line("line slow", &points(|minute| minute.p99_milliseconds)))
            (line("line", &points(|minute| minute.p50_milliseconds)))
        }))
        (scale(&format!("up to {}", duration(most))))
    }
}

fn figure(label: &str, drawing: Markup) -> Markup {
    html! {
        svg class="chart" role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) }
            preserveAspectRatio="none" { (drawing) }
    }
}

fn scale(most: &str) -> Markup {
    html! { div class="scale" { span { "60 min ago" } span { (most) } span { "now" } } }
}

fn bar(class: &str, left: f64, step: f64, height: f64) -> Markup {
    let number = |value: f64| format!("{value:.1}");
    html! {
        rect class=(class) x=(number(left + 0.5)) y=(number(HEIGHT - height))
            width=(number((step - 1.0).max(1.0))) height=(number(height)) {}
    }
}

fn line(class: &str, points: &[(f64, f64)]) -> Markup {
    let written = |(x, y): &(f64, f64)| format!("{x:.1},{y:.1}");
    let mut all: Vec<String> = points.iter().map(written).collect();
    // A line needs two points, so a single one becomes a short stroke.
    if let [(x, y)] = points {
        all.push(written(&(x + 3.0, *y)));
    }
    html! {
        @if !all.is_empty() {
            polyline class=(class) points=(all.join(" ")) vector-effect="non-scaling-stroke" {}
        }
    }
}
