//! Who is asked what servers ask: the person at the terminal, or nobody.

use std::sync::mpsc;
use std::time::Duration;

use switchboard_host::{Ask, Asker, QuestionUpdate, ReplyFuture};
use switchboard_store::AskReply;
use switchboard_text::escape_line;

use crate::keys::{KeyboardTypist, QuestionState};
use crate::printer::{Printer, talk};
use crate::{form, tty};

/// How long a question that is taken back may take to clear the terminal.
const CLEAR_TIMEOUT: Duration = Duration::from_millis(300);

/// The person at this terminal, where nothing else reads from it.
#[derive(Clone, Debug)]
pub struct TerminalAsker {
    /// Prints what became of questions.
    pub printer: Printer,
}

impl Asker for TerminalAsker {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        self.printer.clear_bars();
        let ask = ask.clone();
        Box::pin(async move {
            match present_ask(ask).await {
                Some(reply) => reply,
                // Somebody else may answer; this face cannot.
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

/// Nobody is there: everything is declined, and standard error says so.
#[derive(Clone, Debug)]
pub struct DecliningAsker {
    /// Prints what became of questions.
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

/// Tells that something was declined because nobody can be asked.
pub fn tell_declined(printer: &Printer, server: &str, message: &str) {
    let message: String = message.chars().take(200).collect();
    printer.warn(
        &format!("server `{server}` asked something, which was declined: {message}"),
        Some("nobody can be asked here; run it at a terminal or with `--wait-for-review`"),
    );
}

/// Tells that what a server wanted done at an address is done.
pub fn tell_completed(printer: &Printer, server: &str) {
    let server = escape_line(server);
    printer.say(&format!("server `{server}` says that what it asked you to do is done"));
}

/// Tells that something was turned down unasked.
pub fn tell_turned_down(printer: &Printer, server: &str, why: &str) {
    printer.warn(&format!("what server `{server}` asked was turned down: {why}"), None);
}

/// A line about what became of a question without the person at this terminal.
pub(crate) fn update_line(news: &QuestionUpdate<'_>) -> Option<String> {
    match news {
        QuestionUpdate::Queued(_) => None,
        QuestionUpdate::AnsweredElsewhere { by, word, .. } => Some(answered_elsewhere(by, word)),
        QuestionUpdate::Expired(_) => Some(EXPIRED_LINE.to_owned()),
    }
}

/// What is said of a question that nobody answered.
pub const EXPIRED_LINE: &str = "(nobody answered in time)";

/// A line about an answer that somebody else gave.
pub fn answered_elsewhere(by: &str, word: &str) -> String {
    format!("(answered elsewhere: `{}`, by {})", escape_line(word), escape_line(by))
}

/// Puts a question to the person; it goes away with the future. Nothing when nobody is there any
/// more.
pub async fn present_ask(ask: Ask) -> Option<AskReply> {
    let reply = withdrawable("\n(the server no longer asks)", move |standing| {
        form::ask_person(&ask, &mut KeyboardTypist::new(standing))
    });
    let reply = reply.await.unwrap_or(AskReply::Cancel);
    // A terminal that has gone says nothing, which is not the same as no.
    (reply != AskReply::Cancel || !tty::is_terminal_gone()).then_some(reply)
}

/// Asks on a thread that may wait for the keyboard; when the future is dropped, the question is
/// taken back and `farewell` told. Nothing when it could not be asked.
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
    let answer = asked.await.ok();
    withdraw.question = None;
    answer
}

/// Takes a question back.
struct WithdrawOnDrop {
    question: Option<(QuestionState, mpsc::Receiver<()>)>,
    farewell: &'static str,
}

impl Drop for WithdrawOnDrop {
    fn drop(&mut self) {
        if let Some((standing, over)) = &self.question {
            standing.withdraw();
            // The question clears its lines in this time; one with an open editor takes longer.
            _ = over.recv_timeout(CLEAR_TIMEOUT);
            talk(self.farewell);
        }
    }
}
