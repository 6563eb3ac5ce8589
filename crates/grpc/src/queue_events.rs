//! Converts entries of the review queue to events of the schema.

use switchboard_store::{AskMatter, AskedFor, Matter, QueueEntry, QueuedQuestion, ReviewMatter};

use crate::generated::v1::host_event::Event;
use crate::generated::v1::{
    ElicitationRequest, McpToolHumanReviewOption as Choice, McpToolReview, McpToolReviewStatus,
};
use crate::values::parse_struct;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventRecipient {
    /// May also decide about later calls.
    Owner,
    /// May decide only about this call.
    Guest,
    Lease,
}

pub(crate) fn queue_event(entry: &QueueEntry, to: EventRecipient) -> Event {
    match &entry.asked.matter {
        Matter::Review(matter) => Event::Review(review(entry, matter, to)),
        Matter::Ask(matter) if to == EventRecipient::Lease => {
            Event::LeaseElicitation(elicitation(entry, matter))
        }
        Matter::Ask(matter) => Event::Elicitation(elicitation(entry, matter)),
    }
}

fn review(entry: &QueueEntry, matter: &ReviewMatter, to: EventRecipient) -> McpToolReview {
    let mut options = vec![Choice::Run, Choice::Skip, Choice::RejectAndTellWhatToDoDifferently];
    if matter.is_tool() && to == EventRecipient::Owner {
        options.push(Choice::AllowlistTool);
    }
    let (tool_call_id, call_id) = call_ids(&entry.asked);
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
        // An Enter key that was meant for something else must not run the call.
        selected_option: Choice::RejectAndTellWhatToDoDifferently.into(),
        reason: matter.why.clone(),
        problem: matter.problem.clone(),
        tool_call_id,
        call_id,
        caller: entry.asked.caller.clone().unwrap_or_default(),
        expires_at_ms: entry.expires_at.as_millisecond(),
    }
}

fn elicitation(entry: &QueueEntry, matter: &AskMatter) -> ElicitationRequest {
    let (tool_call_id, call_id) = call_ids(&entry.asked);
    let request = ElicitationRequest {
        id: entry.id.clone(),
        digest: entry.digest.clone(),
        message: matter.message.clone(),
        server_identifier: matter.server.clone(),
        tool_call_id,
        call_id,
        mode: entry.asked.matter.word().to_owned(),
        tool_name: matter.tool.clone().unwrap_or_default(),
        expires_at_ms: entry.expires_at.as_millisecond(),
        ..ElicitationRequest::default()
    };
    match &matter.wanted {
        AskedFor::Form { schema } => ElicitationRequest {
            // A `Struct` loses the order of the fields, which the text keeps.
            requested_schema: parse_struct(schema),
            requested_schema_json: schema.clone(),
            ..request
        },
        AskedFor::Url { url } => ElicitationRequest { url: url.clone(), ..request },
        AskedFor::Consent { details, .. } => {
            ElicitationRequest { details_json: details.to_string(), ..request }
        }
    }
}

fn call_ids(asked: &QueuedQuestion) -> (String, String) {
    (asked.reference.clone().unwrap_or_default(), asked.call.clone().unwrap_or_default())
}
