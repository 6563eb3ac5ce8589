//! Small charts of the last hour, drawn on the server.

use maud::{Markup, html};

use switchboard_views::MinuteShown;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 72.0;

/// Calls by minute as bars, with those that failed in another colour.
pub(super) fn calls(minutes: &[MinuteShown]) -> Markup {
    let most = minutes.iter().map(|minute| minute.calls).max().unwrap_or(0).max(1);
    let step = WIDTH / minutes.len().max(1) as f64;
    let tall = |count: u64| HEIGHT * count as f64 / most as f64;
    html! {
        (figure("Calls per minute in the last hour", html! {
            @for (number, minute) in minutes.iter().enumerate() {
                @let left = number as f64 * step;
                @if minute.calls > 0 {
                    (bar("bar", left, step, tall(minute.calls).max(2.0)))
                }
                @if minute.failed > 0 {
                    (bar("bar failed", left, step, tall(minute.failed).max(2.0)))
                }
            }
        }))
        (scale(&format!("{most} per minute at most")))
    }
}

/// How long calls took, minute by minute: the median and the slowest but one in a hundred.
pub(super) fn durations(minutes: &[MinuteShown]) -> Markup {
    let all = minutes.iter().flat_map(|minute| [minute.p50_milliseconds, minute.p99_milliseconds]);
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
        (scale(&format!("{} at most", super::relative_time::duration(most))))
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

/// A line through the points; a point by itself is a short stroke.
fn line(class: &str, points: &[(f64, f64)]) -> Markup {
    let written = |(x, y): &(f64, f64)| format!("{x:.1},{y:.1}");
    let mut all: Vec<String> = points.iter().map(written).collect();
    if let [(x, y)] = points {
        all.push(written(&(x + 3.0, *y)));
    }
    html! {
        @if !all.is_empty() {
            polyline class=(class) points=(all.join(" ")) vector-effect="non-scaling-stroke" {}
        }
    }
}
