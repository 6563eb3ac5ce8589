//! Puts a question to the face and into the queue at the same time: the first answer counts.

use std::task::Poll;
use std::time::Duration;

use serde_json::Value;
use switchboard_core::{Answer, What};
use switchboard_policy::Question;
use switchboard_store::{
    AskMatter, Asked, AskedFor, Entry, Given, Matter, Reply, State, WaitingError,
};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::review::ask::{Ask, Asker};
use crate::review::matter::{ask_matter, review_matter};
use crate::review::pending_entry::{Posted, deadline};
use crate::review::review_queue::{CallSeen, Waiting};
use crate::review::reviewer::{Reviewer, Unanswered};

/// What a face hears about a question while it waits.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// It waits in the queue as well.
    Waits(&'a Entry),
    /// Somebody else was faster; the face's own question has been taken back.
    AnsweredElsewhere {
        /// The entry.
        id: &'a str,
        /// Who.
        by: &'a str,
        /// What they said, in one word.
        word: &'a str,
    },
    /// Nobody answered in time; the face's own question has been taken back.
    Expired(&'a str),
}

/// What became of a question.
enum Came<T> {
    FromFace(T),
    FromElsewhere(Given),
    Expired(Option<WaitingError>),
    Withdrawn(String),
}

/// Asks whether a call may run.
///
/// # Errors
/// Why there is no answer.
pub(crate) async fn put_question(
    waiting: &Waiting,
    reviewer: &dyn Reviewer,
    question: &Question,
    call: (u64, CallSeen),
) -> Result<Answer, Unanswered> {
    let waiting = &waiting.within(reviewer.limit());
    let (number, seen) = call;
    let asked = || Asked {
        matter: review_matter(question),
        call: Some(number.to_string()),
        reference: seen.reference,
        caller: seen.caller,
    };
    let ending = |answer: &Result<Answer, Unanswered>| match answer {
        Ok(answer) => answered_here(&Given::from(answer)),
        Err(unanswered) => State::Withdrawn { why: unanswered.message.clone() },
    };
    let hear = |news: News<'_>| reviewer.hear(news);
    let target = question.call().target();
    let unanswered = |message: String, hint: Option<&str>| {
        Err(Unanswered { message, hint: hint.map(str::to_owned) })
    };
    match put(waiting, reviewer.ask(question), ending, asked, hear).await {
        Came::FromFace(answer) => answer,
        Came::FromElsewhere(given) => match given.into_answer() {
            Some(answer) => Ok(answer),
            None => unanswered(format!("what was answered about `{target}` fits no call"), None),
        },
        Came::Expired(None) => {
            let minutes = in_words(waiting.limit());
            let hint = "`settings.reviewMinutes` says how long a question waits";
            unanswered(format!("nobody answered about `{target}` within {minutes}"), Some(hint))
        }
        Came::Expired(Some(error)) => {
            unanswered(format!("nobody answered about `{target}`: {error}"), error.hint())
        }
        Came::Withdrawn(why) => {
            unanswered(format!("the question about `{target}` was withdrawn: {why}"), None)
        }
    }
}

/// Asks what a server asks. Who says nothing has cancelled.
pub(crate) async fn put_ask(
    waiting: &Waiting,
    asker: &dyn Asker,
    ask: &Ask,
    caller: Option<String>,
    face: impl Future<Output = Reply> + Send,
) -> Reply {
    let waiting = &waiting.within(asker.limit());
    let asked = || Asked {
        matter: ask_matter(ask),
        call: ask.call.clone(),
        reference: ask.reference.clone(),
        caller,
    };
    let ending = |reply: &Reply| answered_here(&Given::from(reply));
    let hear = |news: News<'_>| asker.hear(news);
    match put(waiting, Box::pin(face), ending, asked, hear).await {
        Came::FromFace(reply) => reply,
        Came::FromElsewhere(given) => given.into_reply().unwrap_or(Reply::Cancel),
        Came::Expired(_) | Came::Withdrawn(_) => Reply::Cancel,
    }
}

/// Puts a question of our own about a server, to be answered with yes or no, into the queue alone:
/// every face can answer it there. Withdrawn when the future is dropped.
///
/// # Errors
/// When it cannot be kept.
pub(crate) async fn put_consent(
    waiting: &Waiting,
    (server, name): (&str, &str),
    (message, details): (String, Value),
    limit: Duration,
) -> Result<Reply, WaitingError> {
    let wanted = AskedFor::Consent { name: name.to_owned(), details };
    let matter = Matter::Ask(AskMatter { server: server.to_owned(), tool: None, message, wanted });
    let asked = Asked { matter, call: None, reference: None, caller: None };
    let posted = waiting.post_beside(asked, limit).await?;
    waiting.tell(|| waits(&posted.entry));
    posted.over().await;
    let id = posted.entry.id.clone();
    let (state, given) = posted.take().await?;
    waiting.tell(|| ended(&id, &state));
    Ok(given.and_then(Given::into_reply).unwrap_or(Reply::Cancel))
}

async fn put<T>(
    waiting: &Waiting,
    face: impl Future<Output = T> + Unpin,
    ending: impl Fn(&T) -> State,
    asked: impl FnOnce() -> Asked,
    hear: impl Fn(News<'_>),
) -> Came<T> {
    let mut face = Some(face);
    // Who answers at once, such as nobody, needs no queue: no file is touched for that.
    let at_once = std::future::poll_fn(|context| {
        let Some(face) = &mut face else { return Poll::Ready(None) };
        match std::pin::Pin::new(face).poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => Poll::Ready(None),
        }
    });
    if let Some(answer) = at_once.await {
        return Came::FromFace(answer);
    }
    let Some(mut face) = face else { return Came::Expired(None) };
    let limit = waiting.limit();
    let end = deadline(limit);
    let mut posted = match waiting.post(asked(), limit).await {
        Ok(posted) => posted,
        // Without the queue the face alone is asked.
        Err(error) => {
            return match timeout_at(end, face).await {
                Ok(answer) => Came::FromFace(answer),
                Err(_) => Came::Expired(Some(error)),
            };
        }
    };
    hear(News::Waits(&posted.entry));
    waiting.tell(|| waits(&posted.entry));
    let answer = first(&mut posted, &mut face, end).await;
    let state = match &answer {
        First::Face(answer) => Some(ending(answer)),
        First::Late => Some(State::Expired),
        First::Elsewhere => None,
    };
    let id = posted.entry.id.clone();
    let is_ours = match state.clone() {
        // Where the queue cannot be written any more, the face has the word.
        Some(state) => posted.end(state).await.unwrap_or(true),
        None => false,
    };
    let came = match (answer, is_ours) {
        (First::Face(answer), true) => Came::FromFace(answer),
        (First::Late, true) => Came::Expired(None),
        (First::Elsewhere, _) | (_, false) => {
            drop(face);
            return elsewhere(waiting, posted, &hear).await;
        }
    };
    drop(face);
    if let Came::Expired(_) = came {
        hear(News::Expired(&id));
    }
    if let Some(state) = state {
        waiting.tell(|| ended(&id, &state));
    }
    came
}

/// What happened first.
enum First<T> {
    Face(T),
    Elsewhere,
    Late,
}

async fn first<T>(
    posted: &mut Posted,
    face: &mut (impl Future<Output = T> + Unpin),
    end: Instant,
) -> First<T> {
    tokio::select! {
        biased;
        answer = face => First::Face(answer),
        () = posted.over() => First::Elsewhere,
        () = sleep_until(end) => First::Late,
    }
}

/// Takes what another face, or another process, made of it.
async fn elsewhere<T>(waiting: &Waiting, posted: Posted, hear: &impl Fn(News<'_>)) -> Came<T> {
    let id = posted.entry.id.clone();
    let (state, given) = match posted.take().await {
        Ok(taken) => taken,
        Err(error) => return Came::Withdrawn(error.to_string()),
    };
    waiting.tell(|| ended(&id, &state));
    match (state, given) {
        (State::Answered { by, word }, Some(given)) => {
            hear(News::AnsweredElsewhere { id: &id, by: &by, word: &word });
            Came::FromElsewhere(given)
        }
        (State::Expired, _) => {
            hear(News::Expired(&id));
            Came::Expired(None)
        }
        (State::Withdrawn { why }, _) => Came::Withdrawn(why),
        (State::Answered { .. } | State::Waiting, _) => {
            Came::Withdrawn("its answer was lost".to_owned())
        }
    }
}

fn answered_here(given: &Given) -> State {
    let by = format!("the face of process {}", std::process::id());
    State::Answered { by, word: given.word().to_owned() }
}

fn waits(entry: &Entry) -> What {
    What::Waiting {
        id: entry.id.clone(),
        kind: entry.asked.matter.word().to_owned(),
        server: entry.asked.matter.server().to_owned(),
        target: entry.asked.matter.target().map(str::to_owned),
        call: entry.asked.call.clone(),
    }
}

fn ended(id: &str, state: &State) -> What {
    let (how, by) = match state {
        State::Answered { by, word } => (word.as_str(), Some(by.clone())),
        State::Withdrawn { .. } => ("withdrawn", None),
        State::Expired | State::Waiting => ("expired", None),
    };
    What::Answered { id: id.to_owned(), how: how.to_owned(), by }
}

fn in_words(limit: Duration) -> String {
    match limit.as_secs() {
        60 => "a minute".to_owned(),
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        1 => "a second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}
