//! Texts that the state machine adds for the model.

use crate::turn::input::{TurnCall, TurnCallKind};

/// The note that ends an interrupted answer.
pub(crate) const INTERRUPTED: &str = "\n\n[The user interrupted this answer.]";
/// The result of a call after one that the user rejected.
pub(crate) const AFTER_REJECTION: &str =
    "Not run, because the user rejected an earlier call of the same message.";
/// The result of a call that was cancelled before it started.
pub(crate) const CANCELLED: &str = "Not run: the user stopped this step.";
/// The result of a call that was running where the conversation was forked.
pub(crate) const FORKED: &str = "Not run here: this conversation was copied from another, where \
                          this call was running, so it may have run. Find out before you \
                          request it again.";
/// The result of a call after too many calls without approval by a person.
pub(crate) const TOO_MANY_UNASKED: &str = "Not run: too many calls in a row ran without approval \
                                    by the user. Request it again if it is still needed.";
/// The result of a further call if only one per message may run.
pub(crate) const ONE_AT_A_TIME: &str = "Not run: only one call per message is allowed here. Read \
                                 the result of the first one, then request this again if needed.";

/// Returns the label for text from a server.
pub(crate) fn origin_note(origin: &str) -> String {
    format!("[Data from `{origin}`:]")
}

/// Returns the warning for a repeated call.
pub(crate) fn repeat_note(times: u32) -> String {
    format!(
        "[This is the same call with the same arguments for the {} time in a row. If the result \
         does not help, try something else or tell the user.]",
        ordinal(times)
    )
}

/// Returns the result of a call that was repeated too often.
pub(crate) fn repeat_limit_note(times: u32) -> String {
    format!(
        "Not run: the same call with the same arguments was requested {times} times in a row. \
         Its result will not change; try something else or tell the user what blocks you."
    )
}

/// Formats a result for a model that reads results as text, with the call it belongs to.
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

/// Formats the summary that replaces the beginning of a conversation.
pub(crate) fn summary(summary: &str, handle: Option<&str>) -> String {
    let whole = handle.map_or_else(String::new, |handle| {
        format!("\n\n[Read the full text with `read_result`, result `{handle}`.]")
    });
    format!(
        "[The beginning of this conversation was replaced with this summary:]\n\n\
         {summary}{whole}"
    )
}

/// Fences a server's text with more backticks than it contains, so that it cannot end the fence.
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
