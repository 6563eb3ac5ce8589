//! Answers questions of servers: by asking the person at the terminal, or by declining.

use std::sync::mpsc;
use std::time::Duration;

use switchboard_host::{Ask, Asker, QuestionUpdate, ReplyFuture};
use switchboard_store::AskReply;
use switchboard_text::escape_line;

use crate::keys::{KeyboardTypist, QuestionState};
use crate::printer::{Printer, talk};
use crate::{form, tty};

/// How long a withdrawn question may take to clear the terminal.
const CLEAR_TIMEOUT: Duration = Duration::from_millis(300);

/// An asker that asks the person at this terminal. Nothing else may read from the terminal.
#[derive(Clone, Debug)]
pub struct TerminalAsker {
    pub printer: Printer,
}

impl Asker for TerminalAsker {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        self.printer.clear_bars();
        let ask = ask.clone();
        Box::pin(async move {
            match present_ask(ask).await {
                Some(reply) => reply,
                // Another face may still answer.
                None => std::future::pending().await,
            }
        })
    }

    fn notify_completed(&self, server: &str) {
        tell_completed(&self.printer, server);
    }

    fn notify_refused(&self, server: &str, why: &str) {
        tell_turned_down(&self.printer, server, why);
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        if let Some(line) = update_line(&news) {
            talk(&line);
        }
    }
}

/// An asker for runs without a person: declines every question and reports it on standard error.
#[derive(Clone, Debug)]
pub struct DecliningAsker {
    pub printer: Printer,
}

impl Asker for DecliningAsker {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        tell_declined(&self.printer, &ask.server, &ask.message);
        Box::pin(async { AskReply::Decline })
    }

    fn is_available(&self) -> bool {
        false
    }

    fn notify_refused(&self, server: &str, why: &str) {
        tell_turned_down(&self.printer, server, why);
    }
}

/// Reports that a question was declined because no person is available.
pub fn tell_declined(printer: &Printer, server: &str, message: &str) {
    // A server chooses the length of its message, which must not flood the terminal.
    let message: String = message.chars().take(200).collect();
    printer.warn(
        &format!("a question of server `{server}` was declined: {message}"),
        Some("there is no terminal to ask on; use one, or pass `--wait-for-review`"),
    );
}

/// Reports that an action at a URL is complete.
pub fn tell_completed(printer: &Printer, server: &str) {
    let server = escape_line(server);
    printer.say(&format!("server `{server}` reports that the requested action is complete"));
}

/// Reports that a question was refused without asking a person.
pub fn tell_turned_down(printer: &Printer, server: &str, why: &str) {
    printer.warn(&format!("a question of server `{server}` was refused: {why}"), None);
}

/// Returns a line about a question that ended without the person at this terminal.
pub(crate) fn update_line(news: &QuestionUpdate<'_>) -> Option<String> {
    match news {
        QuestionUpdate::Queued(_) => None,
        QuestionUpdate::AnsweredElsewhere { by, word, .. } => Some(answered_elsewhere(by, word)),
        QuestionUpdate::Expired(_) => Some(EXPIRED_LINE.to_owned()),
    }
}

/// The line for a question that expired.
pub const EXPIRED_LINE: &str = "(the question expired)";

/// Returns a line about an answer from another face.
pub fn answered_elsewhere(by: &str, word: &str) -> String {
    format!("(answered elsewhere: `{}`, by {})", escape_line(word), escape_line(by))
}

/// Presents a server's question to the person; dropping the future withdraws it. Returns `None` if
/// the terminal was closed.
pub async fn present_ask(ask: Ask) -> Option<AskReply> {
    let reply = withdrawable("\n(the server withdrew its question)", move |standing| {
        form::ask_person(&ask, &mut KeyboardTypist::new(standing))
    });
    let reply = reply.await.unwrap_or(AskReply::Cancel);
    // A closed terminal gives no answer, which is not a refusal.
    (reply != AskReply::Cancel || !tty::is_terminal_gone()).then_some(reply)
}

/// Asks on a blocking thread; dropping the future withdraws the question and prints `farewell`.
pub(crate) async fn withdrawable<T: Send + 'static>(
    farewell: &'static str,
    ask: impl FnOnce(QuestionState) -> T + Send + 'static,
) -> Option<T> {
    let standing = QuestionState::default();
    let (asking, over) = mpsc::channel();
    let mut withdraw = WithdrawOnDrop { question: Some((standing.clone(), over)), farewell };
    let asked = tokio::task::spawn_blocking(move || {
        let answer = ask(standing);
        drop::<mpsc::Sender<()>>(asking);
        answer
    });
    // A panic in the thread has been printed; for the caller, the question has no answer.
    let answer = asked.await.ok();
    withdraw.question = None;
    answer
}

struct WithdrawOnDrop {
    question: Option<(QuestionState, mpsc::Receiver<()>)>,
    farewell: &'static str,
}

impl Drop for WithdrawOnDrop {
    fn drop(&mut self) {
        if let Some((standing, over)) = &self.question {
            standing.withdraw();
            // The question clears its lines within this time, unless an editor is open.
            _ = over.recv_timeout(CLEAR_TIMEOUT);
            talk(self.farewell);
        }
    }
}
