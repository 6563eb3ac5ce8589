//! Runs a call for a program and streams its updates until the outcome.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::{Stream, stream};
use switchboard_core::{Face, random_token};
use switchboard_host::{
    Ask, Asker, CallOptions, NobodyThere, Question, QuestionUpdate, ReplyFuture, ReviewFuture,
    Reviewer, SessionScope, ask_matter, review_matter,
};
use switchboard_store::{AskReply, QueuedQuestion, Record, UserDecision};
use switchboard_views::{CallEnded, CallUpdate, WantedCall, Whom};
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::program_call::ProgramCall;
use crate::console::SharedConsole;
use crate::reply::ApiError;

/// How often a heartbeat is sent on an idle stream. Clients give up after four missed ones.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// Maximum number of lines queued for a slow program.
const MAX_QUEUED_LINES: usize = 64;
/// Maximum number of progress reports queued; further ones are dropped.
const MAX_QUEUED_REPORTS: usize = 64;

/// Starts a call and returns its updates as lines. Dropping the stream cancels the call.
pub(crate) fn start_call(
    console: &SharedConsole,
    wanted: &WantedCall,
    face: Face,
) -> Result<impl Stream<Item = String> + Send + 'static, ApiError> {
    let proposed = wanted.to_proposed_call()?;
    let caller = wanted.caller(face);
    let no_random = || ApiError::internal("no secure random numbers available");
    let name = random_token().ok_or_else(no_random)?;
    let too_many = || {
        let why = "too many calls in flight";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, why).with_hint("try again later")
    };
    // Registered before the call starts, so that an answer cannot arrive too early.
    let (held, told) = console.lines.open(&name).ok_or_else(too_many)?;
    let line = Arc::clone(&held.line);
    let limit = wanted.limit();
    let people = Arc::new(ProgramReviewer { line: Arc::clone(&line), whom: wanted.people, limit });
    let (progress, reports) = mpsc::channel(MAX_QUEUED_REPORTS);
    let attention = CallOptions {
        cancel: line.cancel.clone(),
        progress: Some(progress),
        reviewer: Some(Arc::clone(&people) as _),
        asker: Some(people),
        // Each command is a separate session, whether or not it runs through an instance.
        session: SessionScope::None,
        task_mode: wanted.task_mode(),
        ..CallOptions::default()
    };
    let host = console.host.clone();
    // A separate task: after a disconnect, the cancelled call still runs to its recorded end.
    let calling = tokio::spawn(async move {
        let record = host.call_with(&host.lease(), proposed, &caller, &attention).await;
        // The id is free before the outcome is sent: a late answer gets a clear error.
        drop(held);
        record
    });
    let (sender, lines) = mpsc::channel(MAX_QUEUED_LINES);
    let following = ProgramCallStream { calling, told, reports, cancel: line.cancel.clone() };
    tokio::spawn(following.run(name, sender));
    Ok(stream::unfold(lines, |mut lines| async move {
        let line = lines.recv().await?;
        Some((line, lines))
    }))
}

/// A call in flight, and the sources of its updates.
struct ProgramCallStream {
    calling: JoinHandle<Record>,
    told: mpsc::Receiver<CallUpdate>,
    reports: mpsc::Receiver<Json>,
    cancel: CancellationToken,
}

impl ProgramCallStream {
    async fn run(mut self, call: String, lines: mpsc::Sender<String>) {
        send(&lines, &CallUpdate::Began { call }).await;
        let mut alive = interval(KEEP_ALIVE_INTERVAL);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick would be immediate.
        alive.reset();
        loop {
            tokio::select! {
                // In this order, so that queued updates precede the outcome.
                biased;
                // `closed` stays ready, so without the condition the loop would spin.
                () = lines.closed(), if !self.cancel.is_cancelled() => self.cancel.cancel(),
                Some(told) = self.told.recv() => send(&lines, &told).await,
                Some(report) = self.reports.recv() => send(&lines, &progress_event(&report)).await,
                record = &mut self.calling => {
                    // Updates that arrived together with the outcome still precede it.
                    while let Ok(told) = self.told.try_recv() {
                        send(&lines, &told).await;
                    }
                    // If the task of the call panicked, the stream ends without an outcome.
                    if let Ok(record) = record {
                        send(&lines, &CallUpdate::Ended(CallEnded::from(record))).await;
                    }
                    return;
                }
                _ = alive.tick() => send(&lines, &CallUpdate::Alive).await,
            }
        }
    }
}

