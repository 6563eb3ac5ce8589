//! Who is asked for the sake of a program's call: whoever sits there, whoever sits elsewhere, or
//! nobody.

use std::sync::Arc;
use std::time::Duration;

use switchboard_host::Question;
use switchboard_host::{
    Ask, Asker, NobodyThere, QuestionUpdate, ReplyFuture, ReviewFuture, Reviewer, ask_matter,
    review_matter,
};
use switchboard_store::{AskReply, QueuedQuestion, UserDecision};

use super::call_event::Told;
use super::call_request::Whom;
use super::program_call::ProgramCall;

/// Who is asked for the sake of one call.
pub(super) struct ProgramReviewer {
    pub(super) line: Arc<ProgramCall>,
    pub(super) whom: Whom,
    /// How long they may take.
    pub(super) limit: Option<Duration>,
}

impl ProgramReviewer {
    fn report(&self, news: &QuestionUpdate<'_>) {
        let told = match news {
            QuestionUpdate::Queued(entry) if self.whom == Whom::Elsewhere => {
                Told::Waits { id: entry.id.clone(), matter: entry.asked.matter.clone() }
            }
            QuestionUpdate::Queued(_) => return,
            QuestionUpdate::AnsweredElsewhere { by, word, .. } => {
                Told::AnsweredElsewhere { by: (*by).to_owned(), word: (*word).to_owned() }
            }
            QuestionUpdate::Expired(_) => Told::Expired,
        };
        self.line.send(told);
    }
}

impl Reviewer for ProgramReviewer {
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a> {
        match self.whom {
            Whom::Nobody => NobodyThere.ask(question),
            Whom::Elsewhere => Box::pin(std::future::pending()),
            Whom::Here => Box::pin(async move {
                let matter = review_matter(question);
                let asked = QueuedQuestion { matter, call: None, reference: None, caller: None };
                let anyway = question.repeat_reason().map(str::to_owned);
                match self.line.ask(asked, anyway).await.and_then(UserDecision::into_answer) {
                    Some(answer) => Ok(answer),
                    // Whoever is not there any more decides nothing.
                    None => std::future::pending().await,
                }
            }),
        }
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.report(&news);
    }
}

impl Asker for ProgramReviewer {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        match self.whom {
            Whom::Nobody => {
                let server = ask.server.clone();
                let message = ask.message.clone();
                self.line.send(Told::Declined { server, message });
                Box::pin(async { AskReply::Decline })
            }
            Whom::Elsewhere => Box::pin(std::future::pending()),
            Whom::Here => Box::pin(async move {
                let asked = QueuedQuestion {
                    matter: ask_matter(ask),
                    call: ask.call.clone(),
                    reference: ask.reference.clone(),
                    caller: None,
                };
                match self.line.ask(asked, None).await.and_then(UserDecision::into_reply) {
                    Some(reply) => reply,
                    // Whoever is not there any more decides nothing.
                    None => std::future::pending().await,
                }
            }),
        }
    }

    fn notify_completed(&self, server: &str) {
        if self.whom == Whom::Here {
            self.line.send(Told::Completed { server: server.to_owned() });
        }
    }

    fn notify_refused(&self, server: &str, why: &str) {
        let server = server.to_owned();
        let why = why.to_owned();
        self.line.send(Told::TurnedDown { server, why });
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.report(&news);
    }
}
