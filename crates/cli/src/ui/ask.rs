//! Puts questions to the person at the terminal.

use std::io::Write as _;

use switchboard_host::TargetKind;
use switchboard_host::format::escape_line;
use switchboard_host::policy::{Answer, Question, Risk};
use switchboard_host::review::{Answering, News, Reply, Reviewer};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::chat::review::{Questioned, Waiting};
use crate::ui::asker;
use crate::ui::menu::{self, Always, Card, Choice};
use crate::ui::printer::talk;
use crate::ui::terminal;

/// The person at this terminal; who does not want to answer wants to stop.
#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    pub(crate) stop: CancellationToken,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Put {
    /// It was answered.
    Answered,
    /// The person wants to stop. The call waits until it is given up, as long as this is held.
    Interrupted { _unanswered: oneshot::Sender<Answer> },
    /// The terminal has gone. The question waits for another face, as long as this is held.
    Gone { _unanswered: Unanswered },
}

/// Whoever waits for an answer that this face cannot give.
#[derive(Debug)]
#[expect(dead_code, reason = "they are only held")]
pub(crate) enum Unanswered {
    /// To a question about a call.
    Answer(oneshot::Sender<Answer>),
    /// To a question of a server.
    Reply(oneshot::Sender<Reply>),
}

/// What a person made of a question about a call.
pub(crate) enum Said {
    /// An answer.
    Answer(Answer),
    /// They want to stop.
    Left,
    /// Nobody is there any more.
    Gone,
}

impl Reviewer for Terminal {
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        let call = question.call();
        let target = call.target();
        let asked = Asked {
            title: title(&target.server, &target.name, target.kind == TargetKind::Tool),
            arguments: call.arguments().as_str().to_owned(),
            why: why(question),
            problem: question.problem().map(str::to_owned),
            is_tool: target.kind == TargetKind::Tool,
        };
        Box::pin(async move {
            match asked.put().await {
                Said::Answer(answer) => Ok(answer),
                Said::Left => {
                    self.stop.cancel();
                    // The call is given up where it waits for this.
                    std::future::pending().await
                }
                // Somebody else may answer; this face cannot.
                Said::Gone => std::future::pending().await,
            }
        })
    }

    fn hear(&self, news: News<'_>) {
        if let Some(line) = asker::heard(&news) {
            talk(&line);
        }
    }
}

/// Puts a question that waits for the person.
pub(crate) async fn put(waiting: Waiting) -> Put {
    let questioned = match waiting {
        Waiting::Question(questioned) => questioned,
        Waiting::Ask { ask, mut reply } => {
            // Whoever asked may give up, and then the form goes away.
            let replied = tokio::select! {
                biased;
                () = reply.closed() => return Put::Answered,
                replied = asker::put(ask) => replied,
            };
            let Some(replied) = replied else {
                return Put::Gone { _unanswered: Unanswered::Reply(reply) };
            };
            reply.send(replied).ok();
            return Put::Answered;
        }
        Waiting::Notice(notice) => {
            talk(&notice);
            return Put::Answered;
        }
    };
    let Questioned { server, target, arguments, why, problem, mut answer, is_tool } = questioned;
    // Its call was given up meanwhile.
    if answer.is_closed() {
        return Put::Answered;
    }
    let title = title(&server, &target, is_tool);
    // It may be answered elsewhere, or given up, and then the menu goes away.
    let said = tokio::select! {
        biased;
        () = answer.closed() => return Put::Answered,
        said = (Asked { title, arguments, why, problem, is_tool }).put() => said,
    };
    match said {
        Said::Answer(given) => {
            // Whoever waited may have gone.
            answer.send(given).ok();
            Put::Answered
        }
        Said::Left => Put::Interrupted { _unanswered: answer },
        Said::Gone => Put::Gone { _unanswered: Unanswered::Answer(answer) },
    }
}

/// Leaves a question open whose call is about to be given up.
pub(crate) fn leave_open(waiting: Waiting) -> Put {
    match waiting {
        Waiting::Question(question) => Put::Interrupted { _unanswered: question.answer },
        // A server whose question is dropped is told that nobody answered.
        Waiting::Ask { .. } | Waiting::Notice(_) => Put::Answered,
    }
}

/// Leaves a question to other faces.
pub(crate) fn leave_to_others(waiting: Waiting) -> Put {
    match waiting {
        Waiting::Question(question) => {
            Put::Gone { _unanswered: Unanswered::Answer(question.answer) }
        }
        Waiting::Ask { reply, .. } => Put::Gone { _unanswered: Unanswered::Reply(reply) },
        Waiting::Notice(_) => Put::Answered,
    }
}

/// Asks for a line; nothing if there is none.
pub(crate) async fn line(question: &str) -> Option<String> {
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
pub(crate) fn why(question: &Question) -> String {
    with_all(question.why(), question.asks_anyway(), question.risk())
}

/// The same of its parts.
pub(crate) fn with_all(why: &str, anyway: Option<&str>, risk: &Risk) -> String {
    match anyway {
        Some(anyway) => with_risk(&format!("{why}; {anyway}"), risk),
        None => with_risk(why, risk),
    }
}

/// The same with how much harm the call could do.
pub(crate) fn with_risk(why: &str, risk: &Risk) -> String {
    format!("{why}; risk {} of 100: {}", risk.score, risk.reasons.join(", "))
}

/// A question with everything that the answer decides about.
pub(crate) struct Asked {
    pub(crate) title: String,
    pub(crate) arguments: String,
    pub(crate) why: String,
    pub(crate) problem: Option<String>,
    pub(crate) is_tool: bool,
}

impl Asked {
    /// Puts it; it goes away with the future.
    pub(crate) async fn put(self) -> Said {
        let choice = asker::withdrawable("(no longer asked)", move |standing| {
            if let Some(problem) = &self.problem {
                let mut out = std::io::stderr();
                writeln!(out, "That cannot be sent: {}", escape_line(problem)).ok()?;
            }
            let can_always =
                if self.is_tool { Always::Yes } else { Always::NotFor("only tools have a list") };
            let Self { title, arguments, why, .. } = &self;
            menu::ask(&Card { title, arguments, why, can_always }, standing)
        });
        Said::Answer(match choice.await.flatten() {
            Some(Choice::Run) => Answer::Run,
            Some(Choice::Session) => Answer::Session,
            Some(Choice::Always) => Answer::Always,
            Some(Choice::Skip) => Answer::Skip,
            Some(Choice::Tell(instead)) => Answer::Reject(instead),
            Some(Choice::Edit(arguments)) => Answer::RunWith(arguments),
            // A terminal that has gone says nothing, which is not the same as stop.
            None if terminal::is_gone() => return Said::Gone,
            None => return Said::Left,
        })
    }
}

/// What would be done, in one line.
pub(crate) fn title(server: &str, target: &str, is_tool: bool) -> String {
    if is_tool {
        format!("Run {target} on {server}?")
    } else {
        format!("Read {target} of {server}?")
    }
}
