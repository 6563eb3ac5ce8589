//! Calls in the host's pipeline, cancelled with the request that made them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use switchboard_catalog::Lease;
use switchboard_core::{Caller, Face, Origin, ProposedCall};
use switchboard_host::CallOptions;
use switchboard_store::Record;
use switchboard_text::excerpt_text;
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tonic::Status;

use crate::access::AuthorizedCaller;
use crate::generated::v1::CallProgress;
use crate::generated::v1::host_event::Event;
use crate::grpc_service::GrpcService;
use crate::hub::EventAudience;
use crate::stream_reviewer::{ElicitationTarget, StreamReviewer};

/// Maximum length of a call's reference, in characters.
const MAX_NAME_CHARS: usize = 200;

static NEXT_CALL_ID: AtomicU64 = AtomicU64::new(1);

#[derive(Clone, Debug, Default)]
pub(crate) struct CallRunOptions {
    pub(crate) tool_call_id: String,
    pub(crate) limit: Option<Duration>,
    /// The only stream that receives the server's elicitations.
    pub(crate) lease: Option<ElicitationTarget>,
}

impl GrpcService {
    /// Runs a call to its end. Dropping the future cancels the call.
    pub(crate) async fn run(
        &self,
        visitor: &AuthorizedCaller,
        lease: Lease,
        proposed: ProposedCall,
        how: CallRunOptions,
    ) -> Result<Record, Status> {
        // Held by the task below and not by this future: a cancelled call counts until it has ended.
        let pass = self.reserve_slot(visitor)?;
        let reference = record_reference(&how.tool_call_id);
        let caller = Caller {
            face: Face::Editor,
            origin: Origin::Client,
            name: visitor.name.to_string(),
            reference: Some(reference.clone()),
        };
        let under_way = self.inner.hub.register_call(&reference);
        let desk = StreamReviewer::new(&self.inner.hub, visitor, how.lease);
        let (reports, progress) = mpsc::channel(16);
        // A child, so that one timeout does not cancel all calls of the caller.
        let cancel = pass.revoked().child_token();
        let attention = CallOptions {
            cancel: cancel.clone(),
            progress: Some(reports),
            answers: Some(desk.answers(self.host())),
            reviewer: Some(desk),
            ..CallOptions::default()
        };
        self.forward_progress(progress, visitor, &how.tool_call_id);
        let host = self.host().clone();
        // Spawned, so that the end of a cancelled call is still recorded.
        let mut call = self.inner.tasks.spawn(async move {
            let record = host.call_with(&lease, proposed, &caller, &attention).await;
            drop((under_way, pass));
            record
        });
        // Cancels the call if this future is dropped.
        let given_up = cancel.clone().drop_guard();
        let ended = match how.limit {
            None => call.await,
            Some(limit) => match tokio::time::timeout(limit, &mut call).await {
                Ok(ended) => ended,
                Err(_) => {
                    cancel.cancel();
                    // Its record says whether the request was sent before the timeout.
                    call.await
                }
            },
        };
        drop(given_up);
        ended.map_err(|error| Status::internal(format!("the call failed internally: {error}")))
    }

    fn forward_progress(
        &self,
        mut reports: mpsc::Receiver<Json>,
        visitor: &AuthorizedCaller,
        tool_call_id: &str,
    ) {
        #[derive(Deserialize)]
        struct ProgressReport {
            progress: f64,
            total: Option<f64>,
            message: Option<String>,
        }
        let hub = Arc::clone(&self.inner.hub);
        let audience = EventAudience::Visitor(Arc::clone(&visitor.identity));
        let tool_call_id = tool_call_id.to_owned();
        self.inner.tasks.spawn(async move {
            while let Some(report) = reports.recv().await {
                // A server may report anything; a report without numbers has no form here.
                let Ok(ProgressReport { progress, total, message }) = report.read() else {
                    continue;
                };
                let tool_call_id = tool_call_id.clone();
                let progress = CallProgress { tool_call_id, progress, total, message };
                hub.publish(audience.clone(), Event::Progress(progress));
            }
        });
    }
}

/// Returns the reference of a call in the record.
fn record_reference(tool_call_id: &str) -> String {
    if tool_call_id.is_empty() {
        // Unique among the processes that share the record.
        let number = NEXT_CALL_ID.fetch_add(1, Ordering::Relaxed);
        return format!("editor-{}-{number}", std::process::id());
    }
    // Slashes mark the calls of a conversation, which this is not.
    excerpt_text(tool_call_id, MAX_NAME_CHARS).replace('/', ":")
}

#[cfg(test)]
mod tests {
    use super::record_reference;

    #[test]
    fn the_name_of_a_call_is_never_part_of_a_conversation() {
        assert_eq!(record_reference("s1/call_1"), "s1:call_1");
        assert_eq!(record_reference("call_1"), "call_1");
        assert_ne!(record_reference(""), record_reference(""));
        assert!(!record_reference(&"x/".repeat(500)).contains('/'));
    }
}
