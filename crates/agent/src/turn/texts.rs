//! What the machine tells the model in words of its own.

use crate::turn::input::{TurnCall, TurnCallKind};

/// Ends what a model had said when it was interrupted.
pub(crate) const INTERRUPTED: &str = "\n\n[The user interrupted this answer.]";
/// What a call is told that came after one that a person turned down.
pub(crate) const AFTER_REJECTION: &str =
    "Not run, because the user turned down an earlier call of the same message.";
/// What a call is told that was given up before it began.
pub(crate) const CANCELLED: &str = "Not run: the user stopped this step.";
/// What a call is told that was under way where a conversation was forked.
pub(crate) const FORKED: &str = "Not run here: this conversation was copied from another one while this \
                          call was under way there, where it may have run. Find out before you ask \
                          for it again.";
/// What a call is told when too many before it ran without a question.
pub(crate) const TOO_MANY_UNASKED: &str = "Not run: too many calls in a row ran without a question. Ask \
                                    for this again if it is still needed.";
/// What a call is told when only one may run.
pub(crate) const ONE_AT_A_TIME: &str = "Not run: only one call per message is made here. Read the result \
                                 of the first one, then ask for this again if it is still needed.";

/// Says whose words follow.
#[must_use]
pub(crate) fn origin_note(origin: &str) -> String {
    format!("[Data from `{origin}`:]")
}

/// What a model is told when it makes the same call again.
#[must_use]
pub(crate) fn repeat_note(times: u32) -> String {
    format!(
        "[This is the same call with the same arguments for the {} time in a row. If the result \
         does not help, do something else or tell the user.]",
        ordinal(times)
    )
}

/// What a model is told when it has made the same call too often.
#[must_use]
pub(crate) fn repeat_limit_note(times: u32) -> String {
    format!(
        "Not run: the same call with the same arguments was asked for {times} times in a row. \
         Another time gives nothing new; do something else or tell the user what is in the way."
    )
}

/// A result for a model that reads results as text: with what it is the result of.
#[must_use]
pub(crate) fn labelled_result(asked: &TurnCall, text: &str) -> String {
    match &asked.what {
        TurnCallKind::Call { server, target, .. } => {
            let fenced = fence(text);
            format!("[{} of `{target}` on server `{server}`] Result:\n{fenced}", asked.name)
        }
        TurnCallKind::Own => format!("[{}] Result:\n{}", asked.name, fence(text)),
        TurnCallKind::Mistake { .. } => format!("[{}] {text}", asked.name),
    }
}

/// What stands at the beginning of a conversation whose beginning was cut.
#[must_use]
pub(crate) fn summary(summary: &str, handle: Option<&str>) -> String {
    let whole = handle.map_or_else(String::new, |handle| {
        format!("\n\n[The whole of it can be read with `read_result`, result `{handle}`.]")
    });
    format!(
        "[The beginning of this conversation was cut to make room. What it was about:]\n\n\
         {summary}{whole}"
    )
}

/// The text of a server between fences that it does not hold itself, so that its end is plain.
#[must_use]
pub(crate) fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{line_end}{fence}")
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}
