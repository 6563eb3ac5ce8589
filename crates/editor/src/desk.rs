//! Where the questions of one call go: to the streams of whoever made it, and into the queue.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_fleet::{Answers, Asking};
use switchboard_host::{Answering, Ask, Asker, FaceAnswers, Host, News, Replying, Reviewer};
use switchboard_policy::Question;
use switchboard_store::{Entry, Matter, Reply};

use crate::door::Visitor;
use crate::hub::{Audience, Hub};
use crate::waiting::{Listener, event};

/// Tells a visitor's streams what waits because of one call. It never answers by itself: the
/// answers come through the queue, from whichever face is first.
pub(crate) struct Desk {
    hub: Arc<Hub>,
    visitor: Visitor,
    /// The only stream that hears what servers ask, if the caller wants that.
    lease: Option<Lease>,
    told: Mutex<Vec<String>>,
}

/// What servers ask is for one stream alone.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lease {
    /// This one.
    Stream(u64),
    /// One that is not open: there is nobody to ask.
    Nobody,
}

impl Desk {
    pub(crate) fn new(hub: &Arc<Hub>, visitor: &Visitor, lease: Option<Lease>) -> Arc<Self> {
        let (hub, visitor) = (Arc::clone(hub), visitor.clone());
        Arc::new(Self { hub, visitor, lease, told: Mutex::default() })
    }

    /// Who answers what a server asks in the middle of the call.
    pub(crate) fn answers(self: &Arc<Self>, host: &Host) -> Arc<dyn Answers> {
        let asker = Arc::clone(self) as Arc<dyn Asker>;
        let face = FaceAnswers::new(asker, Vec::new()).with_waiting(host.waiting().clone());
        face.attend(host.config());
        let mut hasher = DefaultHasher::new();
        let stream = match self.lease {
            Some(Lease::Stream(number)) => number,
            Some(Lease::Nobody) | None => 0,
        };
        ("editor", &self.visitor.identity, stream).hash(&mut hasher);
        let (group, others) = (hasher.finish(), Arc::clone(host.answers()));
        Arc::new(CallAnswers { face, others, group })
    }

    fn heard(&self, news: News<'_>) {
        match news {
            News::Waits(entry) => self.waits(entry),
            News::AnsweredElsewhere { id, by, word } => self.hub.resolved(id, word, by),
            News::Expired(id) => self.hub.resolved(id, "expired", ""),
        }
    }

    fn waits(&self, entry: &Entry) {
        let (audience, to) = match (&entry.asked.matter, self.lease) {
            (Matter::Ask(_), Some(Lease::Stream(number))) => {
                (Audience::Stream(number), Listener::Lease)
            }
            _ => {
                let owner = self.visitor.is_owner();
                let to = if owner { Listener::Owner } else { Listener::Guest };
                (Audience::Visitor(Arc::clone(&self.visitor.identity)), to)
            }
        };
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(entry.id.clone());
        self.hub.waits(&entry.id, audience, event(entry, to));
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let told = self.told.get_mut().unwrap_or_else(PoisonError::into_inner);
        // What was answered has been told already.
        for id in told.drain(..) {
            self.hub.resolved(&id, "withdrawn", "");
        }
    }
}

impl Reviewer for Desk {
    fn ask<'a>(&'a self, _question: &'a Question) -> Answering<'a> {
        Box::pin(std::future::pending())
    }

    fn hear(&self, news: News<'_>) {
        self.heard(news);
    }
}

impl Asker for Desk {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> Replying<'a> {
        match self.lease {
            None => Box::pin(std::future::pending()),
            Some(Lease::Nobody) => Box::pin(async { Reply::Decline }),
            Some(Lease::Stream(number)) => Box::pin(async move {
                self.hub.closed(number).await;
                Reply::Decline
            }),
        }
    }

    fn hear(&self, news: News<'_>) {
        self.heard(news);
    }
}

/// Forms and addresses go to the desk; the rest is the host's business.
struct CallAnswers {
    face: FaceAnswers,
    others: Arc<dyn Answers>,
    group: u64,
}

impl Answers for CallAnswers {
    fn capabilities(&self, server: &str) -> String {
        self.others.capabilities(server)
    }

    fn group(&self) -> u64 {
        self.group
    }

    fn answer<'a>(&'a self, asking: Asking<'a>) -> switchboard_fleet::Answering<'a> {
        match asking.method {
            "elicitation/create" => self.face.answer(asking),
            _ => self.others.answer(asking),
        }
    }
}
