//! Nobody sits here, but somebody may at another face: questions wait in the queue.

use switchboard_host::{Answering, Ask, Asker, News, Replying, Reviewer};
use switchboard_policy::Question;
use switchboard_store::Matter;
use switchboard_text::escape_line;

use crate::asker::{heard, tell_turned_down};
use crate::printer::Printer;

/// Whoever sits at another face. Standard error tells what waits, and under which name.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// Prints which questions wait.
    pub printer: Printer,
}

impl Elsewhere {
    fn tell(&self, news: &News<'_>) {
        if let News::Waits(entry) = news {
            self.printer.say(&waiting_line(&entry.id, &entry.asked.matter));
        }
        if let Some(line) = heard(news) {
            self.printer.say(&line);
        }
    }
}

impl Reviewer for Elsewhere {
    fn ask<'a>(&'a self, _question: &'a Question) -> Answering<'a> {
        Box::pin(std::future::pending())
    }

    fn hear(&self, news: News<'_>) {
        self.tell(&news);
    }
}

impl Asker for Elsewhere {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> Replying<'a> {
        Box::pin(std::future::pending())
    }

    fn turned_down(&self, server: &str, why: &str) {
        tell_turned_down(&self.printer, server, why);
    }

    fn hear(&self, news: News<'_>) {
        self.tell(&news);
    }
}

/// A line that says what waits, and how to answer it.
pub fn waiting_line(id: &str, matter: &Matter) -> String {
    let server = escape_line(matter.server());
    match matter {
        Matter::Review(review) => {
            let target = escape_line(&review.target);
            format!(
                "`{server}/{target}` waits for a person: `switchboard review show {id}`, then \
                 `switchboard review answer {id} run` or `skip`"
            )
        }
        Matter::Ask(_) => format!(
            "server `{server}` asks something: `switchboard review show {id}`, then `switchboard \
             review answer {id} accept` or `decline`"
        ),
    }
}
