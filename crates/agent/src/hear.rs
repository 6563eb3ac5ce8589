//! Listens to an answer: passes the words on as they come, and finds out what is asked for.

use std::sync::{Arc, Mutex, PoisonError};

use switchboard_prompting::{Delta, Kept, Model, ModelError, Parser, Piece, Request, Said};
use tokio::sync::mpsc;

use crate::event::Event;
use crate::offer::{Offer, is_plain};
use crate::turn::{Answer, Asked};

/// What was heard of an answer so far, for when it is interrupted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<String>>);

impl Heard {
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
    }

    fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A question to the model: what is heard of the answer, and the step it will be kept as.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    pub(crate) heard: Heard,
    pub(crate) step: u64,
}

impl Question {
    /// A name for a call of the answer that no other call of the conversation has.
    fn call_id(&self, place: usize) -> String {
        format!("call_{}_{}", self.step, place + 1)
    }
}

/// Asks the model and listens to the end.
pub(crate) async fn ask(
    model: &dyn Model,
    request: &Request,
    offer: &Offer,
    events: &mpsc::Sender<Event>,
    question: &Question,
) -> Result<Answer, ModelError> {
    let (sender, mut deltas) = mpsc::channel(64);
    let mut listener = Listener::new(offer, events, question);
    let answering = async {
        let said = model.answer(request, &sender).await;
        // Ends the listening below.
        drop(sender);
        said
    };
    let listening = async {
        while let Some(delta) = deltas.recv().await {
            listener.take(delta).await;
        }
    };
    let (said, ()) = tokio::join!(answering, listening);
    Ok(listener.finish(said?, model).await)
}

struct Listener<'a> {
    offer: &'a Offer,
    events: &'a mpsc::Sender<Event>,
    question: &'a Question,
    /// For a model that calls in its text.
    parser: Option<Parser>,
    asked: Vec<Asked>,
}

impl<'a> Listener<'a> {
    fn new(offer: &'a Offer, events: &'a mpsc::Sender<Event>, question: &'a Question) -> Self {
        Self { offer, events, question, parser: parser(offer), asked: Vec::new() }
    }

    async fn take(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => {
                self.question.heard.add(&text);
                let pieces: Vec<Piece> = match &mut self.parser {
                    Some(parser) => parser.push(&text).collect(),
                    None => vec![Piece::Text(text)],
                };
                self.pieces(pieces).await;
            }
            Delta::Thinking(text) => self.tell(Event::Thinking { text }).await,
            Delta::Call { name } => self.tell(Event::Writing { target: name }).await,
            Delta::Waiting { delay, why } => self.tell(Event::waiting(delay, why)).await,
            Delta::Again { why } => {
                self.question.heard.forget();
                self.asked.clear();
                self.parser = parser(self.offer);
                self.tell(Event::Again { why }).await;
            }
        }
    }

    async fn finish(mut self, said: Said, model: &dyn Model) -> Answer {
        // Not every vendor streams everything; the whole answer is the truth.
        let heard = self.question.heard.text();
        match said.text.strip_prefix(heard.as_str()) {
            Some("") => {}
            Some(rest) => self.take(Delta::Text(rest.to_owned())).await,
            None => {
                let why = "the whole answer is not what came piece by piece".to_owned();
                self.take(Delta::Again { why }).await;
                self.take(Delta::Text(said.text.clone())).await;
            }
        }
        if let Some(parser) = self.parser.take() {
            self.pieces(parser.finish()).await;
        }
        let spoilt = said.calls.iter().any(|call| !is_plain(&call.name));
        for call in said.calls {
            let id = self.question.call_id(self.asked.len());
            self.asked.push(self.offer.native(id, call));
        }
        let about = model.about();
        // The vendor's own form holds a name that it would not take back.
        let kept = said
            .kept
            .filter(|_| !spoilt)
            .map(|content| Kept { provider: about.provider.clone(), content });
        Answer {
            text: said.text,
            asked: self.asked,
            native: self.offer.native,
            kept,
            stop: said.stop,
            usage: said.usage,
            prompt_tokens: self.offer.plan.tokens,
            model: about.profile.clone(),
        }
    }

    async fn pieces(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.tell(Event::Text { text }).await,
                Piece::Started { server, tool, .. } => {
                    let parts: Vec<String> = [server, tool].into_iter().flatten().collect();
                    self.tell(Event::Writing { target: parts.join("/") }).await;
                }
                Piece::Call(call) => {
                    let id = self.question.call_id(self.asked.len());
                    self.asked.push(self.offer.written(id, call));
                }
                Piece::Refused { reason, .. } => {
                    let id = self.question.call_id(self.asked.len());
                    self.asked.push(Offer::refused(id, &reason));
                }
            }
        }
    }

    async fn tell(&self, event: Event) {
        // A face that has gone needs to hear nothing; the answer is kept all the same.
        self.events.send(event).await.ok();
    }
}

fn parser(offer: &Offer) -> Option<Parser> {
    (!offer.native).then(|| Parser::new(offer.dialect()))
}
