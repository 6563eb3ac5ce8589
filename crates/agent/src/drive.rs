//! Drives a conversation: keeps each input, steps, and brings about what is to be done.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use switchboard_prompting::{ModelError, StableOrder};
use switchboard_store::{Held, SessionId};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::conversation::{Command, Parts, limits};
use crate::event::Event;
use crate::hear::{Heard, Question};
use crate::notices::Notices;
use crate::offer::Offer;
use crate::request::request;
use crate::run::{Runner, Since};
use crate::turn::{
    Decision, Effect, Entry, Failure, Input, Interruption, Phase, State, TurnEnd, What,
    before_last_turn, replay, step,
};
use crate::{hear, journal};

/// Something under way; its end is an input, unless it was given up.
type Work = Pin<Box<dyn Future<Output = Option<Finished>> + Send>>;

/// The end of something that was under way.
struct Finished {
    input: Input,
    /// The question that it answers; an answer to an older one does not count.
    question: Option<u64>,
}

/// The task of one conversation.
pub(crate) struct Driver {
    parts: Parts,
    session: SessionId,
    entries: Vec<Entry>,
    state: State,
    events: mpsc::Sender<Event>,
    order: StableOrder,
    offer: Option<Arc<Offer>>,
    notices: Notices,
    under_way: FuturesUnordered<Work>,
    stop: CancellationToken,
    /// What the model is asked, or was asked last.
    question: Question,
    /// How many questions there were: to the model, or for a summary.
    questions: u64,
    /// How much the person has said since the start.
    said: u64,
    /// Nobody else goes on with the conversation meanwhile.
    _held: Held,
    /// Whether what is brought about next may have been begun by a process that died.
    since: Since,
}

/// The conversation cannot be kept, so it cannot go on.
struct NotKept;

