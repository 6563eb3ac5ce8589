//! A recorded call as rules see it, to be decided once more.

use switchboard_core::{Caller, Target};
use switchboard_policy::PastCall;
use switchboard_store::FullCall;
use switchboard_trust::PinnedAnnotations;

/// Returns the rules' view of a recorded call, with its server's annotations of the tool.
#[must_use]
pub fn past_call(recorded: &FullCall, annotations: &PinnedAnnotations) -> PastCall {
    let summary = &recorded.summary;
    let bytes = recorded.sent_arguments.as_ref().unwrap_or(&recorded.arguments);
    let target = Target::new(summary.kind, &summary.server, &summary.target);
    PastCall {
        annotations: annotations.get(&target).map(str::to_owned),
        target,
        arguments: String::from_utf8_lossy(bytes).into_owned(),
        caller: Caller::from_record(&summary.face, &summary.caller, recorded.reference.clone()),
        was_sent: recorded.intent_at.is_some(),
    }
}
