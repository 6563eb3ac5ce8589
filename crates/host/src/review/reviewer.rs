//! The trait that presents questions about calls to a person.

use std::pin::Pin;
use std::time::Duration;

use switchboard_core::Answer;
use switchboard_policy::Question;

use crate::review::first_answer::QuestionUpdate;

/// A pending answer about a call.
pub type ReviewFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, Unanswered>> + Send + 'a>>;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unanswered {
    pub message: String,
    pub hint: Option<String>,
}

/// Presents questions about calls to a person.
pub trait Reviewer: Send + Sync {
    /// Asks, and waits for the answer. Dropping the future withdraws the question.
    ///
    /// The question may be answered elsewhere in the meantime. A reviewer that can no longer ask,
    /// for example because the terminal is gone, leaves the future pending instead of deciding.
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a>;

    /// Returns how long to wait for an answer, if different from the limit of the queue.
    fn limit(&self) -> Option<Duration> {
        None
    }

    /// Receives updates about a pending question.
    fn on_update(&self, news: QuestionUpdate<'_>) {
        let _ = news;
    }
}

/// A reviewer without a person: every question stays unanswered.
#[derive(Clone, Copy, Debug)]
pub struct NobodyThere;

impl Reviewer for NobodyThere {
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a> {
        let target = question.call().target();
        let message = format!("`{target}` needs approval, but there is no terminal to ask on");
        // `autoApprove` does not apply to a question that is asked each time.
        let there = "run it at a terminal or with `--wait-for-review`";
        let hint = if question.is_asked_each_time() {
            format!("{there}; approval is required because {}", question.why())
        } else {
            format!(
                "{there}, or add `{}` to `autoApprove` of server `{}` and turn on \
                 `settings.autoApprove`",
                target.name, target.server
            )
        };
        Box::pin(async move { Err(Unanswered { message, hint: Some(hint) }) })
    }
}
