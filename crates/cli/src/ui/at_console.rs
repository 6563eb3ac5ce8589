//! Whoever looks at the web console: what its conversations need of a person waits on its pages.

use switchboard_console::Talks;
use switchboard_host::policy::Question;
use switchboard_host::review::{Answering, Ask, Asker, News, Replying, Reviewer};

use crate::ui::asker::NobodyAsked;

/// Questions about calls wait in the queue; what servers ask does so for a conversation of the
/// pages, and is declined where nobody knows of it.
#[derive(Clone)]
pub(crate) struct AtConsole {
    pub(crate) talks: Talks,
    pub(crate) nobody: NobodyAsked,
}

impl Reviewer for AtConsole {
    fn ask<'a>(&'a self, _question: &'a Question) -> Answering<'a> {
        Box::pin(std::future::pending())
    }
}

impl Asker for AtConsole {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Replying<'a> {
        match &ask.reference {
            Some(reference) if self.talks.holds(reference) => Box::pin(std::future::pending()),
            _ => self.nobody.ask(ask),
        }
    }

    fn turned_down(&self, server: &str, why: &str) {
        self.nobody.turned_down(server, why);
    }

    fn hear(&self, news: News<'_>) {
        Asker::hear(&self.nobody, news);
    }
}
