//! One call as a timeline: what happened to it, in order, with the time since it was opened.

use switchboard_core::{Happened, OutcomeKind, ShownStep};
use switchboard_store::FullCall;
use switchboard_text::escape_line;

/// The steps of a call, a line for each.
pub(crate) fn lines(call: &FullCall) -> Vec<String> {
    let summary = &call.summary;
    let timeline = call.timeline.clone().unwrap_or_default();
    let all = timeline.step_views(summary.created_at);
    let opened = summary.created_at;
    let sent = call.intent_at.map(|at| at.duration_since(opened).as_secs_f64() * 1_000.0);
    let ended = call.finished_at.map(|at| at.duration_since(opened).as_secs_f64() * 1_000.0);
    let is_before = |step: &ShownStep| sent.is_none_or(|sent| step.after_milliseconds <= sent);
    let (before, after) = all.split_at_checked(all.partition_point(is_before)).unwrap_or_default();
    let of_step = |step: &ShownStep| line(Some(step.after_milliseconds), &sentence(step));

    let mut lines = Vec::with_capacity(all.len() + 5);
    let proposed = format!("proposed by {} through {}", summary.caller, summary.face);
    lines.push(line(Some(0.0), &proposed));
    // Where hooks were asked, each decision has a step of its own.
    let is_decision = |step: &ShownStep| matches!(step.what, Happened::Decided { .. });
    if let Some((verdict, by)) = summary.verdict.as_ref().filter(|_| !all.iter().any(is_decision)) {
        lines.push(line(None, &format!("decided: {} by {by}", verdict.as_str())));
    }
    lines.extend(before.iter().map(of_step));
    if sent.is_some() {
        let to = call.instance.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
        let attempts = match call.attempts {
            0 | 1 => String::new(),
            more => format!(", {more} attempts"),
        };
        lines.push(line(sent, &format!("sent{to}{attempts}")));
    }
    lines.extend(after.iter().map(of_step));
    lines.push(match summary.outcome.map(OutcomeKind::as_str) {
        Some(outcome) => line(ended, &format!("ended: {outcome}")),
        None => line(None, "under way"),
    });
    let is_progress = |step: &&ShownStep| matches!(step.what, Happened::Progress { .. });
    let kept = all.iter().filter(is_progress).count();
    let reports = timeline.progress_reports();
    if u64::try_from(kept).is_ok_and(|kept| kept < reports) {
        lines.push(line(None, &format!("({kept} of {reports} reports of progress are kept)")));
    }
    lines
}

fn line(after: Option<f64>, text: &str) -> String {
    let time = after.map(|after| format!("+{}", milliseconds(after.max(0.0)))).unwrap_or_default();
    format!("{time:>12}  {}", escape_line(text))
}

fn sentence(step: &ShownStep) -> String {
    let took = step.milliseconds.map(|took| format!(" ({})", milliseconds(took)));
    let took = took.unwrap_or_default();
    let words =
        |text: &Option<String>| text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    match &step.what {
        Happened::Decided { verdict, by } => format!("decided: {verdict} by {by}"),
        Happened::Hook { hook, level, when, answer, problem, message } => {
            let when = if when.starts_with("after") { "after" } else { "before" };
            let problem = words(problem);
            let message = words(message);
            format!("hook {when} `{hook}` ({level}): {answer}{problem}{message}{took}")
        }
        Happened::Asked { method, message, answer } => {
            let answer = answer.as_deref().unwrap_or("no answer");
            format!("the server asked `{method}`{}: {answer}{took}", words(message))
        }
        Happened::Progress { progress, total, message, .. } => {
            let total = total.as_ref().map(|total| format!(" of {total}")).unwrap_or_default();
            format!("progress {progress}{total}{}", words(message))
        }
        Happened::Said { level, text, .. } => format!("the server said ({level}): {text}"),
        Happened::Task { status, message, .. } => {
            format!("task {status}{}", words(message))
        }
    }
}

fn milliseconds(time: f64) -> String {
    match time {
        ..1_000.0 => format!("{time:.1} ms"),
        _ => format!("{:.2} s", time / 1_000.0),
    }
}