impl Driver {
    pub(crate) fn new(
        parts: Parts,
        session: SessionId,
        entries: Vec<Entry>,
        events: mpsc::Sender<Event>,
        held: Held,
    ) -> Self {
        let notices = Notices::watch(&parts.host, events.clone());
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
            question: Question::default(),
            questions: 0,
            said: 0,
            _held: held,
            since: Since::Now,
        }
    }

    pub(crate) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        if self.begin().await.is_err() {
            return;
        }
        loop {
            let kept = tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.command(command).await,
                    None => break,
                },
                Some(ended) = self.under_way.next(), if !self.under_way.is_empty() => match ended {
                    Some(ended) => self.finished(ended).await,
                    None => Ok(()),
                },
            };
            if kept.is_err() {
                break;
            }
        }
        self.finish().await;
    }

    async fn begin(&mut self) -> Result<(), NotKept> {
        let steps = self.state.number;
        let model = self.parts.model.about().profile.clone();
        self.tell(Event::Session { session: self.session.to_string(), model, steps }).await;
        let limits = limits(&self.parts.settings, self.parts.model.as_ref());
        let pending = self.state.pending();
        if self.entries.is_empty() || self.state.limits != limits {
            self.happened(Input::Began { limits }).await?;
        }
        self.since = Since::AnotherProcess;
        for effect in pending {
            self.bring_about(effect).await?;
        }
        self.since = Since::Now;
        Ok(())
    }

    async fn finished(&mut self, finished: Finished) -> Result<(), NotKept> {
        if finished.question.is_some_and(|question| question != self.questions) {
            return Ok(());
        }
        self.happened(finished.input).await
    }

    async fn command(&mut self, command: Command) -> Result<(), NotKept> {
        match command {
            Command::Say(text, images) => {
                self.said += 1;
                if self.entries.iter().all(|entry| !matches!(entry.input, Input::Said { .. })) {
                    // Only for lists; the conversation does not depend on it.
                    let words: String = text.chars().take(80).collect();
                    self.parts.sessions.set_opening(&self.session, &words).await.ok();
                }
                self.happened(Input::Said { text, images }).await
            }
            Command::Decide(decision) => self.decide(decision).await,
            Command::Cancel => {
                let heard = match self.state.phase {
                    Phase::Thinking => self.question.heard.text(),
                    Phase::Idle
                    | Phase::Calling(_)
                    | Phase::Asking(_)
                    | Phase::Compacting { .. } => String::new(),
                };
                // An answer that is ready at this moment comes too late.
                self.questions += 1;
                self.happened(Input::Cancelled(Interruption { heard })).await
            }
            Command::Retry => {
                self.happened(Input::Retried).await?;
                if self.state.is_idle() {
                    let text = "there is nothing to ask again".to_owned();
                    self.tell(Event::Warning { text, hint: None }).await;
                    self.end(TurnEnd::Done).await;
                }
                Ok(())
            }
            Command::Undo(told) => {
                let undone = self.undo().await?;
                // Whoever asked may have gone.
                told.send(undone).ok();
                Ok(())
            }
            Command::Use(model) => {
                let limits = limits(&self.parts.settings, model.as_ref());
                let profile = model.about().profile.clone();
                self.parts.model = model;
                self.parts.sessions.set_model(&self.session, &profile).await.ok();
                self.happened(Input::Began { limits }).await
            }
        }
    }

    async fn decide(&mut self, decision: Decision) -> Result<(), NotKept> {
        if matches!(self.state.phase, Phase::Asking(_)) {
            return self.happened(Input::Decided { decision }).await;
        }
        Ok(())
    }

    /// Takes the last turn back; tells whether there was one that could be.
    async fn undo(&mut self) -> Result<bool, NotKept> {
        let before = before_last_turn(&self.entries).filter(|_| self.state.is_idle());
        let Some(to) = before else { return Ok(false) };
        self.happened(Input::Undone { to }).await?;
        self.state = replay(self.entries.clone());
        Ok(true)
    }

    /// Keeps an input, steps, and brings about what follows from it.
    async fn happened(&mut self, input: Input) -> Result<(), NotKept> {
        let number = self.state.number + 1;
        let (kind, body) = journal::kept(&input);
        if let Err(error) = self.parts.sessions.append(&self.session, number, &kind, body).await {
            let message = format!("the conversation cannot be kept: {error}");
            self.end(TurnEnd::NotKept { message, hint: error.hint() }).await;
            return Err(NotKept);
        }
        self.announce(&input, number).await;
        self.entries.push(Entry { number, input: input.clone() });
        let (state, effects) = step(std::mem::take(&mut self.state), input);
        self.state = state;
        for effect in effects {
            Box::pin(self.bring_about(effect)).await?;
        }
        Ok(())
    }

    /// Tells the face what happened, where the work itself has not told already.
    async fn announce(&mut self, input: &Input, number: u64) {
        match input {
            Input::Answered(answer) => {
                let (stop, usage) = (answer.stop.clone(), answer.usage);
                self.tell(Event::Answered { stop, usage, step: number }).await;
                for (slot, asked) in answer.asked.iter().enumerate() {
                    if let What::Mistake { message } = &asked.what {
                        self.tell(Event::Mistake { slot, text: message.clone() }).await;
                    }
                }
            }
            Input::Ended { slot, end } => {
                self.tell(Event::Ended {
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
            Input::Compacted { upto, summary, .. } => {
                self.tell(Event::Compacted { messages: *upto, summary: summary.clone() }).await;
            }
            Input::Began { .. }
            | Input::Said { .. }
            | Input::NoAnswer(_)
            | Input::Decided { .. }
            | Input::Cancelled(_)
            | Input::Retried
            | Input::Undone { .. } => {}
        }
    }

    async fn bring_about(&mut self, effect: Effect) -> Result<(), NotKept> {
        match effect {
            Effect::AskModel => self.ask_model().await,
            Effect::Run { slot } => self.run_slot(slot).await,
            Effect::LeaveOut { slot, outcome, text } => {
                self.tell(Event::LeftOut { slot, outcome, text }).await;
            }
            Effect::AskPerson(limit) => self.tell(Event::Limit(limit)).await,
            Effect::Compact { upto } => self.compact(upto),
            Effect::StopAll => {
                self.stop.cancel();
                self.stop = CancellationToken::new();
            }
            Effect::End(end) => self.end(end).await,
        }
        Ok(())
    }

    async fn ask_model(&mut self) {
        let offer = self.new_offer();
        let request = request(&offer, &self.state.messages);
        self.tell(Event::Asking { tokens: self.state.fill.max(offer.plan.tokens) }).await;
        self.questions += 1;
        self.question = Question { heard: Heard::default(), step: self.state.number + 1 };
        let (model, events, question) =
            (Arc::clone(&self.parts.model), self.events.clone(), self.question.clone());
        let (stop, number) = (self.stop.clone(), self.questions);
        self.under_way.push(Box::pin(async move {
            let asking = hear::ask(model.as_ref(), &request, &offer, &events, &question);
            let input = match stop.run_until_cancelled(asking).await? {
                Ok(answer) => Input::Answered(Box::new(answer)),
                Err(error) => Input::NoAnswer(failure(error)),
            };
            Some(Finished { input, question: Some(number) })
        }));
    }

    /// One step holds one lease: what was advertised is what runs.
    fn new_offer(&mut self) -> Arc<Offer> {
        let lease = self.parts.host.lease();
        let about = self.parts.model.about();
        let several = self.state.limits.calls;
        let settings = &self.parts.settings;
        let offer = Arc::new(Offer::make(lease, about, settings, several, &mut self.order));
        self.offer = Some(Arc::clone(&offer));
        offer
    }

    async fn run_slot(&mut self, slot: usize) {
        let offer = match &self.offer {
            Some(offer) => Arc::clone(offer),
            None => self.new_offer(),
        };
        let Phase::Calling(calling) = &self.state.phase else { return };
        let Some(asked) = calling.slots.get(slot).map(|slot| slot.asked.clone()) else { return };
        let (number, given_up) = (calling.number, calling.cancelled);
        let from = match &asked.what {
            What::Call { server, target, .. } => Some((server.clone(), target.clone())),
            What::Own | What::Mistake { .. } => None,
        };
        let runner = Runner {
            from,
            parts: self.parts.clone(),
            session: self.session.clone(),
            offer,
            events: self.events.clone(),
            notices: self.notices.clone(),
            stop: self.stop.child_token(),
            since: self.since,
            given_up,
            number,
            slot,
        };
        runner.announce(&asked).await;
        self.under_way.push(Box::pin(async move {
            let end = Box::new(runner.run(asked).await);
            Some(Finished { input: Input::Ended { slot, end }, question: None })
        }));
    }

    fn compact(&mut self, upto: usize) {
        let messages = self.state.messages.get(..upto).unwrap_or_default().to_vec();
        let handle = crate::turn::window::history_handle(self.state.cuts + 1);
        self.questions += 1;
        let (parts, session, stop) = (self.parts.clone(), self.session.clone(), self.stop.clone());
        let number = self.questions;
        self.under_way.push(Box::pin(async move {
            let work = crate::compact::summary(&parts, &session, &handle, &messages);
            let (summary, handle) = stop.run_until_cancelled(work).await?;
            let input = Input::Compacted { upto, summary, handle };
            Some(Finished { input, question: Some(number) })
        }));
    }

    async fn end(&mut self, end: TurnEnd) {
        let (usage, step, said) = (self.state.usage, self.state.number, self.said);
        self.tell(Event::TurnEnded { end, usage, step, said }).await;
    }

    /// Calls that still run are given up, and waited for so that the record has their end.
    async fn finish(mut self) {
        self.stop.cancel();
        while self.under_way.next().await.is_some() {}
    }

    async fn tell(&mut self, event: Event) {
        // A face that has gone needs to hear nothing; everything is kept all the same.
        self.events.send(event).await.ok();
    }
}

fn failure(error: ModelError) -> Failure {
    Failure { trouble: error.trouble, message: error.message, hint: error.hint }
}
