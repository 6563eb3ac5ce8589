//! The timeline of a call: proposed, decided, hooks, sent, progress, ended.

use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::Number;
use switchboard_core::{Happened, ShownStep};
use switchboard_views::CallShown;

use super::parts::{prose, server_link};
use super::relative_time::{duration, size, when};

pub(super) fn timeline(shown: &CallShown) -> Markup {
    let row = &shown.row;
    let (before, after) = around_sending(shown);
    // A call with hooks has a step for each decision.
    let is_decision = |step: &ShownStep| matches!(step.what, Happened::Decided { .. });
    let decided = row.verdict.filter(|_| !shown.steps.iter().any(is_decision));
    html! {
        ol class="timeline" {
            li {
                span class="step" { "Proposed" } (when(&row.created_at))
                span class="muted" { "by " (row.caller) ", through " (row.face) ", for " (server_link(&row.server)) }
                @if let Some(reference) = &shown.reference {
                    span class="muted small" { "as " span class="mono" { (reference) } }
                }
            }
            @if let Some(verdict) = decided {
                li {
                    span class="step" { "Decided: " (verdict) }
                    @if let Some(by) = &row.verdict_by { span class="muted" { "by " (prose(by)) } }
                }
            }
            (steps(before, shown))
            @if shown.sent_arguments.is_some() {
                li {
                    span class="step" { "Changed" }
                    span class="muted" { "arguments changed by a hook or a reviewer" }
                }
            }
            @if let Some(sent_at) = &shown.sent_at {
                li {
                    span class="step" { "Sent" } (since(sent_at, since_opened(shown, sent_at)))
                    @if let Some(instance) = &shown.instance {
                        span class="muted" { "to " span class="mono" { (instance) } }
                    }
                    @if shown.attempts > 1 { span class="muted" { (shown.attempts) " attempts" } }
                    @if let Some(fallback) = &shown.fallback { span class="muted" { (fallback) } }
                }
            }
            (steps(after, shown))
            li class=[shown.finished_at.is_none().then_some("open")] {
                @if let Some(finished) = &shown.finished_at {
                    span class="step" { "Ended: " (row.state.replace('_', " ")) } (when(finished))
                } @else { span class="step" { "In flight" } }
                @if let Some(reason) = &row.reason { span class="muted mono" { (reason) } }
                @if let Some(milliseconds) = row.milliseconds {
                    span class="muted" { "after " (duration(milliseconds)) }
                }
                @if let Some(bytes) = row.result_bytes { span class="muted" { (size(bytes)) } }
            }
        }
    }
}

/// Splits the steps at the time when the call was sent.
fn around_sending(shown: &CallShown) -> (&[ShownStep], &[ShownStep]) {
    let time = |text: &str| text.parse::<Timestamp>().ok();
    let Some(sent) = shown.sent_at.as_deref().and_then(time) else { return (&shown.steps, &[]) };
    let is_before = |step: &ShownStep| time(&step.at).is_some_and(|at| at <= sent);
    // Steps are stored in order of time, but the sending is not one of them.
    let place = shown.steps.partition_point(is_before);
    shown.steps.split_at_checked(place).unwrap_or((&shown.steps, &[]))
}

fn since_opened(shown: &CallShown, at: &str) -> f64 {
    let time = |text: &str| text.parse::<Timestamp>().unwrap_or_default();
    time(at).duration_since(time(&shown.row.created_at)).as_secs_f64() * 1_000.0
}

/// Renders the time since the call was opened, with the exact time as its title.
fn since(at: &str, milliseconds: f64) -> Markup {
    let exact = at.parse::<Timestamp>().ok();
    let exact = exact.map(|at| at.strftime("%Y-%m-%d %H:%M:%S%.3f UTC").to_string());
    html! { span class="at" title=[exact] { "+" (duration(milliseconds.max(0.0))) } }
}

/// Renders steps in order. Consecutive progress reports are grouped.
fn steps(steps: &[ShownStep], shown: &CallShown) -> Markup {
    let is_progress = |step: &ShownStep| matches!(step.what, Happened::Progress { .. });
    let chunks = steps.chunk_by(|one, next| is_progress(one) && is_progress(next));
    html! {
        @for chunk in chunks {
            @if chunk.iter().all(is_progress) { (progress(chunk, shown.progress_reports)) }
            // `chunk_by` keeps every other step in a chunk of its own.
            @else { @for step in chunk { (single(step)) } }
        }
    }
}

fn single(step: &ShownStep) -> Markup {
    let at = since(&step.at, step.after_milliseconds);
    let took = step.milliseconds.map(duration);
    match &step.what {
        Happened::Decided { verdict, by } => html! {
            li {
                span class="step" { "Decided: " (verdict) } (at)
                span class="muted" { "by " (prose(by)) }
            }
        },
        Happened::Hook { hook, level, when, answer, problem, message } => html! {
            li class="minor" {
                span class="step" {
                    "Hook " (if when.starts_with("after") { "after" } else { "before" }) ": " (answer)
                }
                (at)
                span class="muted" {
                    code { (hook) } " (" (level) ")"
                    @if let Some(took) = took { ", took " (took) }
                }
                @for said in [problem, message].into_iter().flatten() { span class="words" { (said) } }
            }
        },
        Happened::Asked { method, message, answer } => html! {
            li class="minor" {
                span class="step" { "Server request" } (at)
                span class="muted mono" { (method) }
                @if let Some(message) = message { span class="words" { (message) } }
                span class="muted" {
                    @if let Some(answer) = answer { "answer: " (answer) } @else { "no answer" }
                    @if let Some(took) = took { ", after " (took) }
                }
            }
        },
        Happened::Said { level, text, .. } => html! {
            li class="minor" {
                span class="step" { "Server log" } (at) span class="tag" { (level) }
                span class="words" { (text) }
            }
        },
        Happened::Task { status, message, .. } => html! {
            li class="minor" {
                span class="step" { "Task: " (status.replace('_', " ")) } (at)
                @if let Some(message) = message { span class="words" { (message) } }
            }
        },
        // `steps` groups these before it calls this function.
        Happened::Progress { .. } => progress(std::slice::from_ref(step), 1),
    }
}

fn progress(steps: &[ShownStep], reports: u64) -> Markup {
    let kept = steps.len();
    html! {
        li class="minor" {
            span class="step" { "Progress" }
            @if let Some(first) = steps.first() { (since(&first.at, first.after_milliseconds)) }
            span class="muted" {
                @if reports == 1 { "one report" }
                @else if u64::try_from(kept).is_ok_and(|kept| kept < reports) {
                    (kept) " of " (reports) " reports"
                } @else { (reports) " reports" }
            }
            ol class="reports" {
                @for step in steps {
                    @if let Happened::Progress { number, progress, total, message } = &step.what {
                        li title={ "report " (number) } {
                            (since(&step.at, step.after_milliseconds))
                            span class="far" { (progress_text(progress, total.as_ref())) }
                            @if let Some(message) = message { span class="words" { (message) } }
                        }
                    }
                }
            }
        }
    }
}

/// Formats a progress report in the server's own units.
fn progress_text(progress: &Number, total: Option<&Number>) -> String {
    match total {
        Some(total) => format!("{progress} of {total}"),
        None => progress.to_string(),
    }
}
