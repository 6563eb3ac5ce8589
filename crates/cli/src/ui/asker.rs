//! Who is asked what servers ask: the person at the terminal, or nobody.

use switchboard_host::format::escape_line;
use switchboard_host::review::{Ask, Asker, Reply, Replying};

use crate::ui::form;
use crate::ui::keys::{AtKeys, Standing};
use crate::ui::printer::{Printer, talk};

/// The person at this terminal, where nothing else reads from it.
#[derive(Clone, Debug)]
pub(crate) struct TerminalAsker {
    pub(crate) printer: Printer,
}

impl Asker for TerminalAsker {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Replying<'a> {
        self.printer.stand_still();
        Box::pin(put(ask.clone()))
    }

    fn turned_down(&self, server: &str, why: &str) {
        turned_down(&self.printer, server, why);
    }
}

/// Nobody is there: everything is declined, and standard error says so.
#[derive(Clone, Debug)]
pub(crate) struct NobodyAsked {
    pub(crate) printer: Printer,
}

impl Asker for NobodyAsked {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Replying<'a> {
        let server = escape_line(&ask.server);
        let message: String = escape_line(&ask.message).chars().take(200).collect();
        self.printer.warn(
            &format!("server `{server}` asked something, which was declined: {message}"),
            Some("nobody can be asked here; run it at a terminal"),
        );
        Box::pin(async { Reply::Decline })
    }

    fn turned_down(&self, server: &str, why: &str) {
        turned_down(&self.printer, server, why);
    }
}

/// Tells that something was turned down unasked.
pub(crate) fn turned_down(printer: &Printer, server: &str, why: &str) {
    printer.warn(&format!("what server `{server}` asked was turned down: {why}"), None);
}

/// Puts a question to the person; it goes away with the future.
pub(crate) async fn put(ask: Ask) -> Reply {
    struct Withdraw(Option<Standing>);
    impl Drop for Withdraw {
        fn drop(&mut self) {
            if let Some(standing) = &self.0 {
                standing.withdraw();
                talk("\n(the server no longer asks)");
            }
        }
    }
    let standing = Standing::default();
    let mut withdraw = Withdraw(Some(standing.clone()));
    // Reading from the terminal blocks; the rest of the program goes on.
    let put = tokio::task::spawn_blocking(move || form::put(&ask, &mut AtKeys::new(standing)));
    let reply = put.await.unwrap_or(Reply::Cancel);
    withdraw.0 = None;
    reply
}
