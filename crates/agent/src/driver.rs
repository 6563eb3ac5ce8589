//! Drives a conversation: stores each input, steps the state machine and performs its effects.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use switchboard_prompting::{Model, ModelError, StableOrder};
use switchboard_store::{SessionId, SessionLock};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::call_runner::{CallRunner, CallStart};
use crate::conversation::{ConversationParts, DriverCommand};
use crate::event::Event;
use crate::notices::ServerNotices;
use crate::request::request;
use crate::stream::{ModelQuestion, PartialAnswer};
use crate::tool_offer::ToolOffer;
use crate::turn::{
    Failure, Interruption, Phase, TurnCallKind, TurnEffect, TurnEnd, TurnEntry, TurnInput,
    TurnLimits, TurnState, before_last_turn, replay, step,
};
use crate::{journal, stream};

/// A running effect. Its result is an input, unless it was cancelled.
type Work = Pin<Box<dyn Future<Output = Option<FinishedWork>> + Send>>;

struct FinishedWork {
    input: TurnInput,
    /// The number of the model request that it answers; answers to older ones are ignored.
    question: Option<u64>,
}

/// The task of one conversation.
pub(crate) struct Driver {
    parts: ConversationParts,
    session: SessionId,
    entries: Vec<TurnEntry>,
    state: TurnState,
    events: mpsc::Sender<Event>,
    order: StableOrder,
    offer: Option<Arc<ToolOffer>>,
    notices: ServerNotices,
    under_way: FuturesUnordered<Work>,
    stop: CancellationToken,
    question: ModelQuestion,
    /// Number of requests to the model, including those for summaries.
    questions: u64,
    /// Number of user messages since this process opened the conversation.
    said: u64,
    /// Prevents other processes from continuing the conversation.
    _held: SessionLock,
    /// Whether the next effects may have been started by a process that died.
    since: CallStart,
}

/// Signals that an input could not be stored, so that the conversation cannot continue.
struct PersistError;

impl Driver {
    pub(crate) fn new(
        parts: ConversationParts,
        session: SessionId,
        entries: Vec<TurnEntry>,
        events: mpsc::Sender<Event>,
        held: SessionLock,
    ) -> Self {
        let notices = ServerNotices::watch(&parts.host, events.clone());
        Self {
            state: replay(entries.clone()),
            parts,
            session,
            entries,
            events,
            order: StableOrder::new(),
            offer: None,
            notices,
            under_way: FuturesUnordered::new(),
            stop: CancellationToken::new(),
            question: ModelQuestion::default(),
            questions: 0,
            said: 0,
            _held: held,
            since: CallStart::Now,
        }
    }

