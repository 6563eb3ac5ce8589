//! Follows a call that a `switchboard serve` makes for us: puts what it asks, and gives it up with us.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_console::{CallEnded, Told};
use switchboard_store::{QueuedQuestion, UserDecision};
use switchboard_text::percent::encode_component;
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::context::CommandContext;
use crate::running::instance::RunningInstance;
use crate::running::questions;
use crate::running::questions::PendingQuestion;
use crate::running::stream::CallStream;

/// As long we wait to hear that a call was given up.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// A call that runs elsewhere, and what this terminal has to do with it.
pub(super) struct RemoteCall<'a> {
    context: &'a CommandContext,
    instance: &'a RunningInstance,
    stream: CallStream,
    progress: mpsc::Sender<Json>,
    /// Its name there.
    call: Option<String>,
    /// The question that the person reads.
    current: Option<(u64, PendingQuestion)>,
    /// Those that come after it.
    waiting: VecDeque<(u64, QueuedQuestion, Option<String>)>,
    /// Whether something waits for a person.
    is_needed: Arc<AtomicBool>,
}

impl<'a> RemoteCall<'a> {
    /// From here on a closed terminal ends nothing while something waits for a person.
    pub(super) fn new(
        context: &'a CommandContext,
        instance: &'a RunningInstance,
        stream: CallStream,
        progress: mpsc::Sender<Json>,
    ) -> Self {
        let is_needed = Arc::new(AtomicBool::new(false));
        let minded = Arc::clone(&is_needed);
        context.interrupts.ignore_hang_up_while(move || minded.load(Ordering::Acquire));
        let call = None;
        let current = None;
        let waiting = VecDeque::new();
        Self { context, instance, stream, progress, call, current, waiting, is_needed }
    }

    /// How it ended; nothing if that is not told.
    pub(super) async fn run(mut self) -> Option<CallEnded> {
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
                    until = Some(Instant::now() + CANCEL_TIMEOUT);
                    self.send("give-up", &json!({})).await;
                }
                () = wait_until(until) => return None,
                (question, given) = next_answer(&mut self.current) => {
                    self.current = None;
                    self.answer(question, &given).await;
                    self.ask_next();
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
                self.ask_next();
            }
            Told::Over { question } => {
                self.waiting.retain(|(number, ..)| *number != question);
                if self.current.as_ref().is_some_and(|(number, _)| *number == question) {
                    self.current = None;
                }
                self.ask_next();
            }
            Told::Waits { .. } => {
                self.is_needed.store(true, Ordering::Release);
                questions::report_event(self.context, &told);
            }
            told => {
                if matches!(told, Told::AnsweredElsewhere { .. } | Told::Expired) {
                    self.ask_next();
                }
                questions::report_event(self.context, &told);
            }
        }
    }

    /// Puts the next question, if none is being read: one person reads one at a time.
    fn ask_next(&mut self) {
        if self.current.is_none() {
            let next = self.waiting.pop_front();
            self.current = next.map(|(question, asked, anyway)| {
                (question, questions::ask_person(self.context, asked, anyway))
            });
        }
        self.is_needed.store(self.current.is_some(), Ordering::Release);
    }

    async fn answer(&self, question: u64, given: &UserDecision) {
        let mut body = json!({"question": question, "answer": given.word()});
        let with = match given {
            UserDecision::RunWith(arguments) => Some(("arguments", json!(arguments))),
            UserDecision::Reject(words) => Some(("words", json!(words))),
            UserDecision::Accept(Some(content)) => Some(("content", json!(content))),
            UserDecision::Run
            | UserDecision::Session
            | UserDecision::Always
            | UserDecision::Skip
            | UserDecision::Accept(None)
            | UserDecision::Decline
            | UserDecision::Cancel => None,
        };
        if let (Some((name, value)), Some(members)) = (with, body.as_object_mut()) {
            members.insert(name.to_owned(), value);
        }
        // If somebody else was faster, that is told.
        self.send("answer", &body).await;
    }

    async fn send(&self, what: &str, body: &Value) {
        let call = self.call.as_deref().unwrap_or_default();
        let path = format!("/api/v1/calls/{}/{what}", encode_component(call));
        // If the instance cannot be reached, the call's stream ends as well, and `run` notices.
        _ = tokio::time::timeout(CANCEL_TIMEOUT, self.instance.post_json(&path, body)).await;
    }
}

async fn next_answer(current: &mut Option<(u64, PendingQuestion)>) -> (u64, UserDecision) {
    match current {
        Some((question, putting)) => (*question, putting.await),
        None => std::future::pending().await,
    }
}

async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
