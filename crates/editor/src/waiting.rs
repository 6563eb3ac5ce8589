//! What waits for a person, in the words of the schema.

use jiff::Timestamp;
use switchboard_store::{AskMatter, Asked, AskedFor, Entry, Matter, ReviewMatter};

use crate::generated::v1::host_event::Event;
use crate::generated::v1::{
    ElicitationRequest, McpToolHumanReviewOption as Choice, McpToolReview, McpToolReviewStatus,
};
use crate::values::struct_of;

/// To whom it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listener {
    /// Who may decide for later calls as well.
    Owner,
    /// Who may decide about this call.
    Guest,
    /// One stream alone.
    Lease,
}

/// An entry as an event.
pub(crate) fn event(entry: &Entry, to: Listener) -> Event {
    match &entry.asked.matter {
        Matter::Review(matter) => Event::Review(review(entry, matter, to)),
        Matter::Ask(matter) if to == Listener::Lease => {
            Event::LeaseElicitation(elicitation(entry, matter))
        }
        Matter::Ask(matter) => Event::Elicitation(elicitation(entry, matter)),
    }
}

fn review(entry: &Entry, matter: &ReviewMatter, to: Listener) -> McpToolReview {
    let mut options = vec![Choice::Run, Choice::Skip, Choice::RejectAndTellWhatToDoDifferently];
    if matter.is_tool() && to == Listener::Owner {
        options.push(Choice::AllowlistTool);
    }
    let (tool_call_id, call_id) = call_of(&entry.asked);
    McpToolReview {
        id: entry.id.clone(),
        digest: entry.digest.clone(),
        header: format!("Run {} on {}?", matter.target, matter.server),
        server_name: matter.server.clone(),
        tool_name: matter.target.clone(),
        kind: matter.kind.clone(),
        arguments: matter.arguments.clone(),
        options: options.into_iter().map(i32::from).collect(),
        status: McpToolReviewStatus::Requested.into(),
        selected_option: Choice::RejectAndTellWhatToDoDifferently.into(),
        reason: matter.why.clone(),
        problem: matter.problem.clone(),
        tool_call_id,
        call_id,
        caller: entry.asked.caller.clone().unwrap_or_default(),
        expires_at_ms: milliseconds(entry.expires_at),
    }
}

fn elicitation(entry: &Entry, matter: &AskMatter) -> ElicitationRequest {
    let (tool_call_id, call_id) = call_of(&entry.asked);
    let request = ElicitationRequest {
        id: entry.id.clone(),
        digest: entry.digest.clone(),
        message: matter.message.clone(),
        server_identifier: matter.server.clone(),
        tool_call_id,
        call_id,
        mode: entry.asked.matter.word().to_owned(),
        tool_name: matter.tool.clone().unwrap_or_default(),
        expires_at_ms: milliseconds(entry.expires_at),
        ..ElicitationRequest::default()
    };
    match &matter.wanted {
        AskedFor::Form { schema } => ElicitationRequest {
            requested_schema: struct_of(schema),
            requested_schema_json: schema.clone(),
            ..request
        },
        AskedFor::Url { url } => ElicitationRequest { url: url.clone(), ..request },
        AskedFor::Consent { details, .. } => {
            ElicitationRequest { details_json: details.to_string(), ..request }
        }
    }
}

fn call_of(asked: &Asked) -> (String, String) {
    (asked.reference.clone().unwrap_or_default(), asked.call.clone().unwrap_or_default())
}

fn milliseconds(time: Timestamp) -> i64 {
    time.as_millisecond()
}