    pub(crate) async fn run(mut self, mut commands: mpsc::Receiver<DriverCommand>) {
        if self.begin().await.is_err() {
            return;
        }
        loop {
            let kept = tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.handle_command(command).await,
                    None => break,
                },
                Some(ended) = self.under_way.next(), if !self.under_way.is_empty() => match ended {
                    Some(ended) => self.handle_finished(ended).await,
                    None => Ok(()),
                },
            };
            if kept.is_err() {
                break;
            }
        }
        self.finish().await;
    }

    async fn begin(&mut self) -> Result<(), PersistError> {
        let steps = self.state.number;
        let model = self.parts.model.info().profile.clone();
        self.emit(Event::Session { session: self.session.to_string(), model, steps }).await;
        let limits = self.new_limits();
        let pending = self.state.pending();
        if self.entries.is_empty() || self.state.limits != limits {
            self.record_input(TurnInput::Began { limits }).await?;
        }
        // The process that stored these steps may have sent a pending call before it died.
        self.since = CallStart::AnotherProcess;
        for effect in pending {
            self.perform(effect).await;
        }
        self.since = CallStart::Now;
        Ok(())
    }

    async fn handle_finished(&mut self, finished: FinishedWork) -> Result<(), PersistError> {
        // An answer that was cancelled or superseded must not enter the conversation.
        if finished.question.is_some_and(|question| question != self.questions) {
            return Ok(());
        }
        self.record_input(finished.input).await
    }

    async fn handle_command(&mut self, command: DriverCommand) -> Result<(), PersistError> {
        match command {
            DriverCommand::Say(text, images) => {
                self.said += 1;
                if self.entries.iter().all(|entry| !matches!(entry.input, TurnInput::Said { .. })) {
                    let words: String = text.chars().take(80).collect();
                    // Only lists show the opening; the conversation does not depend on it.
                    _ = self.parts.sessions.set_opening(&self.session, &words).await;
                }
                self.record_input(TurnInput::Said { text, images }).await
            }
            DriverCommand::Decide(decision) if matches!(self.state.phase, Phase::Asking(_)) => {
                self.record_input(TurnInput::Decided { decision }).await
            }
            // The question may have been settled by a message or a cancel in the meantime.
            DriverCommand::Decide(_) => Ok(()),
            DriverCommand::Cancel => {
                let heard = match self.state.phase {
                    Phase::Thinking => self.question.heard.text(),
                    Phase::Idle
                    | Phase::Calling(_)
                    | Phase::Asking(_)
                    | Phase::Compacting { .. } => String::new(),
                };
                // Invalidates an answer that completes at the same time.
                self.questions += 1;
                self.record_input(TurnInput::Cancelled(Interruption { heard })).await
            }
            DriverCommand::Retry => {
                self.record_input(TurnInput::Retried).await?;
                if self.state.is_idle() {
                    let text = "no unanswered request to retry".to_owned();
                    self.emit(Event::Warning { text, hint: None }).await;
                    self.end(TurnEnd::Done).await;
                }
                Ok(())
            }
            DriverCommand::Undo(reply) => {
                let undone = self.undo().await?;
                // The requester may have gone; the undo is recorded either way.
                _ = reply.send(undone);
                Ok(())
            }
            DriverCommand::Use(model) => self.use_model(model).await,
        }
    }

    async fn use_model(&mut self, model: Arc<dyn Model>) -> Result<(), PersistError> {
        let profile = model.info().profile.clone();
        self.parts.model = model;
        if let Err(error) = self.parts.sessions.set_model(&self.session, &profile).await {
            let text = format!("the model choice of the conversation cannot be stored: {error}");
            self.emit(Event::Warning { text, hint: error.hint() }).await;
        }
        // The context window may differ, so the limits are part of the stored inputs.
        let limits = self.new_limits();
        self.record_input(TurnInput::Began { limits }).await
    }

    fn new_limits(&self) -> TurnLimits {
        TurnLimits::from_settings(&self.parts.settings, self.parts.model.info().window)
    }

    async fn undo(&mut self) -> Result<bool, PersistError> {
        let before = before_last_turn(&self.entries).filter(|_| self.state.is_idle());
        let Some(to) = before else { return Ok(false) };
        self.record_input(TurnInput::Undone { to }).await?;
        // The state machine has no way back, so the remaining inputs are replayed.
        self.state = replay(self.entries.clone());
        Ok(true)
    }

    /// Stores an input, steps the state machine and performs the effects.
    async fn record_input(&mut self, input: TurnInput) -> Result<(), PersistError> {
        let number = self.state.number + 1;
        let (kind, body) = journal::encode(&input);
        if let Err(error) = self.parts.sessions.append(&self.session, number, &kind, body).await {
            // After a restart, the effects of an input that is not stored could happen again.
            let message = format!("the conversation cannot be stored: {error}");
            self.end(TurnEnd::NotKept { message, hint: error.hint() }).await;
            return Err(PersistError);
        }
        self.announce(&input, number).await;
        self.entries.push(TurnEntry { number, input: input.clone() });
        let (state, effects) = step(std::mem::take(&mut self.state), input);
        self.state = state;
        for effect in effects {
            self.perform(effect).await;
        }
        Ok(())
    }

    /// Emits the event of an input, unless the work has already emitted it.
    async fn announce(&mut self, input: &TurnInput, number: u64) {
        match input {
            TurnInput::Answered(answer) => {
                let stop = answer.stop.clone();
                self.emit(Event::Answered { stop, usage: answer.usage, step: number }).await;
                for (slot, asked) in answer.asked.iter().enumerate() {
                    if let TurnCallKind::Mistake { message } = &asked.what {
                        self.emit(Event::Mistake { slot, text: message.clone() }).await;
                    }
                }
            }
            TurnInput::Ended { slot, end } => {
                self.emit(Event::Ended {
                    slot: *slot,
                    outcome: end.outcome,
                    text: end.text.clone(),
                    images: end.images.len(),
                    consent: end.consent,
                    call: end.call.clone(),
                    milliseconds: end.milliseconds,
                })
                .await;
            }
            TurnInput::Compacted { upto, summary, .. } => {
                self.emit(Event::Compacted { messages: *upto, summary: summary.clone() }).await;
            }
            TurnInput::Began { .. }
            | TurnInput::Said { .. }
            | TurnInput::NoAnswer(_)
            | TurnInput::Decided { .. }
            | TurnInput::Cancelled(_)
            | TurnInput::Retried
            | TurnInput::Undone { .. } => {}
        }
    }

    async fn perform(&mut self, effect: TurnEffect) {
        match effect {
            TurnEffect::AskModel => self.ask_model().await,
            TurnEffect::Run { slot } => self.run_slot(slot).await,
            TurnEffect::LeaveOut { slot, outcome, text } => {
                self.emit(Event::LeftOut { slot, outcome, text }).await;
            }
            TurnEffect::AskPerson(limit) => self.emit(Event::Limit(limit)).await,
            TurnEffect::Compact { upto } => self.compact(upto),
            TurnEffect::StopAll => {
                self.stop.cancel();
                // A cancelled token stays cancelled, so work that starts later needs a new one.
                self.stop = CancellationToken::new();
            }
            TurnEffect::End(end) => self.end(end).await,
        }
    }

    async fn ask_model(&mut self) {
        let offer = self.new_offer();
        let request = request(&offer, &self.state.messages);
        self.emit(Event::Asking { tokens: self.state.fill.max(offer.plan.tokens) }).await;
        self.questions += 1;
        self.question =
            ModelQuestion { heard: PartialAnswer::default(), step: self.state.number + 1 };
        let model = Arc::clone(&self.parts.model);
        let events = self.events.clone();
        let question = self.question.clone();
        let stop = self.stop.clone();
        let number = self.questions;
        self.under_way.push(Box::pin(async move {
            let asking = stream::stream(model.as_ref(), &request, &offer, &events, &question);
            let input = match stop.run_until_cancelled(asking).await? {
                Ok(answer) => TurnInput::Answered(Box::new(answer)),
                Err(error) => TurnInput::NoAnswer(failure(error)),
            };
            Some(FinishedWork { input, question: Some(number) })
        }));
    }

    /// Creates the offer of one step with a single lease: the advertised tools are those that run.
    fn new_offer(&mut self) -> Arc<ToolOffer> {
        let lease = self.parts.host.lease();
        let about = self.parts.model.info();
        let several = self.state.limits.calls;
        let settings = &self.parts.settings;
        let offer = Arc::new(ToolOffer::new(lease, about, settings, several, &mut self.order));
        self.offer = Some(Arc::clone(&offer));
        offer
    }

    async fn run_slot(&mut self, slot: usize) {
        let offer = match &self.offer {
            Some(offer) => Arc::clone(offer),
            // A resumed conversation runs calls of an answer that another process received.
            None => self.new_offer(),
        };
        let Phase::Calling(calling) = &self.state.phase else { return };
        let Some(asked) = calling.slots.get(slot).map(|slot| slot.asked.clone()) else { return };
        let number = calling.number;
        let given_up = calling.cancelled;
        let from = match &asked.what {
            TurnCallKind::Call { server, target, .. } => Some((server.clone(), target.clone())),
            TurnCallKind::Own | TurnCallKind::Mistake { .. } => None,
        };
        let runner = CallRunner {
            from,
            parts: self.parts.clone(),
            session: self.session.clone(),
            offer,
            events: self.events.clone(),
            notices: self.notices.clone(),
            // A child token: one call can be cancelled without cancelling the others.
            stop: self.stop.child_token(),
            since: self.since,
            given_up,
            number,
            slot,
        };
        runner.announce(&asked).await;
        self.under_way.push(Box::pin(async move {
            let end = Box::new(runner.run(asked).await);
            Some(FinishedWork { input: TurnInput::Ended { slot, end }, question: None })
        }));
    }

    fn compact(&mut self, upto: usize) {
        let messages = self.state.messages.get(..upto).unwrap_or_default().to_vec();
        let handle = crate::turn::window::history_handle(self.state.cuts + 1);
        self.questions += 1;
        let parts = self.parts.clone();
        let session = self.session.clone();
        let stop = self.stop.clone();
        let number = self.questions;
        self.under_way.push(Box::pin(async move {
            let work = crate::compact::summary(&parts, &session, &handle, &messages);
            let (summary, handle) = stop.run_until_cancelled(work).await?;
            let input = TurnInput::Compacted { upto, summary, handle };
            Some(FinishedWork { input, question: Some(number) })
        }));
    }

    async fn end(&mut self, end: TurnEnd) {
        let usage = self.state.usage;
        let step = self.state.number;
        let said = self.said;
        self.emit(Event::TurnEnded { end, usage, step, said }).await;
    }

    async fn finish(mut self) {
        self.stop.cancel();
        // The host records the end of each call before its future completes.
        while self.under_way.next().await.is_some() {}
    }

    async fn emit(&mut self, event: Event) {
        // The face may have gone; the conversation is recorded without it.
        _ = self.events.send(event).await;
    }
}

fn failure(error: ModelError) -> Failure {
    Failure { trouble: error.kind, message: error.message, hint: error.hint }
}
