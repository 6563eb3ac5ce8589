//! Brings questions to the one task that owns the terminal.

use switchboard_core::{Answer, TargetKind};
use switchboard_host::{Answering, Ask, Asker, News, Replying, Reviewer, Unanswered};
use switchboard_policy::Question;
use switchboard_store::Reply;
use switchboard_text::escape_line;
use tokio::sync::{mpsc, oneshot};

use crate::ask;
use crate::asker::heard;

/// What waits for the person.
#[derive(Debug)]
pub enum DeskItem {
    /// Whether a call may run.
    Question(ReviewRequest),
    /// What a server asks.
    Ask {
        /// The question.
        ask: Ask,
        /// Takes the reply.
        reply: oneshot::Sender<Reply>,
    },
    /// What happened to a question without this person, in a line that is safe to show.
    Notice(String),
}

/// Whether a call may run.
#[derive(Debug)]
pub struct ReviewRequest {
    /// The server of the call.
    pub server: String,
    /// The tool, resource or prompt.
    pub target: String,
    /// The arguments: the exact text of a JSON object.
    pub arguments: String,
    /// Why the call is asked about.
    pub why: String,
    /// What was wrong with the answer before.
    pub problem: Option<String>,
    /// Takes the answer.
    pub answer: oneshot::Sender<Answer>,
    /// Whether "always" means anything here.
    pub is_tool: bool,
}

/// Hands questions over and waits for the answers.
#[derive(Clone, Debug)]
pub struct Desk {
    questions: mpsc::Sender<DeskItem>,
}

impl Desk {
    /// A desk, and where its questions come out.
    pub fn new() -> (Self, mpsc::Receiver<DeskItem>) {
        let (questions, waiting) = mpsc::channel(16);
        (Self { questions }, waiting)
    }

    fn tell(&self, news: &News<'_>) {
        if let Some(notice) = heard(news) {
            // With so much waiting, one notice less is no loss.
            self.questions.try_send(DeskItem::Notice(notice)).ok();
        }
    }
}

impl Reviewer for Desk {
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(async move {
            let call = question.call();
            let (answer, answered) = oneshot::channel();
            let waiting = ReviewRequest {
                server: call.target().server.clone(),
                target: call.target().name.clone(),
                arguments: call.arguments().as_str().to_owned(),
                why: ask::review_reason(question),
                problem: question.problem().map(str::to_owned),
                answer,
                is_tool: call.target().kind == TargetKind::Tool,
            };
            self.questions.send(DeskItem::Question(waiting)).await.map_err(|_| nobody())?;
            answered.await.map_err(|_| nobody())
        })
    }

    fn hear(&self, news: News<'_>) {
        self.tell(&news);
    }
}

impl Asker for Desk {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Replying<'a> {
        Box::pin(async move {
            let (reply, replied) = oneshot::channel();
            let waiting = DeskItem::Ask { ask: ask.clone(), reply };
            if self.questions.send(waiting).await.is_err() {
                return Reply::Cancel;
            }
            replied.await.unwrap_or(Reply::Cancel)
        })
    }

    fn completed(&self, server: &str) {
        let server = escape_line(server);
        let notice = format!("server `{server}` says that what it asked you to do is done");
        // With so much waiting, one notice less is no loss.
        self.questions.try_send(DeskItem::Notice(notice)).ok();
    }

    fn turned_down(&self, server: &str, why: &str) {
        let (server, why) = (escape_line(server), escape_line(why));
        let notice = format!("! what server `{server}` asked was turned down: {why}");
        // With so much waiting, one notice less is no loss.
        self.questions.try_send(DeskItem::Notice(notice)).ok();
    }

    fn hear(&self, news: News<'_>) {
        self.tell(&news);
    }
}

fn nobody() -> Unanswered {
    Unanswered { message: "the question was left without an answer".to_owned(), hint: None }
}
