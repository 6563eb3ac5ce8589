//! Puts questions to the person at the terminal.

use std::io::Write as _;

use switchboard_host::TargetKind;
use switchboard_host::format::escape_line;
use switchboard_host::policy::{Answer, Question};
use switchboard_host::review::{Answering, Reviewer};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::chat::review::{Questioned, Waiting};
use crate::ui::asker;
use crate::ui::menu::{self, Always, Card, Choice};
use crate::ui::printer::talk;

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
                Some(answer) => Ok(answer),
                None => {
                    self.stop.cancel();
                    // The call is given up where it waits for this.
                    std::future::pending().await
                }
            }
        })
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
            reply.send(replied).ok();
            return Put::Answered;
        }
        Waiting::TurnedDown(notice) => {
            talk(&notice);
            return Put::Answered;
        }
    };
    let Questioned { server, target, arguments, why, problem, answer, is_tool } = questioned;
    // Its call was given up meanwhile.
    if answer.is_closed() {
        return Put::Answered;
    }
    let title = title(&server, &target, is_tool);
    match (Asked { title, arguments, why, problem, is_tool }).put().await {
        Some(given) => {
            // Whoever waited may have gone.
            answer.send(given).ok();
            Put::Answered
        }
        None => Put::Interrupted { _unanswered: answer },
    }
}

/// Leaves a question open whose call is about to be given up.
pub(crate) fn leave_open(waiting: Waiting) -> Put {
    match waiting {
        Waiting::Question(question) => Put::Interrupted { _unanswered: question.answer },
        // A server whose question is dropped is told that nobody answered.
        Waiting::Ask { .. } | Waiting::TurnedDown(_) => Put::Answered,
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

/// Why a call is asked about, and what "always" would mean.
pub(crate) fn why(question: &Question) -> String {
    let why = question.why();
    if question.asks_anyway() {
        format!("{why}; what is always allowed counts once it is on")
    } else {
        why.to_owned()
    }
}

/// A question with everything that the answer decides about.
struct Asked {
    title: String,
    arguments: String,
    why: String,
    problem: Option<String>,
    is_tool: bool,
}

impl Asked {
    async fn put(self) -> Option<Answer> {
        // Reading from the terminal blocks; the rest of the program goes on.
        let choice = tokio::task::spawn_blocking(move || {
            if let Some(problem) = &self.problem {
                let mut out = std::io::stderr();
                writeln!(out, "That cannot be sent: {}", escape_line(problem)).ok()?;
            }
            let can_always =
                if self.is_tool { Always::Yes } else { Always::NotFor("only tools have a list") };
            let Self { title, arguments, why, .. } = &self;
            menu::ask(&Card { title, arguments, why, can_always })
        });
        Some(match choice.await.ok().flatten()? {
            Choice::Run => Answer::Run,
            Choice::Always => Answer::Always,
            Choice::Skip => Answer::Skip,
            Choice::Tell(instead) => Answer::Reject(instead),
            Choice::Edit(arguments) => Answer::RunWith(arguments),
        })
    }
}

fn title(server: &str, target: &str, is_tool: bool) -> String {
    let (server, target) = (escape_line(server), escape_line(target));
    if is_tool {
        format!("Run {target} on {server}?")
    } else {
        format!("Read {target} of {server}?")
    }
}
