//! Answers with what the script says goes wrong before anything of the answer is sent.

use super::problem::{VendorProblem, VendorProblemKind};
use super::script::FaultKind;
use super::vendor::FixtureVendor;
use super::wire;
use crate::http::FixtureReply;

/// Nothing when the fault strikes later, inside the answer.
pub(crate) fn fault_reply(vendor: FixtureVendor, fault: &FaultKind) -> Option<FixtureReply> {
    match fault {
        FaultKind::Status { status, retry_after, body } => {
            let seconds = retry_after.as_ref().and_then(|after| after.parse().ok());
            let kind = VendorProblemKind::Scripted(*status, seconds);
            let problem =
                VendorProblem::new(kind, format!("the script answers with status {status}"));
            let mut reply = vendor.refusal(&problem);
            if let Some(body) = body {
                reply = FixtureReply::json(*status, body.clone());
            }
            Some(match retry_after {
                Some(after) => reply.with("retry-after", after),
                None => reply,
            })
        }
        FaultKind::Html => Some(wire::page()),
        FaultKind::Cut(_)
        | FaultKind::Malformed(_)
        | FaultKind::Silent(_)
        | FaultKind::Error(_) => None,
    }
}
