//! Forwards questions to the one task that owns the terminal.

use switchboard_core::Answer;
use switchboard_host::{
    Ask, Asker, Question, QuestionUpdate, ReplyFuture, ReviewFuture, Reviewer, Unanswered,
};
use switchboard_store::AskReply;
use switchboard_text::escape_line;
use tokio::sync::{mpsc, oneshot};

use crate::ask::CallQuestion;
use crate::asker::update_line;

/// An item that waits for the person.
#[derive(Debug)]
pub enum DeskItem {
    Question {
        question: CallQuestion,
        answer: oneshot::Sender<Answer>,
    },
    Ask {
        ask: Ask,
        reply: oneshot::Sender<AskReply>,
    },
    /// An update about a question that ended without this person; escaped for display.
    Notice(String),
}

/// Forwards questions and waits for the answers.
#[derive(Clone, Debug)]
pub struct ChatReviewer {
    questions: mpsc::Sender<DeskItem>,
}

impl ChatReviewer {
    /// Creates a reviewer, and the receiver of its questions.
    pub fn new() -> (Self, mpsc::Receiver<DeskItem>) {
        let (questions, waiting) = mpsc::channel(16);
        (Self { questions }, waiting)
    }

    fn report(&self, news: &QuestionUpdate<'_>) {
        if let Some(notice) = update_line(news) {
            self.queue_notice(notice);
        }
    }

    fn queue_notice(&self, notice: String) {
        // If the queue is full of questions, a lost notice does not matter.
        _ = self.questions.try_send(DeskItem::Notice(notice));
    }
}

impl Reviewer for ChatReviewer {
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let waiting = DeskItem::Question { question: CallQuestion::new(question), answer };
            self.questions.send(waiting).await.map_err(|_| terminal_gone())?;
            answered.await.map_err(|_| terminal_gone())
        })
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.report(&news);
    }
}

impl Asker for ChatReviewer {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        Box::pin(async move {
            let (reply, replied) = oneshot::channel();
            let waiting = DeskItem::Ask { ask: ask.clone(), reply };
            if self.questions.send(waiting).await.is_err() {
                return AskReply::Cancel;
            }
            replied.await.unwrap_or(AskReply::Cancel)
        })
    }

    fn notify_completed(&self, server: &str) {
        let server = escape_line(server);
        let notice = format!("server `{server}` reports that the requested action is complete");
        self.queue_notice(notice);
    }

    fn notify_refused(&self, server: &str, why: &str) {
        let server = escape_line(server);
        let why = escape_line(why);
        let notice = format!("! a question of server `{server}` was refused: {why}");
        self.queue_notice(notice);
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.report(&news);
    }
}

fn terminal_gone() -> Unanswered {
    Unanswered { message: "the question was not answered".to_owned(), hint: None }
}
