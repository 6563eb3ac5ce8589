//! Who is asked what servers ask: the person at the terminal, or nobody.

use std::sync::mpsc;
use std::time::Duration;

use switchboard_host::{Ask, Asker, News, Replying};
use switchboard_store::Reply;
use switchboard_text::escape_line;

use crate::keys::{AtKeys, Standing};
use crate::printer::{Printer, talk};
use crate::{form, tty};

/// How long a question that is taken back may take to clear the terminal.
const CLEARING: Duration = Duration::from_millis(300);

/// The person at this terminal, where nothing else reads from it.
#[derive(Clone, Debug)]
pub struct TerminalAsker {
    /// Prints what became of questions.
    pub printer: Printer,
}

impl Asker for TerminalAsker {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Replying<'a> {
        self.printer.stand_still();
        let ask = ask.clone();
        Box::pin(async move {
            match present_ask(ask).await {
                Some(reply) => reply,
                // Somebody else may answer; this face cannot.
                None => std::future::pending().await,
            }
        })
    }

    fn completed(&self, server: &str) {
        tell_completed(&self.printer, server);
    }

    fn turned_down(&self, server: &str, why: &str) {
        tell_turned_down(&self.printer, server, why);
    }

    fn hear(&self, news: News<'_>) {
        if let Some(line) = heard(&news) {
            talk(&line);
        }
    }
}

/// Nobody is there: everything is declined, and standard error says so.
#[derive(Clone, Debug)]
pub struct NobodyAsked {
    /// Prints what became of questions.
    pub printer: Printer,
}

impl Asker for NobodyAsked {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Replying<'a> {
        tell_declined(&self.printer, &ask.server, &ask.message);
        Box::pin(async { Reply::Decline })
    }

    fn is_there(&self) -> bool {
        false
    }

    fn turned_down(&self, server: &str, why: &str) {
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
pub(crate) fn heard(news: &News<'_>) -> Option<String> {
    match news {
        News::Waits(_) => None,
        News::AnsweredElsewhere { by, word, .. } => Some(answered_elsewhere(by, word)),
        News::Expired(_) => Some(EXPIRED.to_owned()),
    }
}

/// What is said of a question that nobody answered.
pub const EXPIRED: &str = "(nobody answered in time)";

/// A line about an answer that somebody else gave.
pub fn answered_elsewhere(by: &str, word: &str) -> String {
    format!("(answered elsewhere: `{}`, by {})", escape_line(word), escape_line(by))
}

/// Puts a question to the person; it goes away with the future. Nothing when nobody is there any
/// more.
pub async fn present_ask(ask: Ask) -> Option<Reply> {
    let reply = withdrawable("\n(the server no longer asks)", move |standing| {
        form::put(&ask, &mut AtKeys::new(standing))
    });
    let reply = reply.await.unwrap_or(Reply::Cancel);
    // A terminal that has gone says nothing, which is not the same as no.
    (reply != Reply::Cancel || !tty::is_terminal_gone()).then_some(reply)
}

/// Asks on a thread that may wait for the keyboard; when the future is dropped, the question is
/// taken back and `farewell` told. Nothing when it could not be asked.
pub(crate) async fn withdrawable<T: Send + 'static>(
    farewell: &'static str,
    ask: impl FnOnce(Standing) -> T + Send + 'static,
) -> Option<T> {
    let standing = Standing::default();
    let (asking, over) = mpsc::channel();
    let mut withdraw = Withdraw { question: Some((standing.clone(), over)), farewell };
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
struct Withdraw {
    question: Option<(Standing, mpsc::Receiver<()>)>,
    farewell: &'static str,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        if let Some((standing, over)) = &self.question {
            standing.withdraw();
            // The question clears away what it has shown; an editor outside takes longer.
            over.recv_timeout(CLEARING).ok();
            talk(self.farewell);
        }
    }
}
