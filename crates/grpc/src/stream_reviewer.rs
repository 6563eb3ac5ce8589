//! Publishes the questions of a call to its caller's streams and to the review queue.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_fleet::{Answers, ServerRequest};
use switchboard_host::{
    Ask, Asker, FaceAnswers, Host, Question, QuestionUpdate, ReplyFuture, ReviewFuture, Reviewer,
};
use switchboard_store::{AskReply, Matter, QueueEntry};

use crate::access::AuthorizedCaller;
use crate::hub::{EventAudience, EventHub};
use crate::queue_events::{EventRecipient, queue_event};

/// A reviewer that publishes the questions of one call to its caller's streams. It never answers:
/// answers arrive through the queue, from whichever face is first.
pub(crate) struct StreamReviewer {
    hub: Arc<EventHub>,
    visitor: AuthorizedCaller,
    /// The only stream that receives elicitations, if the caller requested that.
    lease: Option<ElicitationTarget>,
    told: Mutex<Vec<String>>,
}

/// The destination of elicitations that go to a single stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ElicitationTarget {
    Stream(u64),
    /// The stream is not open, so that elicitations are declined.
    Nobody,
}

impl StreamReviewer {
    pub(crate) fn new(
        hub: &Arc<EventHub>,
        visitor: &AuthorizedCaller,
        lease: Option<ElicitationTarget>,
    ) -> Arc<Self> {
        let visitor = visitor.clone();
        Arc::new(Self { hub: Arc::clone(hub), visitor, lease, told: Mutex::default() })
    }

    pub(crate) fn answers(self: &Arc<Self>, host: &Host) -> Arc<dyn Answers> {
        let asker = Arc::clone(self) as Arc<dyn Asker>;
        let face = FaceAnswers::new(asker, Vec::new()).with_queue(host.reviews().clone());
        face.set_config(host.config());
        // Calls of a group may share a connection, whose questions must reach the same stream.
        let mut hasher = DefaultHasher::new();
        let stream = match self.lease {
            Some(ElicitationTarget::Stream(number)) => number,
            Some(ElicitationTarget::Nobody) | None => 0,
        };
        ("editor", &self.visitor.identity, stream).hash(&mut hasher);
        Arc::new(StreamAnswers { face, others: Arc::clone(host.answers()), group: hasher.finish() })
    }

    fn publish_update(&self, news: QuestionUpdate<'_>) {
        match news {
            QuestionUpdate::Queued(entry) => self.publish_entry(entry),
            QuestionUpdate::AnsweredElsewhere { id, by, word } => {
                self.hub.publish_resolved(id, word, by);
            }
            QuestionUpdate::Expired(id) => self.hub.publish_resolved(id, "expired", ""),
        }
    }

    fn publish_entry(&self, entry: &QueueEntry) {
        let (audience, to) = match (&entry.asked.matter, self.lease) {
            (Matter::Ask(_), Some(ElicitationTarget::Stream(number))) => {
                (EventAudience::Stream(number), EventRecipient::Lease)
            }
            _ => {
                let owner = self.visitor.is_owner();
                let to = if owner { EventRecipient::Owner } else { EventRecipient::Guest };
                (EventAudience::Visitor(Arc::clone(&self.visitor.identity)), to)
            }
        };
        // Remembered before it is published, so that the end of the call withdraws it.
        self.told.lock().push(entry.id.clone());
        self.hub.publish_waiting(&entry.id, audience, queue_event(entry, to));
    }
}

impl Drop for StreamReviewer {
    fn drop(&mut self) {
        let told = self.told.get_mut();
        // Answered questions were resolved before; `publish_resolved` ignores them.
        for id in told.drain(..) {
            self.hub.publish_resolved(&id, "withdrawn", "");
        }
    }
}

impl Reviewer for StreamReviewer {
    fn ask<'a>(&'a self, _question: &'a Question) -> ReviewFuture<'a> {
        Box::pin(std::future::pending())
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.publish_update(news);
    }
}

impl Asker for StreamReviewer {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> ReplyFuture<'a> {
        match self.lease {
            None => Box::pin(std::future::pending()),
            Some(ElicitationTarget::Nobody) => Box::pin(async { AskReply::Decline }),
            Some(ElicitationTarget::Stream(number)) => Box::pin(async move {
                self.hub.wait_closed(number).await;
                AskReply::Decline
            }),
        }
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.publish_update(news);
    }
}

/// The handler of server requests: elicitations go to the caller's streams, all others to the host.
struct StreamAnswers {
    face: FaceAnswers,
    others: Arc<dyn Answers>,
    group: u64,
}

impl Answers for StreamAnswers {
    fn capabilities(&self, server: &str) -> String {
        self.others.capabilities(server)
    }

    fn caller_group(&self) -> u64 {
        self.group
    }

    fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> switchboard_fleet::AnswerFuture<'a> {
        match asking.method {
            "elicitation/create" => self.face.answer(asking),
            _ => self.others.answer(asking),
        }
    }
}
