//! Puts questions to the person at the terminal.

use std::io::Write as _;

use switchboard_core::{Answer, Risk, TargetKind};
use switchboard_host::Question;
use switchboard_host::{QuestionUpdate, ReviewFuture, Reviewer};
use switchboard_store::AskReply;
use switchboard_text::escape_line;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::desk::{DeskItem, ReviewRequest};
use crate::menu::{AlwaysOption, MenuChoice, ReviewCard};
use crate::printer::talk;
use crate::{asker, menu, tty};

/// The person at this terminal, who stops the command by not answering.
#[derive(Clone, Debug)]
pub struct TerminalReviewer {
    /// Cancelled when they want to stop.
    pub stop: CancellationToken,
}

/// How a question at the terminal ended.
#[derive(Debug)]
pub enum QuestionOutcome {
    /// It was answered.
    Answered,
    /// The person wants to stop. The call waits until it is given up, as long as this is held.
    Interrupted(OpenQuestion),
    /// The terminal has gone. The question waits for another face, as long as this is held.
    Gone(OpenQuestion),
}

/// A question that this face leaves open. Dropping it tells the asking side that nobody answers.
#[derive(Debug)]
pub struct OpenQuestion {
    _waiting: OpenEnd,
}

/// The channel on which an answer is awaited.
#[derive(Debug)]
#[expect(dead_code, reason = "the senders are only kept alive")]
enum OpenEnd {
    /// To a question about a call.
    Answer(oneshot::Sender<Answer>),
    /// To a question of a server.
    Reply(oneshot::Sender<AskReply>),
}

/// What a person answers to a question about a call.
pub enum CallResponse {
    /// An answer.
    Answer(Answer),
    /// They want to stop.
    Left,
    /// Nobody is there any more.
    Gone,
}

impl OpenQuestion {
    const fn answer(sender: oneshot::Sender<Answer>) -> Self {
        Self { _waiting: OpenEnd::Answer(sender) }
    }

    const fn reply(sender: oneshot::Sender<AskReply>) -> Self {
        Self { _waiting: OpenEnd::Reply(sender) }
    }
}

impl Reviewer for TerminalReviewer {
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a> {
        let call = question.call();
        let target = call.target();
        let asked = CallQuestion {
            title: question_title(&target.server, &target.name, target.kind == TargetKind::Tool),
            arguments: call.arguments().as_str().to_owned(),
            why: review_reason(question),
            problem: question.problem().map(str::to_owned),
            is_tool: target.kind == TargetKind::Tool,
        };
        Box::pin(async move {
            match asked.present().await {
                CallResponse::Answer(answer) => Ok(answer),
                CallResponse::Left => {
                    self.stop.cancel();
                    // The call is given up where it waits for this.
                    std::future::pending().await
                }
                // Somebody else may answer; this face cannot.
                CallResponse::Gone => std::future::pending().await,
            }
        })
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        if let Some(line) = asker::update_line(&news) {
            talk(&line);
        }
    }
}

/// Puts a question that waits for the person.
pub async fn present(waiting: DeskItem) -> QuestionOutcome {
    let questioned = match waiting {
        DeskItem::Question(questioned) => questioned,
        DeskItem::Ask { ask, mut reply } => {
            // Whoever asked may give up, and then the form goes away.
            let replied = tokio::select! {
                biased;
                () = reply.closed() => return QuestionOutcome::Answered,
                replied = asker::present_ask(ask) => replied,
            };
            let Some(replied) = replied else {
                return QuestionOutcome::Gone(OpenQuestion::reply(reply));
            };
            // The asker may have gone after the form was filled in.
            _ = reply.send(replied);
            return QuestionOutcome::Answered;
        }
        DeskItem::Notice(notice) => {
            talk(&notice);
            return QuestionOutcome::Answered;
        }
    };
    let ReviewRequest { server, target, arguments, why, problem, mut answer, is_tool } = questioned;
    // Its call was given up meanwhile.
    if answer.is_closed() {
        return QuestionOutcome::Answered;
    }
    let title = question_title(&server, &target, is_tool);
    // It may be answered elsewhere, or given up, and then the menu goes away.
    let said = tokio::select! {
        biased;
        () = answer.closed() => return QuestionOutcome::Answered,
        said = (CallQuestion { title, arguments, why, problem, is_tool }).present() => said,
    };
    match said {
        CallResponse::Answer(given) => {
            // The call may have been cancelled or answered elsewhere after the menu was shown.
            _ = answer.send(given);
            QuestionOutcome::Answered
        }
        CallResponse::Left => QuestionOutcome::Interrupted(OpenQuestion::answer(answer)),
        CallResponse::Gone => QuestionOutcome::Gone(OpenQuestion::answer(answer)),
    }
}

