//! Calls along the host's line, given up with the request that made them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use switchboard_catalog::Lease;
use switchboard_core::{Caller, Face, Origin, ProposedCall};
use switchboard_host::Attention;
use switchboard_store::Record;
use switchboard_text::shown_text;
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tonic::Status;

use crate::desk;
use crate::desk::Desk;
use crate::door::Visitor;
use crate::editor::Editor;
use crate::generated::v1::CallProgress;
use crate::generated::v1::host_event::Event;
use crate::hub::Audience;

/// The longest name of a call that is kept, in characters.
const LONGEST_NAME: usize = 200;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// How a call is to be made.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    /// The caller's own name for it.
    pub(crate) tool_call_id: String,
    /// How long it may take.
    pub(crate) limit: Option<Duration>,
    /// The only stream that hears what the server asks.
    pub(crate) lease: Option<desk::Lease>,
}

impl Editor {
    /// Runs a call to its end. Whoever drops the future gives the call up.
    pub(crate) async fn run(
        &self,
        visitor: &Visitor,
        lease: Lease,
        proposed: ProposedCall,
        how: How,
    ) -> Result<Record, Status> {
        let pass = self.enter(visitor)?;
        let reference = reference(&how.tool_call_id);
        let caller = Caller {
            face: Face::Editor,
            origin: Origin::Client,
            name: visitor.name.to_string(),
            reference: Some(reference.clone()),
        };
        let under_way = self.inner.hub.begin(&reference);
        let desk = Desk::new(&self.inner.hub, visitor, how.lease);
        let (reports, progress) = mpsc::channel(16);
        let cancel = pass.over().child_token();
        let attention = Attention {
            cancel: cancel.clone(),
            progress: Some(reports),
            answers: Some(desk.answers(self.host())),
            reviewer: Some(desk),
            ..Attention::default()
        };
        self.pass_on(progress, visitor, &how.tool_call_id);
        let host = self.host().clone();
        // On a task of its own: a call that is given up still has its end recorded.
        let mut call = self.inner.tasks.spawn(async move {
            let record = host.call_with(&lease, proposed, &caller, &attention).await;
            drop((under_way, pass));
            record
        });
        let given_up = cancel.clone().drop_guard();
        let ended = match how.limit {
            None => call.await,
            Some(limit) => match tokio::time::timeout(limit, &mut call).await {
                Ok(ended) => ended,
                Err(_) => {
                    cancel.cancel();
                    call.await
                }
            },
        };
        drop(given_up);
        ended.map_err(|error| Status::internal(format!("the call was lost: {error}")))
    }

    /// Tells the visitor's streams how far a call got.
    fn pass_on(&self, mut reports: mpsc::Receiver<Json>, visitor: &Visitor, tool_call_id: &str) {
        #[derive(Deserialize)]
        struct Report {
            progress: f64,
            total: Option<f64>,
            message: Option<String>,
        }
        let hub = Arc::clone(&self.inner.hub);
        let audience = Audience::Visitor(Arc::clone(&visitor.identity));
        let tool_call_id = tool_call_id.to_owned();
        self.inner.tasks.spawn(async move {
            while let Some(report) = reports.recv().await {
                let Ok(Report { progress, total, message }) = report.read() else { continue };
                let tool_call_id = tool_call_id.clone();
                let progress = CallProgress { tool_call_id, progress, total, message };
                hub.tell(audience.clone(), Event::Progress(progress));
            }
        });
    }
}

/// The name of a call in the record. A slash would make it part of a conversation, which it is not.
fn reference(tool_call_id: &str) -> String {
    if tool_call_id.is_empty() {
        return format!("editor-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    }
    shown_text(tool_call_id, LONGEST_NAME).replace('/', ":")
}

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn the_name_of_a_call_is_never_part_of_a_conversation() {
        assert_eq!(reference("s1/call_1"), "s1:call_1");
        assert_eq!(reference("call_1"), "call_1");
        assert_ne!(reference(""), reference(""));
        assert!(!reference(&"x/".repeat(500)).contains('/'));
    }
}
