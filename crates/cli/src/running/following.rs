//! Follows a call that a `switchboard serve` makes for us: puts what it asks, and gives it up with us.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_console::{CallEnded, Told};
use switchboard_store::{Asked, Given};
use switchboard_text::percent::part;
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::context::Context;
use crate::running::instance::Instance;
use crate::running::questions;
use crate::running::questions::Putting;
use crate::running::stream::CallStream;

/// As long we wait to hear that a call was given up.
const GIVING_UP: Duration = Duration::from_secs(10);

/// A call that runs elsewhere, and what this terminal has to do with it.
pub(super) struct Following<'a> {
    context: &'a Context,
    instance: &'a Instance,
    stream: CallStream,
    progress: mpsc::Sender<Json>,
    /// Its name there.
    call: Option<String>,
    /// The question that the person reads.
    current: Option<(u64, Putting)>,
    /// Those that come after it.
    waiting: VecDeque<(u64, Asked, Option<String>)>,
    /// Whether something waits for a person.
    is_needed: Arc<AtomicBool>,
}

impl<'a> Following<'a> {
    /// From here on a closed terminal ends nothing while something waits for a person.
    pub(super) fn new(
        context: &'a Context,
        instance: &'a Instance,
        stream: CallStream,
        progress: mpsc::Sender<Json>,
    ) -> Self {
        let is_needed = Arc::new(AtomicBool::new(false));
        let minded = Arc::clone(&is_needed);
        context.interrupts.mind(move || minded.load(Ordering::Acquire));
        let (call, current, waiting) = (None, None, VecDeque::new());
        Self { context, instance, stream, progress, call, current, waiting, is_needed }
    }

    /// How it ended; nothing if that is not told.
    pub(super) async fn until_the_end(mut self) -> Option<CallEnded> {
        let stop = self.context.interrupts.token().clone();
        let mut until: Option<Instant> = None;
        loop {
            let may_give_up = until.is_none() && self.call.is_some();
            tokio::select! {
                biased;
                told = self.stream.next() => match told.ok()? {
                    Told::Ended(ended) => return Some(ended),
                    told => self.take(told),
                },
                () = stop.cancelled(), if may_give_up => {
                    until = Some(Instant::now() + GIVING_UP);
                    self.send("give-up", &json!({})).await;
                }
                () = at(until) => return None,
                (question, given) = answered(&mut self.current) => {
                    self.current = None;
                    self.answer(question, &given).await;
                    self.put_next();
                }
            }
        }
    }

    fn take(&mut self, told: Told) {
        match told {
            Told::Began { call } => self.call = Some(call),
            // Whoever does not keep up hears of the next.
            Told::Progress { report } => drop(self.progress.try_send(Json::from(&report))),
            Told::Asked { question, asked, anyway } => {
                self.waiting.push_back((question, asked, anyway));
                self.put_next();
            }
            Told::Over { question } => {
                self.waiting.retain(|(number, ..)| *number != question);
                if self.current.as_ref().is_some_and(|(number, _)| *number == question) {
                    self.current = None;
                }
                self.put_next();
            }
            Told::Waits { .. } => {
                self.is_needed.store(true, Ordering::Release);
                questions::tell(self.context, &told);
            }
            told => {
                if matches!(told, Told::AnsweredElsewhere { .. } | Told::Expired) {
                    self.put_next();
                }
                questions::tell(self.context, &told);
            }
        }
    }

    /// Puts the next question, if none is being read: one person reads one at a time.
    fn put_next(&mut self) {
        if self.current.is_none() {
            let next = self.waiting.pop_front();
            self.current = next.map(|(question, asked, anyway)| {
                (question, questions::put(self.context, asked, anyway))
            });
        }
        self.is_needed.store(self.current.is_some(), Ordering::Release);
    }

    async fn answer(&self, question: u64, given: &Given) {
        let mut body = json!({"question": question, "answer": given.word()});
        let with = match given {
            Given::RunWith(arguments) => Some(("arguments", json!(arguments))),
            Given::Reject(words) => Some(("words", json!(words))),
            Given::Accept(Some(content)) => Some(("content", json!(content))),
            Given::Run
            | Given::Session
            | Given::Always
            | Given::Skip
            | Given::Accept(None)
            | Given::Decline
            | Given::Cancel => None,
        };
        if let (Some((name, value)), Some(members)) = (with, body.as_object_mut()) {
            members.insert(name.to_owned(), value);
        }
        // If somebody else was faster, that is told.
        self.send("answer", &body).await;
    }

    async fn send(&self, what: &str, body: &Value) {
        let call = self.call.as_deref().unwrap_or_default();
        let path = format!("/api/v1/calls/{}/{what}", part(call));
        // Where it does not arrive, the stream of the call ends as well.
        tokio::time::timeout(GIVING_UP, self.instance.tell(&path, body)).await.ok();
    }
}

async fn answered(current: &mut Option<(u64, Putting)>) -> (u64, Given) {
    match current {
        Some((question, putting)) => (*question, putting.await),
        None => std::future::pending().await,
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
