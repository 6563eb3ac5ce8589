//! The registry of program calls in flight, with their updates and open questions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_store::{Matter, QueuedQuestion, UserDecision};
use switchboard_views::CallUpdate;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

const MAX_OPEN_CALLS: usize = 1_000;
/// Maximum number of updates queued for a slow program.
const MAX_QUEUED_EVENTS: usize = 256;

#[derive(Default)]
pub(crate) struct ProgramCalls(Arc<Mutex<HashMap<String, Arc<ProgramCall>>>>);

pub(super) struct ProgramCall {
    told: mpsc::Sender<CallUpdate>,
    pub(super) cancel: CancellationToken,
    questions: Mutex<OpenQuestions>,
}

#[derive(Default)]
struct OpenQuestions {
    last: u64,
    open: BTreeMap<u64, PendingAnswer>,
}

struct PendingAnswer {
    is_review: bool,
    answer: oneshot::Sender<UserDecision>,
}

/// Removes the call from the registry when it ends.
pub(super) struct ProgramCallGuard {
    pub(super) line: Arc<ProgramCall>,
    name: String,
    lines: Arc<Mutex<HashMap<String, Arc<ProgramCall>>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerRejection {
    NoCall,
    /// The question was answered or withdrawn.
    Over,
    /// The answer is of the wrong kind, such as `accept` for a review.
    DoesNotFit,
}

impl ProgramCalls {
    /// Registers a call under this id. Returns `None` if there are too many calls.
    pub(super) fn open(
        &self,
        name: &str,
    ) -> Option<(ProgramCallGuard, mpsc::Receiver<CallUpdate>)> {
        let (told, received) = mpsc::channel(MAX_QUEUED_EVENTS);
        let cancel = CancellationToken::new();
        let line = Arc::new(ProgramCall { told, cancel, questions: Mutex::default() });
        let mut lines = self.0.lock();
        if lines.len() >= MAX_OPEN_CALLS {
            return None;
        }
        lines.insert(name.to_owned(), Arc::clone(&line));
        let lines = Arc::clone(&self.0);
        Some((ProgramCallGuard { line, name: name.to_owned(), lines }, received))
    }

    pub(crate) fn answer(
        &self,
        call: &str,
        question: u64,
        given: UserDecision,
    ) -> Result<(), AnswerRejection> {
        self.get(call).ok_or(AnswerRejection::NoCall)?.answer(question, given)
    }

    /// Cancels a call, and returns whether it exists.
    pub(crate) fn give_up(&self, call: &str) -> bool {
        let line = self.get(call);
        if let Some(line) = &line {
            line.cancel.cancel();
        }
        line.is_some()
    }

    fn get(&self, call: &str) -> Option<Arc<ProgramCall>> {
        self.0.lock().get(call).cloned()
    }
}

impl ProgramCall {
    pub(super) fn send(&self, told: CallUpdate) {
        // Fails if the queue is full: a slow program misses the update, and the call does not wait.
        _ = self.told.try_send(told);
    }

    /// Asks the program. Dropping the future withdraws the question. `None` after a disconnect.
    pub(super) async fn ask(
        &self,
        asked: QueuedQuestion,
        anyway: Option<String>,
    ) -> Option<UserDecision> {
        let is_review = matches!(asked.matter, Matter::Review(_));
        let (answer, answered) = oneshot::channel();
        let question = {
            let mut questions = self.questions.lock();
            questions.last += 1;
            let number = questions.last;
            questions.open.insert(number, PendingAnswer { is_review, answer });
            number
        };
        let _withdraw = QuestionGuard { line: self, question };
        // Waits for room in the queue: unlike other updates, a question must not be dropped.
        self.told.send(CallUpdate::Asked { question, asked, anyway }).await.ok()?;
        answered.await.ok()
    }

