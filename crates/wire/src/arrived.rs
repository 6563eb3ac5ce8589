//! What arrives at a peer: told apart, and handed to whoever waits for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use serde::Deserialize;

use crate::envelope::{self, Message, NotAMessage};
use crate::error::{RequestError, RpcError};
use crate::in_flight::{Belongs, Settled, settled};
use crate::limits::Unreadable;
use crate::peer::{Inbound, Link, Shared};
use crate::request::as_line;
use switchboard_json::Json;

impl Shared {
    /// Takes in what arrived: one message or, where the revision has them, a batch.
    pub(crate) fn dispatch(self: &Arc<Self>, line: &Bytes) -> Result<(), NotAMessage> {
        self.dispatch_for(line, None)
    }

    /// The same for what came in the answer to request `id`.
    pub(crate) fn dispatch_for(
        self: &Arc<Self>,
        line: &Bytes,
        id: Option<u64>,
    ) -> Result<(), NotAMessage> {
        let read = match self.limits.unreadable {
            Unreadable::Counted => envelope::read,
            Unreadable::Answered => envelope::read_strictly,
        };
        if !envelope::is_batch(line) {
            self.take_in(read(line)?, true, id);
            return Ok(());
        }
        let allowed = self.stance().revision.allows_batches();
        let members = envelope::split_batch(line)?;
        match self.limits.unreadable {
            Unreadable::Answered if !allowed => return Err(NotAMessage::Batch),
            Unreadable::Answered if members.is_empty() => return Err(NotAMessage::NotRpc),
            // What a server answers with settles what it answers, if only as a mistake.
            Unreadable::Answered | Unreadable::Counted => {}
        }
        let mut outcome = Ok(());
        for member in members {
            match read(&member) {
                Ok(message) => self.take_in(message, allowed, id),
                // A bad member does not cost those after it.
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }

    fn take_in(self: &Arc<Self>, message: Message, allowed: bool, of: Option<u64>) {
        match message {
            Message::Response { id, answer } => {
                let settled = if allowed {
                    settled(answer)
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
                    let told = of.and_then(|id| self.in_flight.tag_of(id));
                    during = told.map_or_else(|| self.in_flight.tags(), |tag| vec![tag]);
                    // It belongs to a request if the transport says so, or if there is no other.
                    if let &[tag] = during.as_slice() {
                        self.tell_of(tag, "notifications/message", params);
                    }
                }
                self.hand_over(Inbound::Notification { method, params, during });
            }
            Message::Request { id, method, .. } if method == "ping" => match &self.link {
                // Who does not read has no use for the answer.
                Link::Stream(outbox) => {
                    outbox.push(as_line(envelope::response(&id, Ok("{}")))).ok();
                }
                Link::Http(_) => self.reply_later(id, Ok("{}")),
            },
            Message::Request { id, method, params } => {
                let refusal_id = id.clone();
                let belongs_to = of.and_then(|id| self.in_flight.tag_of(id));
                if !self.hand_over(Inbound::Request { id, method, params, belongs_to }) {
                    let busy = RpcError::new(-32_603, "the client has too many requests to answer");
                    self.reply_later(refusal_id, Err(busy));
                }
            }
        }
    }

    fn settle(&self, id: Option<u64>, settled: Settled) {
        let Some(number) = id else {
            self.counts.unknown_answers.fetch_add(1, Ordering::Relaxed);
            return;
        };
        match self.in_flight.settle(number, settled) {
            (Belongs::Waiting, _) => {}
            (Belongs::Abandoned(tag), Some(answer)) => {
                self.counts.late_answers.fetch_add(1, Ordering::Relaxed);
                self.hand_over(Inbound::Late { tag, answer });
            }
            (Belongs::Abandoned(_) | Belongs::Nobody, _) => {
                self.counts.unknown_answers.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn report_progress(&self, params: &Json) -> bool {
        #[derive(Deserialize)]
        struct Token {
            #[serde(rename = "progressToken")]
            token: u64,
        }
        let Ok(Token { token }) = params.read() else { return false };
        let Some(tag) = self.in_flight.report(token, params) else { return false };
        self.tell_of(tag, "notifications/progress", params);
        true
    }

    fn tell_of(&self, tag: u64, method: &str, params: &Json) {
        if let Some(hear) = self.overheard.get().filter(|_| tag != 0) {
            hear(tag, method, params);
        }
    }

    pub(crate) fn hand_over(&self, inbound: Inbound) -> bool {
        let taken = self.inbound.try_send(inbound).is_ok();
        if !taken {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }
}
