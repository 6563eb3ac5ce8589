//! A reviewer for runs without a person at the terminal: questions wait for another face.

use switchboard_host::{Ask, Asker, Question, QuestionUpdate, ReplyFuture, ReviewFuture, Reviewer};
use switchboard_store::Matter;
use switchboard_text::escape_line;

use crate::asker::{tell_turned_down, update_line};
use crate::printer::Printer;

/// A reviewer that leaves every question to other faces and reports it on standard error.
#[derive(Clone, Debug)]
pub struct ElsewhereReviewer {
    pub printer: Printer,
}

impl ElsewhereReviewer {
    fn report(&self, news: &QuestionUpdate<'_>) {
        if let QuestionUpdate::Queued(entry) = news {
            self.printer.say(&waiting_line(&entry.id, &entry.asked.matter));
        }
        if let Some(line) = update_line(news) {
            self.printer.say(&line);
        }
    }
}

impl Reviewer for ElsewhereReviewer {
    fn ask<'a>(&'a self, _question: &'a Question) -> ReviewFuture<'a> {
        Box::pin(std::future::pending())
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.report(&news);
    }
}

impl Asker for ElsewhereReviewer {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> ReplyFuture<'a> {
        Box::pin(std::future::pending())
    }

    fn notify_refused(&self, server: &str, why: &str) {
        tell_turned_down(&self.printer, server, why);
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.report(&news);
    }
}

/// Returns a line that describes a pending question and how to answer it.
pub fn waiting_line(id: &str, matter: &Matter) -> String {
    let server = escape_line(matter.server());
    match matter {
        Matter::Review(review) => {
            let target = escape_line(&review.target);
            format!(
                "`{server}/{target}` needs approval: `switchboard review show {id}`, then \
                 `switchboard review answer {id} run` or `skip`"
            )
        }
        Matter::Ask(_) => format!(
            "server `{server}` has a question: `switchboard review show {id}`, then `switchboard \
             review answer {id} accept` or `decline`"
        ),
    }
}
