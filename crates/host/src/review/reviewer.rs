//! Who answers questions: the face that a person sits at, or nobody.

use std::pin::Pin;
use std::time::Duration;

use switchboard_core::Answer;
use switchboard_policy::Question;

use crate::review::first_answer::QuestionUpdate;

/// An answer on its way.
pub type ReviewFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, Unanswered>> + Send + 'a>>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unanswered {
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Puts questions to a person.
pub trait Reviewer: Send + Sync {
    /// Asks, and waits for the answer. Whoever no longer wants it drops the future.
    ///
    /// Meanwhile it may be answered elsewhere. Who cannot ask any more, such as after the terminal
    /// has gone, does not decide anything: the future stays open.
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a>;

    /// How long it waits for an answer, if not as long as the queue says.
    fn limit(&self) -> Option<Duration> {
        None
    }

    /// Hears what becomes of a question while it waits.
    fn on_update(&self, news: QuestionUpdate<'_>) {
        let _ = news;
    }
}

/// Nobody can be asked, so every question goes unanswered.
#[derive(Clone, Copy, Debug)]
pub struct NobodyThere;

impl Reviewer for NobodyThere {
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a> {
        let target = question.call().target();
        let message = format!("`{target}` needs a person's approval, and nobody can be asked here");
        let there = "run it at a terminal or with `--wait-for-review`";
        let hint = if question.is_asked_each_time() {
            format!("{there}; it is asked because {}", question.why())
        } else {
            format!(
                "{there}, or add `{}` to `autoApprove` of server `{}` and switch on \
                 `settings.autoApprove`",
                target.name, target.server
            )
        };
        Box::pin(async move { Err(Unanswered { message, hint: Some(hint) }) })
    }
}
