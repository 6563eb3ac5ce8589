//! What a server asks of the person, and who puts it to them.

use std::pin::Pin;
use std::time::Duration;

use switchboard_store::AskReply;

use crate::review::first_answer::QuestionUpdate;
use crate::review::form::Form;
use crate::review::sampling::SamplingAsk;
use crate::review::url_ask::UrlAsk;

/// What a server asks of the person. All texts are the server's own: escape them to show them.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The server that asks.
    pub server: String,
    /// The tool, resource or prompt whose call needs it, where that is known.
    pub tool: Option<String>,
    /// The number of that call.
    pub call: Option<String>,
    /// The caller's own name for that call, such as the id that a model gave it.
    pub reference: Option<String>,
    /// What the server says about it.
    pub message: String,
    /// What it asks for.
    pub kind: AskKind,
}

/// What a server asks for.
#[derive(Clone, Debug)]
pub enum AskKind {
    /// To fill in a form.
    Form(Form),
    /// To visit an address.
    Url(UrlAsk),
    /// To let a model answer.
    Sampling(SamplingAsk),
}

/// A reply on its way.
pub type ReplyFuture<'a> = Pin<Box<dyn Future<Output = AskReply> + Send + 'a>>;

/// Puts to a person what servers ask.
pub trait Asker: Send + Sync {
    /// Asks, and waits for the reply. Whoever no longer wants it drops the future.
    ///
    /// Meanwhile it may be answered elsewhere. Who cannot ask any more, such as after the terminal
    /// has gone, does not decide anything: the future stays open.
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a>;

    /// Whether there is somebody who may answer.
    fn is_available(&self) -> bool {
        true
    }

    /// Tells the person that what `server` wanted done at an address is done, as it says.
    fn notify_completed(&self, server: &str) {
        let _ = server;
    }

    /// Tells the person that `server` asked for something, and why it was turned down unasked.
    fn notify_refused(&self, server: &str, why: &str) {
        let _ = (server, why);
    }

    /// How long it waits for a reply, if not as long as the queue says.
    fn limit(&self) -> Option<Duration> {
        None
    }

    /// Hears what becomes of a question while it waits.
    fn on_update(&self, news: QuestionUpdate<'_>) {
        let _ = news;
    }
}

/// Nobody can be asked, so everything is declined.
#[derive(Clone, Copy, Debug)]
pub struct NobodyToAsk;

impl Asker for NobodyToAsk {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> ReplyFuture<'a> {
        Box::pin(async { AskReply::Decline })
    }

    fn is_available(&self) -> bool {
        false
    }
}

/// Why nobody is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAsk {
    /// It does not have the shape that the protocol gives it.
    #[error("{0}")]
    Malformed(String),
    /// It has that shape, but nobody should answer it.
    #[error("{0}")]
    Unsafe(String),
}

impl BadAsk {
    pub(super) fn new_malformed(why: impl Into<String>) -> Self {
        Self::Malformed(why.into())
    }

    pub(super) fn new_unsafe(why: impl Into<String>) -> Self {
        Self::Unsafe(why.into())
    }
}
