//! Whoever looks at the web console: what its conversations need of a person waits on its pages.

use switchboard_console::{Onlookers, Talks};
use switchboard_host::policy::Question;
use switchboard_host::review::{Answering, Ask, Asker, News, Replying, Reviewer};

use crate::ui::asker::NobodyAsked;

/// Questions about calls wait in the queue. What servers ask does so for a conversation of the
/// pages, and for any call while somebody is at them; it is declined where nobody would see it.
#[derive(Clone)]
pub(crate) struct AtConsole {
    pub(crate) talks: Talks,
    pub(crate) onlookers: Onlookers,
    pub(crate) nobody: NobodyAsked,
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