async fn send(lines: &mpsc::Sender<String>, told: &CallUpdate) {
    if let Ok(mut line) = serde_json::to_string(told) {
        line.push('\n');
        // Fails if the stream is closed; `run` detects that and cancels the call.
        _ = lines.send(line).await;
    }
}

fn progress_event(report: &Json) -> CallUpdate {
    CallUpdate::Progress { report: serde_json::from_str(report.as_str()).unwrap_or_default() }
}

/// Answers the reviews and elicitations of one call, as [`Whom`] says.
pub(super) struct ProgramReviewer {
    pub(super) line: Arc<ProgramCall>,
    pub(super) whom: Whom,
    pub(super) limit: Option<Duration>,
}

impl ProgramReviewer {
    fn report(&self, news: &QuestionUpdate<'_>) {
        let told = match news {
            QuestionUpdate::Queued(entry) if self.whom == Whom::Elsewhere => {
                CallUpdate::Waits { id: entry.id.clone(), matter: entry.asked.matter.clone() }
            }
            // The program has the question already, in an `Asked` update.
            QuestionUpdate::Queued(_) => return,
            QuestionUpdate::AnsweredElsewhere { by, word, .. } => {
                CallUpdate::AnsweredElsewhere { by: (*by).to_owned(), word: (*word).to_owned() }
            }
            QuestionUpdate::Expired(_) => CallUpdate::Expired,
        };
        self.line.send(told);
    }
}

impl Reviewer for ProgramReviewer {
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a> {
        match self.whom {
            Whom::Nobody => NobodyThere.ask(question),
            // Never answers, so that the answer of another face wins.
            Whom::Elsewhere => Box::pin(std::future::pending()),
            Whom::Here => Box::pin(async move {
                let matter = review_matter(question);
                let asked = QueuedQuestion { matter, call: None, reference: None, caller: None };
                let anyway = question.repeat_reason().map(str::to_owned);
                match self.line.ask(asked, anyway).await.and_then(UserDecision::into_answer) {
                    Some(answer) => Ok(answer),
                    // The program disconnected: leave the question to the other faces.
                    None => std::future::pending().await,
                }
            }),
        }
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.report(&news);
    }
}

impl Asker for ProgramReviewer {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        match self.whom {
            Whom::Nobody => {
                let server = ask.server.clone();
                let message = ask.message.clone();
                self.line.send(CallUpdate::Declined { server, message });
                Box::pin(async { AskReply::Decline })
            }
            Whom::Elsewhere => Box::pin(std::future::pending()),
            Whom::Here => Box::pin(async move {
                let asked = QueuedQuestion {
                    matter: ask_matter(ask),
                    call: ask.call.clone(),
                    reference: ask.reference.clone(),
                    caller: None,
                };
                match self.line.ask(asked, None).await.and_then(UserDecision::into_reply) {
                    Some(reply) => reply,
                    // The program disconnected: leave the question to the other faces.
                    None => std::future::pending().await,
                }
            }),
        }
    }

    fn notify_completed(&self, server: &str) {
        if self.whom == Whom::Here {
            self.line.send(CallUpdate::Completed { server: server.to_owned() });
        }
    }

    fn notify_refused(&self, server: &str, why: &str) {
        let server = server.to_owned();
        let why = why.to_owned();
        self.line.send(CallUpdate::TurnedDown { server, why });
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        self.report(&news);
    }
}
