//! Questions of servers to a person, and the trait that presents them.

use std::pin::Pin;
use std::time::Duration;

use switchboard_store::AskReply;

use crate::review::first_answer::QuestionUpdate;
use crate::review::form::Form;
use crate::review::sampling::SamplingAsk;
use crate::review::url_ask::UrlAsk;

/// A question of a server to a person. All texts come from the server: escape them for display.
#[derive(Clone, Debug)]
pub struct Ask {
    pub server: String,
    /// The tool, resource or prompt whose call caused the question, if known.
    pub tool: Option<String>,
    /// The number of that call.
    pub call: Option<String>,
    /// The caller's reference for that call, such as the id that a model gave it.
    pub reference: Option<String>,
    pub message: String,
    pub kind: AskKind,
}

/// The kind of a question.
#[derive(Clone, Debug)]
pub enum AskKind {
    Form(Form),
    Url(UrlAsk),
    Sampling(SamplingAsk),
}

/// A pending reply to a server's question.
pub type ReplyFuture<'a> = Pin<Box<dyn Future<Output = AskReply> + Send + 'a>>;

/// Presents questions of servers to a person.
pub trait Asker: Send + Sync {
    /// Asks, and waits for the reply. Dropping the future withdraws the question.
    ///
    /// The question may be answered elsewhere in the meantime. An asker that can no longer ask, for
    /// example because the terminal is gone, leaves the future pending instead of declining.
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a>;

    /// Returns whether a person may answer.
    fn is_available(&self) -> bool {
        true
    }

    /// Notifies the person that `server` reports its URL elicitation as complete.
    fn notify_completed(&self, server: &str) {
        let _ = server;
    }

    /// Notifies the person that a question of `server` was rejected without asking, and why.
    fn notify_refused(&self, server: &str, why: &str) {
        let _ = (server, why);
    }

    /// Returns how long to wait for a reply, if different from the limit of the queue.
    fn limit(&self) -> Option<Duration> {
        None
    }

    /// Receives updates about a pending question.
    fn on_update(&self, news: QuestionUpdate<'_>) {
        let _ = news;
    }
}

/// An asker without a person: declines everything.
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

/// Why a question is rejected without asking.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAsk {
    /// It violates the protocol.
    #[error("{0}")]
    Malformed(String),
    /// It is well formed, but must not be answered.
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
