//! Sends a question to the face and to the queue at the same time; the first answer counts.

use std::task::Poll;
use std::time::Duration;

use serde_json::Value;
use switchboard_core::{Answer, EventKind};
use switchboard_policy::Question;
use switchboard_store::{
    AskMatter, AskReply, AskedFor, EntryState, Matter, QueueEntry, QueueError, QueuedQuestion,
    UserDecision,
};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::call::in_flight::CallDetails;
use crate::review::ask::{Ask, Asker};
use crate::review::matter::{ask_matter, review_matter};
use crate::review::pending_entry::{PendingEntry, deadline};
use crate::review::review_queue::ReviewQueue;
use crate::review::reviewer::{Reviewer, Unanswered};

/// An update for a face about its pending question.
#[derive(Clone, Copy, Debug)]
pub enum QuestionUpdate<'a> {
    /// The question is also in the queue.
    Queued(&'a QueueEntry),
    /// The question was answered elsewhere, and withdrawn from this face.
    AnsweredElsewhere { id: &'a str, by: &'a str, word: &'a str },
    /// The question expired, and was withdrawn from this face.
    Expired(&'a str),
}

enum QuestionOutcome<T> {
    FromFace(T),
    FromElsewhere(UserDecision),
    Expired(Option<QueueError>),
    Withdrawn(String),
}

/// Asks whether a call may run.
pub(crate) async fn ask_question(
    waiting: &ReviewQueue,
    reviewer: &dyn Reviewer,
    question: &Question,
    number: u64,
    details: CallDetails,
) -> Result<Answer, Unanswered> {
    let waiting = &waiting.with_limit(reviewer.limit());
    let asked = || QueuedQuestion {
        matter: review_matter(question),
        call: Some(number.to_string()),
        reference: details.reference.as_deref().map(str::to_owned),
        caller: details.caller.as_deref().map(str::to_owned),
    };
    let ending = |answer: &Result<Answer, Unanswered>| match answer {
        Ok(answer) => answered_state(&UserDecision::from(answer)),
        Err(unanswered) => EntryState::Withdrawn { why: unanswered.message.clone() },
    };
    let hear = |news: QuestionUpdate<'_>| reviewer.on_update(news);
    let target = question.call().target();
    let unanswered = |message: String, hint: Option<&str>| {
        Err(Unanswered { message, hint: hint.map(str::to_owned) })
    };
    match ask_everywhere(waiting, reviewer.ask(question), ending, asked, hear).await {
        QuestionOutcome::FromFace(answer) => answer,
        QuestionOutcome::FromElsewhere(given) => match given.into_answer() {
            Some(answer) => Ok(answer),
            None => unanswered(format!("the answer about `{target}` is not one for a call"), None),
        },
        QuestionOutcome::Expired(None) => {
            let minutes = format_limit(waiting.limit());
            let hint = "`settings.reviewMinutes` sets how long a review waits";
            unanswered(
                format!("the review of `{target}` was not answered within {minutes}"),
                Some(hint),
            )
        }
        QuestionOutcome::Expired(Some(error)) => {
            unanswered(format!("the review of `{target}` was not answered: {error}"), error.hint())
        }
        QuestionOutcome::Withdrawn(why) => {
            unanswered(format!("the review of `{target}` was withdrawn: {why}"), None)
        }
    }
}

/// Asks a person on behalf of a server. A question without an answer counts as cancelled.
pub(crate) async fn ask_person(
    waiting: &ReviewQueue,
    asker: &dyn Asker,
    ask: &Ask,
    caller: Option<String>,
    face: impl Future<Output = AskReply> + Send,
) -> AskReply {
    let waiting = &waiting.with_limit(asker.limit());
    let asked = || QueuedQuestion {
        matter: ask_matter(ask),
        call: ask.call.clone(),
        reference: ask.reference.clone(),
        caller,
    };
    let ending = |reply: &AskReply| answered_state(&UserDecision::from(reply));
    let hear = |news: QuestionUpdate<'_>| asker.on_update(news);
    match ask_everywhere(waiting, Box::pin(face), ending, asked, hear).await {
        QuestionOutcome::FromFace(reply) => reply,
        QuestionOutcome::FromElsewhere(given) => given.into_reply().unwrap_or(AskReply::Cancel),
        QuestionOutcome::Expired(_) | QuestionOutcome::Withdrawn(_) => AskReply::Cancel,
    }
}

/// Asks a yes-or-no question of the host about a server, in the queue only, where every face can
/// answer it. Dropping the future withdraws it.
pub(crate) async fn ask_consent(
    waiting: &ReviewQueue,
    server: &str,
    name: &str,
    message: String,
    details: Value,
    limit: Duration,
) -> Result<AskReply, QueueError> {
    let wanted = AskedFor::Consent { name: name.to_owned(), details };
    let matter = Matter::Ask(AskMatter { server: server.to_owned(), tool: None, message, wanted });
    let asked = QueuedQuestion { matter, call: None, reference: None, caller: None };
    let posted = waiting.post_optional(asked, limit).await?;
    waiting.emit(|| waiting_event(&posted.entry));
    posted.wait_until_ended().await;
    let id = posted.entry.id.clone();
    let (state, given) = posted.take().await?;
    waiting.emit(|| ended_event(&id, &state));
    Ok(given.and_then(UserDecision::into_reply).unwrap_or(AskReply::Cancel))
}

async fn ask_everywhere<T>(
    waiting: &ReviewQueue,
    face: impl Future<Output = T> + Unpin,
    ending: impl Fn(&T) -> EntryState,
    asked: impl FnOnce() -> QueuedQuestion,
    hear: impl Fn(QuestionUpdate<'_>),
) -> QuestionOutcome<T> {
    let mut face = Some(face);
    // A face that answers immediately, such as `NobodyThere`, needs no queue: no file is touched.
    let at_once = std::future::poll_fn(|context| {
        let Some(face) = &mut face else { return Poll::Ready(None) };
        match std::pin::Pin::new(face).poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => Poll::Ready(None),
        }
    });
    if let Some(answer) = at_once.await {
        return QuestionOutcome::FromFace(answer);
    }
    let Some(mut face) = face else { return QuestionOutcome::Expired(None) };
    let limit = waiting.limit();
    let end = deadline(limit);
    let mut posted = match waiting.post(asked(), limit).await {
        Ok(posted) => posted,
        // If the queue fails, only the face is asked.
        Err(error) => {
            return match timeout_at(end, face).await {
                Ok(answer) => QuestionOutcome::FromFace(answer),
                Err(_) => QuestionOutcome::Expired(Some(error)),
            };
        }
    };
    hear(QuestionUpdate::Queued(&posted.entry));
    waiting.emit(|| waiting_event(&posted.entry));
    let answer = wait_for_first(&mut posted, &mut face, end).await;
    // The store decides a race: another process may have answered a moment ago.
    let state = match &answer {
        FirstEvent::Face(answer) => Some(ending(answer)),
        FirstEvent::Late => Some(EntryState::Expired),
        FirstEvent::Elsewhere => None,
    };
    let id = posted.entry.id.clone();
    let is_ours = match state.clone() {
        // If the queue can no longer be written, the answer of the face counts.
        Some(state) => posted.end(state).await.unwrap_or(true),
        None => false,
    };
    let came = match (answer, is_ours) {
        (FirstEvent::Face(answer), true) => QuestionOutcome::FromFace(answer),
        (FirstEvent::Late, true) => QuestionOutcome::Expired(None),
        (FirstEvent::Elsewhere, _) | (_, false) => {
            // Before the face hears of the answer: dropping its future withdraws the question.
            drop(face);
            return take_other_answer(waiting, posted, &hear).await;
        }
    };
    drop(face);
    if let QuestionOutcome::Expired(_) = came {
        hear(QuestionUpdate::Expired(&id));
    }
    if let Some(state) = state {
        waiting.emit(|| ended_event(&id, &state));
    }
    came
}

enum FirstEvent<T> {
    Face(T),
    Elsewhere,
    Late,
}

async fn wait_for_first<T>(
    posted: &mut PendingEntry,
    face: &mut (impl Future<Output = T> + Unpin),
    end: Instant,
) -> FirstEvent<T> {
    tokio::select! {
        // Biased: the answer of the face wins over an answer or a timeout at the same time.
        biased;
        answer = face => FirstEvent::Face(answer),
        () = posted.wait_until_ended() => FirstEvent::Elsewhere,
        () = sleep_until(end) => FirstEvent::Late,
    }
}

/// Takes the answer of another face or process.
async fn take_other_answer<T>(
    waiting: &ReviewQueue,
    posted: PendingEntry,
    hear: &impl Fn(QuestionUpdate<'_>),
) -> QuestionOutcome<T> {
    let id = posted.entry.id.clone();
    let (state, given) = match posted.take().await {
        Ok(taken) => taken,
        Err(error) => return QuestionOutcome::Withdrawn(error.to_string()),
    };
    waiting.emit(|| ended_event(&id, &state));
    match (state, given) {
        (EntryState::Answered { by, word }, Some(given)) => {
            hear(QuestionUpdate::AnsweredElsewhere { id: &id, by: &by, word: &word });
            QuestionOutcome::FromElsewhere(given)
        }
        (EntryState::Expired, _) => {
            hear(QuestionUpdate::Expired(&id));
            QuestionOutcome::Expired(None)
        }
        (EntryState::Withdrawn { why }, _) => QuestionOutcome::Withdrawn(why),
        (EntryState::Answered { .. } | EntryState::Waiting, _) => {
            QuestionOutcome::Withdrawn("its answer was lost".to_owned())
        }
    }
}

fn answered_state(given: &UserDecision) -> EntryState {
    let by = format!("the face of process {}", std::process::id());
    EntryState::Answered { by, word: given.word().to_owned() }
}

fn waiting_event(entry: &QueueEntry) -> EventKind {
    EventKind::Waiting {
        id: entry.id.clone(),
        kind: entry.asked.matter.word().to_owned(),
        server: entry.asked.matter.server().to_owned(),
        target: entry.asked.matter.target().map(str::to_owned),
        call: entry.asked.call.clone(),
    }
}

fn ended_event(id: &str, state: &EntryState) -> EventKind {
    let (how, by) = match state {
        EntryState::Answered { by, word } => (word.as_str(), Some(by.clone())),
        EntryState::Withdrawn { .. } => ("withdrawn", None),
        EntryState::Expired | EntryState::Waiting => ("expired", None),
    };
    EventKind::Answered { id: id.to_owned(), how: how.to_owned(), by }
}

fn format_limit(limit: Duration) -> String {
    match limit.as_secs() {
        60 => "a minute".to_owned(),
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        1 => "a second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}
