//! Whoever looks at the web console: what its conversations need of a person waits on its pages.

use std::sync::Arc;

use switchboard_console::{Conversations, PagePresence};
use switchboard_host::Question;
use switchboard_host::{
    Ask, Asker, FirstUseAsks, QuestionUpdate, ReplyFuture, ReviewFuture, Reviewer,
};
use switchboard_terminal::{DecliningAsker, People, Printer};
use switchboard_trust::Presence;

/// Questions about calls wait in the queue. What servers ask does so for a conversation of the
/// pages, and for any call while somebody is at them; it is declined where nobody would see it.
#[derive(Clone)]
pub(crate) struct ConsoleReviewer {
    talks: Conversations,
    onlookers: PagePresence,
    nobody: DecliningAsker,
}

impl ConsoleReviewer {
    /// The people at the web console.
    pub(crate) fn people(
        printer: &Printer,
        talks: &Conversations,
        onlookers: &PagePresence,
    ) -> People {
        let there = Self {
            talks: talks.clone(),
            onlookers: onlookers.clone(),
            nobody: DecliningAsker { printer: printer.clone() },
        };
        People {
            reviewer: Arc::new(there.clone()),
            asker: Arc::new(there),
            limit: None,
            first_use: FirstUseAsks::InQueue,
            presence: Presence::Nobody,
        }
    }
}

impl Reviewer for ConsoleReviewer {
    fn ask<'a>(&'a self, _question: &'a Question) -> ReviewFuture<'a> {
        Box::pin(std::future::pending())
    }
}

impl Asker for ConsoleReviewer {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        let of_pages = ask.reference.as_ref().is_some_and(|name| self.talks.holds(name));
        if of_pages || (ask.call.is_some() && self.onlookers.is_active()) {
            return Box::pin(std::future::pending());
        }
        self.nobody.ask(ask)
    }

    fn is_available(&self) -> bool {
        self.onlookers.is_active()
    }

    fn notify_refused(&self, server: &str, why: &str) {
        self.nobody.notify_refused(server, why);
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        Asker::on_update(&self.nobody, news);
    }
}
