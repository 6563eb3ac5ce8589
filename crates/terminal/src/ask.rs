//! Presents questions to the person at the terminal.

use std::any::Any;
use std::io::Write as _;

use switchboard_core::{Answer, Risk, TargetKind};
use switchboard_host::{Question, QuestionUpdate, ReviewFuture, Reviewer};
use switchboard_text::escape_line;
use tokio_util::sync::CancellationToken;

use crate::desk::DeskItem;
use crate::menu::{AlwaysOption, MenuChoice, ReviewCard};
use crate::printer::talk;
use crate::{asker, menu, tty};

/// A reviewer that asks the person at this terminal. Leaving a question stops the command.
#[derive(Clone, Debug)]
pub struct TerminalReviewer {
    pub stop: CancellationToken,
}

/// How a question at the terminal ended.
#[derive(Debug)]
pub enum QuestionOutcome {
    Answered,
    /// The person wants to stop. The call waits until it is cancelled, as long as this is held.
    Interrupted(HeldQuestion),
    /// The terminal was closed. The question waits for another face, as long as this is held.
    Gone(HeldQuestion),
}

/// A question that this face leaves open. Dropping it reports that there is no answer.
#[derive(Debug)]
pub struct HeldQuestion {
    _answer: Box<dyn Any + Send>,
}

/// A person's response to a question about a call.
pub enum CallResponse {
    Answer(Answer),
    /// The person wants to stop.
    Left,
    /// The terminal was closed.
    Gone,
}

impl HeldQuestion {
    fn new(answer: impl Any + Send) -> Self {
        Self { _answer: Box::new(answer) }
    }
}

impl Reviewer for TerminalReviewer {
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a> {
        let asked = CallQuestion::new(question);
        Box::pin(async move {
            match asked.present().await {
                CallResponse::Answer(answer) => Ok(answer),
                CallResponse::Left => {
                    self.stop.cancel();
                    // Cancelling `stop` cancels the call, which drops this future.
                    std::future::pending().await
                }
                // Another face may still answer.
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

/// Presents a pending question to the person.
pub async fn present(waiting: DeskItem) -> QuestionOutcome {
    let (question, mut answer) = match waiting {
        DeskItem::Question { question, answer } => (question, answer),
        DeskItem::Ask { ask, mut reply } => {
            // The asker may give up, which withdraws the form.
            let replied = tokio::select! {
                biased;
                () = reply.closed() => return QuestionOutcome::Answered,
                replied = asker::present_ask(ask) => replied,
            };
            let Some(replied) = replied else {
                return QuestionOutcome::Gone(HeldQuestion::new(reply));
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
    // The call was cancelled before the question could be shown.
    if answer.is_closed() {
        return QuestionOutcome::Answered;
    }
    // The menu disappears if the question is answered elsewhere or the call is cancelled.
    let said = tokio::select! {
        biased;
        () = answer.closed() => return QuestionOutcome::Answered,
        said = question.present() => said,
    };
    match said {
        CallResponse::Answer(given) => {
            // The call may have been cancelled or answered elsewhere after the menu was shown.
            _ = answer.send(given);
            QuestionOutcome::Answered
        }
        CallResponse::Left => QuestionOutcome::Interrupted(HeldQuestion::new(answer)),
        CallResponse::Gone => QuestionOutcome::Gone(HeldQuestion::new(answer)),
    }
}

/// Leaves a question open whose call is about to be cancelled.
pub fn leave_open(waiting: DeskItem) -> QuestionOutcome {
    match waiting {
        DeskItem::Question { answer, .. } => {
            QuestionOutcome::Interrupted(HeldQuestion::new(answer))
        }
        // Dropping the reply reports to the server that there is no answer.
        DeskItem::Ask { .. } | DeskItem::Notice(_) => QuestionOutcome::Answered,
    }
}

/// Leaves a question to other faces.
pub fn leave_to_others(waiting: DeskItem) -> QuestionOutcome {
    match waiting {
        DeskItem::Question { answer, .. } => QuestionOutcome::Gone(HeldQuestion::new(answer)),
        DeskItem::Ask { reply, .. } => QuestionOutcome::Gone(HeldQuestion::new(reply)),
        DeskItem::Notice(_) => QuestionOutcome::Answered,
    }
}

/// Prompts for a line; `None` at the end of the input.
pub async fn ask_line(question: &str) -> Option<String> {
    let question = question.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let mut out = std::io::stderr();
        // On standard error, because standard output may be redirected to a file.
        write!(out, "{question}").and_then(|()| out.flush()).ok()?;
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        }
    });
    read.await.ok().flatten()
}

/// Returns the reason for a question, with the reason to ask again and the risk.
pub fn reason_with_all(why: &str, anyway: Option<&str>, risk: &Risk) -> String {
    match anyway {
        Some(anyway) => reason_with_risk(&format!("{why}; {anyway}"), risk),
        None => reason_with_risk(why, risk),
    }
}

/// Returns the reason for a question, with the risk.
pub fn reason_with_risk(why: &str, risk: &Risk) -> String {
    format!("{why}; risk {} of 100: {}", risk.score, risk.reasons.join(", "))
}

/// A question about a call, with everything that the answer depends on.
#[derive(Debug)]
pub struct CallQuestion {
    /// The call in one line; see [`question_title`].
    pub title: String,
    /// The arguments as the exact text of a JSON object.
    pub arguments: String,
    pub why: String,
    pub problem: Option<String>,
    /// Whether the target is a tool; only tools can be allowed always.
    pub is_tool: bool,
}

impl CallQuestion {
    pub(crate) fn new(question: &Question) -> Self {
        let target = question.call().target();
        let is_tool = target.kind == TargetKind::Tool;
        Self {
            title: question_title(&target.server, &target.name, is_tool),
            arguments: question.call().arguments().as_str().to_owned(),
            why: reason_with_all(question.why(), question.repeat_reason(), question.risk()),
            problem: question.problem().map(str::to_owned),
            is_tool,
        }
    }

    /// Presents the question; dropping the future withdraws it.
    pub async fn present(self) -> CallResponse {
        let choice = asker::withdrawable("(question withdrawn)", move |standing| {
            if let Some(problem) = &self.problem {
                let mut out = std::io::stderr();
                writeln!(out, "That cannot be sent: {}", escape_line(problem)).ok()?;
            }
            let can_always = if self.is_tool {
                AlwaysOption::Yes
            } else {
                AlwaysOption::NotFor("this applies to tools only")
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
            // A closed terminal gives no answer, which is not a request to stop.
            None if tty::is_terminal_gone() => return CallResponse::Gone,
            None => return CallResponse::Left,
        })
    }
}

/// Returns the one-line title of a question about a call.
pub fn question_title(server: &str, target: &str, is_tool: bool) -> String {
    if is_tool {
        format!("Run {target} on {server}?")
    } else {
        format!("Read {target} of {server}?")
    }
}
