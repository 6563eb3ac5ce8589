//! Reports the outcome of a call to the model.

use switchboard_core::{Outcome, OutcomeKind, Reply};
use switchboard_prompting::{Image, ModelContent, Vision, for_model, strip_smuggled};
use switchboard_store::VerdictWord;
use switchboard_text::truncate_middle;

use crate::own_tools::lines;
use crate::turn::{CallEnd, CallKind, Consent};

/// Reasons of `not_sent` that count as mistakes of the model.
const MISTAKES: [&str; 4] = ["unknown_server", "not_listed", "bad_arguments", "not_an_object"];

/// The facts that a report is built from.
pub(crate) struct CallFacts<'a> {
    pub(crate) outcome: &'a Outcome,
    pub(crate) wanted: CallKind,
    pub(crate) verdict: Option<VerdictWord>,
    pub(crate) call: Option<String>,
    pub(crate) milliseconds: u64,
    /// The arguments with which a person replaced the model's.
    pub(crate) edited: Option<String>,
}

/// The report to the model, and the full text (`whole`) if the report truncates it.
pub(crate) struct ModelReport {
    pub(crate) ended: CallEnd,
    pub(crate) whole: Option<String>,
}

/// Reports a call to the model, with at most `limit` bytes of its result.
pub(crate) fn report_call(known: &CallFacts<'_>, limit: usize, handle: &str) -> ModelReport {
    let outcome = known.outcome;
    let (mut text, images) = outcome_text(outcome, known.wanted);
    let mut whole = None;
    if let Some(short) = truncate_middle(&text, limit) {
        let first = lines(short.head).count();
        let last = lines(&text).count();
        let cut = format!(
            "{}\n\n[{} of {} bytes omitted here, after line {first} of {last}. Continue with \
             `read_result`, result `{handle}`, from line {first}.]\n\n{}",
            short.head, short.omitted_bytes, short.total_bytes, short.tail
        );
        whole = Some(std::mem::replace(&mut text, cut));
    }
    if let Some(arguments) = &known.edited {
        text = format!("[The user changed the arguments to {arguments}.]\n\n{text}");
    }
    let ended = CallEnd {
        outcome: outcome.kind,
        text,
        origin: None,
        images,
        consent: match known.verdict {
            // A denied call was not approved, even if its verdict was `ask`.
            _ if outcome.kind == OutcomeKind::Denied => Consent::NotNeeded,
            Some(VerdictWord::Allow) => Consent::Rule,
            Some(VerdictWord::Ask) => Consent::Person,
            Some(VerdictWord::Deny) | None => Consent::NotNeeded,
        },
        mistake: outcome.kind == OutcomeKind::NotSent
            && outcome.reason.as_deref().is_some_and(|reason| MISTAKES.contains(&reason)),
        call: known.call.clone(),
        milliseconds: known.milliseconds,
    };
    ModelReport { ended, whole }
}

fn outcome_text(outcome: &Outcome, wanted: CallKind) -> (String, Vec<Image>) {
    let message = outcome.message.as_deref().unwrap_or("no reason was given");
    // Hints that name commands or settings help a person, not a model.
    let hint = outcome.hint.as_deref().filter(|_| outcome.kind != OutcomeKind::Denied);
    let hint = hint.filter(|hint| !hint.contains("`switchboard "));
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    let is_hook = outcome.reason.as_deref() == Some("hook");
    let mut text = match outcome.kind {
        OutcomeKind::Denied if is_hook => format!(
            "Not run, because it is not allowed: {message}. Do not try to achieve the same in \
             another way."
        ),
        OutcomeKind::Ok | OutcomeKind::ToolError => return result(outcome, wanted),
        // Invalid output is withheld from the model; a person finds it in the record.
        OutcomeKind::InvalidOutput => format!(
            "The call ran, but its result is withheld from you: {message}.{hint} The user can see \
             it in the record. Do not call it again for that alone."
        ),
        OutcomeKind::Rejected => rejection_text(outcome.message.as_deref()),
        OutcomeKind::Denied => format!("Not run, because it is not allowed: {message}.{hint}"),
        OutcomeKind::NotSent => format!("Nothing was called: {message}.{hint}"),
        OutcomeKind::Refused => {
            format!("The server refused the call and did not run it: {message}.{hint}")
        }
        OutcomeKind::Failed => format!("The call failed: {message}.{hint}"),
        OutcomeKind::Unknown => format!(
            "It is not known whether this ran: {message}. If it changes something, find out what \
             happened before you try it again."
        ),
        OutcomeKind::Cancelled => {
            format!("Cancelled before it ended: {message}. It may have run in part, or not at all.")
        }
    };
    // Error messages come from the server too, so they are sanitized; a person's words are not.
    if outcome.kind != OutcomeKind::Rejected {
        let removed = strip_smuggled(&mut text);
        text = with_hidden_note(text, removed);
    }
    (text, Vec::new())
}

fn with_hidden_note(text: String, hidden_removed: usize) -> String {
    if hidden_removed == 0 {
        return text;
    }
    format!("[{hidden_removed} hidden characters were removed.]\n\n{text}")
}

fn result(outcome: &Outcome, wanted: CallKind) -> (String, Vec<Image>) {
    let bytes = outcome.result.clone().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let reply = match wanted {
        CallKind::Tool => Reply::from_json(&text),
        CallKind::Resource => Reply::from_resource_json(&text),
    };
    let ModelContent { text, images, hidden_removed } = match reply {
        // Keep the images even for a text-only model: a later model may accept them.
        Ok(reply) => for_model(&reply, Vision::Yes),
        Err(problem) => ModelContent {
            text: format!("The result cannot be read: {problem}."),
            ..Default::default()
        },
    };
    (with_hidden_note(text, hidden_removed), images)
}

fn rejection_text(feedback: Option<&str>) -> String {
    match feedback.map(str::trim).filter(|feedback| !feedback.is_empty()) {
        None => "The user rejected this call.".to_owned(),
        Some(feedback) => format!(
            "The user rejected this call and says what to do instead:\n\
             <feedback>\n{feedback}\n</feedback>"
        ),
    }
}
