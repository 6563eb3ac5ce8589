//! Questions about calls that arrive during a turn.

use switchboard_terminal::{
    DeskItem, QuestionOutcome, is_terminal_gone, leave_open, leave_to_others, present,
};

use crate::program::ChatContext;

/// Questions of a turn that this terminal did not answer, open for other faces until dropped.
#[derive(Default)]
pub(crate) struct UnansweredQuestions(Vec<QuestionOutcome>);

impl UnansweredQuestions {
    /// Returns the question if it can be presented: the terminal exists, and the user has not
    /// interrupted an earlier question.
    pub(crate) fn admit(&mut self, question: DeskItem) -> Option<DeskItem> {
        if is_terminal_gone() {
            self.0.push(leave_to_others(question));
            return None;
        }
        // The user wants to stop: another menu would have to be interrupted again.
        if !self.0.is_empty() {
            self.0.push(leave_open(question));
            return None;
        }
        Some(question)
    }

    /// Presents a question; returns whether the user interrupted it.
    pub(crate) async fn present(&mut self, context: &ChatContext<'_>, question: DeskItem) -> bool {
        let outcome = tokio::select! {
            outcome = present(question) => outcome,
            () = context.interrupts.token().cancelled() => return false,
        };
        let is_interrupted = matches!(outcome, QuestionOutcome::Interrupted(_));
        if !matches!(outcome, QuestionOutcome::Answered) {
            self.0.push(outcome);
        }
        is_interrupted
    }
}
