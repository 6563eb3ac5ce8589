//! Dispatch of incoming messages: matches answers to requests, queues everything else.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use serde::Deserialize;
use switchboard_json::Json;

use crate::envelope::{self, Message, NotAMessage};
use crate::error::{RequestError, RpcError};
use crate::in_flight::{AnswerOwner, RequestResult, into_result};
use crate::limits::UnreadableLines;
use crate::peer::{Inbound, PeerLink, PeerShared};
use crate::request::into_line;

impl PeerShared {
    /// Dispatches one line: a single message or, in revisions that have them, a batch.
    pub(crate) fn dispatch(self: &Arc<Self>, line: &Bytes) -> Result<(), NotAMessage> {
        self.dispatch_for(line, None)
    }

    /// Dispatches a line that arrived in the response to request `id`.
    pub(crate) fn dispatch_for(
        self: &Arc<Self>,
        line: &Bytes,
        id: Option<u64>,
    ) -> Result<(), NotAMessage> {
        let read = match self.limits.unreadable {
            UnreadableLines::Counted => Message::parse,
            UnreadableLines::Answered => Message::parse_strict,
        };
        if !Message::is_batch(line) {
            self.ingest(read(line)?, true, id);
            return Ok(());
        }
        let allowed = self.protocol().revision.allows_batches();
        let members = Message::split_batch(line)?;
        match self.limits.unreadable {
            UnreadableLines::Answered if !allowed => return Err(NotAMessage::Batch),
            UnreadableLines::Answered if members.is_empty() => return Err(NotAMessage::NotRpc),
            // A batch from a server is processed even where batches are not allowed: its answers
            // settle their requests, as protocol errors.
            UnreadableLines::Answered | UnreadableLines::Counted => {}
        }
        let mut outcome = Ok(());
        for member in members {
            match read(&member) {
                Ok(message) => self.ingest(message, allowed, id),
                // A bad member must not hide the ones after it.
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }

    fn ingest(self: &Arc<Self>, message: Message, allowed: bool, of: Option<u64>) {
        match message {
            Message::Response { id, answer } => {
                let settled = if allowed {
                    into_result(answer)
                } else {
                    Err(RequestError::Protocol("it came in a batch".to_owned()))
                };
                self.settle(id, settled);
            }
            Message::Notification { method, params } => {
                if method == "notifications/progress"
                    && let Some(params) = &params
                    && self.report_progress(params)
                {
                    return;
                }
                let mut during = Vec::new();
                if method == "notifications/message"
                    && let Some(params) = &params
                {
                    let told = of.and_then(|id| self.in_flight.tag(id));
                    during = told.map_or_else(|| self.in_flight.tags(), |tag| vec![tag]);
                    // The message belongs to the only request in flight, or as the transport says.
                    if let &[tag] = during.as_slice() {
                        self.notify_observer(tag, "notifications/message", params);
                    }
                }
                self.enqueue_inbound(Inbound::Notification { method, params, during });
            }
            Message::Request { id, method, .. } if method == "ping" => match &self.link {
                PeerLink::Stream(outbox) => {
                    // With a full queue the server does not read, so it would not read this either.
                    _ = outbox.push(into_line(envelope::response_text(&id, Ok("{}"))));
                }
                PeerLink::Http(_) => self.spawn_reply(id, Ok("{}")),
            },
            Message::Request { id, method, params } => {
                let refusal_id = id.clone();
                let belongs_to = of.and_then(|id| self.in_flight.tag(id));
                if !self.enqueue_inbound(Inbound::Request { id, method, params, belongs_to }) {
                    let busy = RpcError::new(-32_603, "the client has too many pending requests");
                    self.spawn_reply(refusal_id, Err(busy));
                }
            }
        }
    }

    fn settle(&self, id: Option<u64>, settled: RequestResult) {
        let Some(number) = id else {
            self.counts.unknown_answers.fetch_add(1, Ordering::Relaxed);
            return;
        };
        match self.in_flight.settle(number, settled) {
            (AnswerOwner::Waiting, _) => {}
            (AnswerOwner::Abandoned(tag), Some(answer)) => {
                self.counts.late_answers.fetch_add(1, Ordering::Relaxed);
                self.enqueue_inbound(Inbound::Late { tag, answer });
            }
            (AnswerOwner::Abandoned(_) | AnswerOwner::Nobody, _) => {
                self.counts.unknown_answers.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn report_progress(&self, params: &Json) -> bool {
        #[derive(Deserialize)]
        struct ProgressParams {
            #[serde(rename = "progressToken")]
            token: u64,
        }
        // An unknown token is not ours: the notification goes to the inbound queue.
        let Ok(ProgressParams { token }) = params.read() else { return false };
        let Some(tag) = self.in_flight.report_progress(token, params) else { return false };
        self.notify_observer(tag, "notifications/progress", params);
        true
    }

    fn notify_observer(&self, tag: u64, method: &str, params: &Json) {
        if let Some(hear) = self.observer.get().filter(|_| tag != 0) {
            hear(tag, method, params);
        }
    }

    pub(crate) fn enqueue_inbound(&self, inbound: Inbound) -> bool {
        // Never waits: the reader has to keep taking answers, on which the consumer may depend.
        let taken = self.inbound.try_send(inbound).is_ok();
        if !taken {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }
}
