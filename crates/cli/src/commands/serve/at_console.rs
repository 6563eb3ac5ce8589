//! Whoever looks at the web console: what its conversations need of a person waits on its pages.

use std::sync::Arc;

use switchboard_console::{Onlookers, Talks};
use switchboard_host::{Answering, Ask, Asker, FirstUseAsks, News, Replying, Reviewer};
use switchboard_policy::Question;
use switchboard_terminal::{NobodyAsked, People, Printer};
use switchboard_trust::Presence;

/// Questions about calls wait in the queue. What servers ask does so for a conversation of the
/// pages, and for any call while somebody is at them; it is declined where nobody would see it.
#[derive(Clone)]
pub(crate) struct AtConsole {
    talks: Talks,
    onlookers: Onlookers,
    nobody: NobodyAsked,
}

impl AtConsole {
    /// The people at the web console.
    pub(crate) fn people(printer: &Printer, talks: &Talks, onlookers: &Onlookers) -> People {
        let there = Self {
            talks: talks.clone(),
            onlookers: onlookers.clone(),
            nobody: NobodyAsked { printer: printer.clone() },
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

impl Reviewer for AtConsole {
    fn ask<'a>(&'a self, _question: &'a Question) -> Answering<'a> {
        Box::pin(std::future::pending())
    }
}

impl Asker for AtConsole {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Replying<'a> {
        let of_pages = ask.reference.as_ref().is_some_and(|name| self.talks.holds(name));
        if of_pages || (ask.call.is_some() && self.onlookers.is_there()) {
            return Box::pin(std::future::pending());
        }
        self.nobody.ask(ask)
    }

    fn is_there(&self) -> bool {
        self.onlookers.is_there()
    }

    fn turned_down(&self, server: &str, why: &str) {
        self.nobody.turned_down(server, why);
    }

    fn hear(&self, news: News<'_>) {
        Asker::hear(&self.nobody, news);
    }
}