/// Leaves a question open whose call is about to be given up.
pub fn leave_open(waiting: DeskItem) -> QuestionOutcome {
    match waiting {
        DeskItem::Question(question) => {
            QuestionOutcome::Interrupted(OpenQuestion::answer(question.answer))
        }
        // A server whose question is dropped is told that nobody answered.
        DeskItem::Ask { .. } | DeskItem::Notice(_) => QuestionOutcome::Answered,
    }
}

/// Leaves a question to other faces.
pub fn leave_to_others(waiting: DeskItem) -> QuestionOutcome {
    match waiting {
        DeskItem::Question(question) => {
            QuestionOutcome::Gone(OpenQuestion::answer(question.answer))
        }
        DeskItem::Ask { reply, .. } => QuestionOutcome::Gone(OpenQuestion::reply(reply)),
        DeskItem::Notice(_) => QuestionOutcome::Answered,
    }
}

/// Asks for a line; nothing if there is none.
pub async fn ask_line(question: &str) -> Option<String> {
    let question = question.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let mut out = std::io::stderr();
        write!(out, "{question}").and_then(|()| out.flush()).ok()?;
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        }
    });
    read.await.ok().flatten()
}

/// Why a call is asked about, what "always" would mean, and how much harm it could do.
pub(crate) fn review_reason(question: &Question) -> String {
    reason_with_all(question.why(), question.repeat_reason(), question.risk())
}

/// The same of its parts.
pub fn reason_with_all(why: &str, anyway: Option<&str>, risk: &Risk) -> String {
    match anyway {
        Some(anyway) => reason_with_risk(&format!("{why}; {anyway}"), risk),
        None => reason_with_risk(why, risk),
    }
}

/// The same with how much harm the call could do.
pub fn reason_with_risk(why: &str, risk: &Risk) -> String {
    format!("{why}; risk {} of 100: {}", risk.score, risk.reasons.join(", "))
}

/// A question about a call, with everything that the answer decides about.
pub struct CallQuestion {
    /// The call in one line; see [`question_title`].
    pub title: String,
    /// The arguments: the exact text of a JSON object.
    pub arguments: String,
    /// Why the call is asked about.
    pub why: String,
    /// Problem with the previous answer.
    pub problem: Option<String>,
    /// Whether the target is a tool, so that it can be allowed always.
    pub is_tool: bool,
}

impl CallQuestion {
    /// Puts it; it goes away with the future.
    pub async fn present(self) -> CallResponse {
        let choice = asker::withdrawable("(no longer asked)", move |standing| {
            if let Some(problem) = &self.problem {
                let mut out = std::io::stderr();
                writeln!(out, "That cannot be sent: {}", escape_line(problem)).ok()?;
            }
            let can_always = if self.is_tool {
                AlwaysOption::Yes
            } else {
                AlwaysOption::NotFor("only tools have a list")
            };
            let Self { title, arguments, why, .. } = &self;
            menu::ask(&ReviewCard { title, arguments, why, can_always }, standing)
        });
        CallResponse::Answer(match choice.await.flatten() {
            Some(MenuChoice::Run) => Answer::Run,
            Some(MenuChoice::Session) => Answer::Session,
            Some(MenuChoice::Always) => Answer::Always,
            Some(MenuChoice::Skip) => Answer::Skip,
            Some(MenuChoice::Tell(instead)) => Answer::Reject(instead),
            Some(MenuChoice::Edit(arguments)) => Answer::RunWith(arguments),
            // A terminal that has gone says nothing, which is not the same as stop.
            None if tty::is_terminal_gone() => return CallResponse::Gone,
            None => return CallResponse::Left,
        })
    }
}

/// What would be done, in one line.
pub fn question_title(server: &str, target: &str, is_tool: bool) -> String {
    if is_tool {
        format!("Run {target} on {server}?")
    } else {
        format!("Read {target} of {server}?")
    }
}