    fn answer(&self, question: u64, given: UserDecision) -> Result<(), AnswerRejection> {
        let mut questions = self.questions.lock();
        // Checked before the removal: an answer of the wrong kind must leave the question open.
        let open = questions.open.get(&question).ok_or(AnswerRejection::Over)?;
        let fits = match open.is_review {
            true => given.clone().into_answer().is_some(),
            false => given.clone().into_reply().is_some(),
        };
        if !fits {
            return Err(AnswerRejection::DoesNotFit);
        }
        let open = questions.open.remove(&question).ok_or(AnswerRejection::Over)?;
        open.answer.send(given).map_err(|_| AnswerRejection::Over)
    }
}

/// Withdraws a question on drop, unless the program answered it.
struct QuestionGuard<'a> {
    line: &'a ProgramCall,
    question: u64,
}

impl Drop for QuestionGuard<'_> {
    fn drop(&mut self) {
        let question = self.question;
        let was_open = self.line.questions.lock().open.remove(&question).is_some();
        if was_open {
            self.line.send(CallUpdate::Over { question });
        }
    }
}

impl Drop for ProgramCallGuard {
    fn drop(&mut self) {
        self.lines.lock().remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use switchboard_store::{AskMatter, AskedFor};
    use tokio::time::timeout;

    use super::*;

    fn asked() -> QueuedQuestion {
        let wanted = AskedFor::Url { url: "https://example.org/".to_owned() };
        let server = "notes".to_owned();
        let message = "Go there".to_owned();
        let matter = Matter::Ask(AskMatter { server, tool: None, message, wanted });
        QueuedQuestion { matter, call: None, reference: None, caller: None }
    }

    #[tokio::test]
    async fn a_question_is_answered_once_with_what_fits_it() {
        let lines = ProgramCalls::default();
        let (held, mut told) = lines.open("word").unwrap();
        let line = Arc::clone(&held.line);
        let asking = tokio::spawn(async move { line.ask(asked(), None).await });
        assert!(matches!(told.recv().await, Some(CallUpdate::Asked { question: 1, .. })));
        for (call, question, given, expected) in [
            ("other", 1, UserDecision::Decline, Err(AnswerRejection::NoCall)),
            ("word", 2, UserDecision::Decline, Err(AnswerRejection::Over)),
            ("word", 1, UserDecision::Run, Err(AnswerRejection::DoesNotFit)),
            ("word", 1, UserDecision::Decline, Ok(())),
            ("word", 1, UserDecision::Accept(None), Err(AnswerRejection::Over)),
        ] {
            assert_eq!(lines.answer(call, question, given), expected, "{call} {question}");
        }
        assert_eq!(asking.await.unwrap(), Some(UserDecision::Decline));
        drop(held);
        assert!(told.try_recv().is_err(), "what was answered there is not taken back");
        assert_eq!(lines.answer("word", 1, UserDecision::Decline), Err(AnswerRejection::NoCall));
    }

    #[tokio::test]
    async fn a_question_that_nobody_needs_any_more_is_taken_back() {
        let lines = ProgramCalls::default();
        let (held, mut told) = lines.open("word").unwrap();
        let waited = timeout(Duration::from_millis(1), held.line.ask(asked(), None)).await;
        assert!(waited.is_err(), "{waited:?}");
        assert!(matches!(told.recv().await, Some(CallUpdate::Asked { question: 1, .. })));
        assert_eq!(told.recv().await, Some(CallUpdate::Over { question: 1 }));
        assert_eq!(lines.answer("word", 1, UserDecision::Decline), Err(AnswerRejection::Over));
        assert!(lines.give_up("word"));
        assert!(held.line.cancel.is_cancelled());
    }

    #[test]
    fn there_are_only_so_many_lines() {
        let lines = ProgramCalls::default();
        let mut held: Vec<_> =
            (0..MAX_OPEN_CALLS).map(|number| lines.open(&number.to_string()).unwrap()).collect();
        assert!(lines.open("one more").is_none());
        held.pop();
        assert!(lines.open("one more").is_some());
    }
}
