//! Streams an answer: forwards the text as it arrives, and extracts the calls.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_prompting::{
    MessageParser, MessagePiece, Model, ModelAnswer, ModelDelta, ModelError, ModelRequest,
    VendorMessage,
};
use tokio::sync::mpsc;

use crate::event::Event;
use crate::tool_offer::{ToolOffer, is_vendor_safe};
use crate::turn::{TurnAnswer, TurnCall};

/// The text of an answer so far, in case it is interrupted.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartialAnswer(Arc<Mutex<String>>);

impl PartialAnswer {
    pub(crate) fn text(&self) -> String {
        self.0.lock().clone()
    }
}

/// The partial answer to a request, and the step under which the answer will be stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelQuestion {
    pub(crate) heard: PartialAnswer,
    pub(crate) step: u64,
}

impl ModelQuestion {
    /// Returns an id, unique in the conversation, for a call of the answer.
    fn call_id(&self, place: usize) -> String {
        format!("call_{}_{}", self.step, place + 1)
    }
}

/// Sends the request and streams the answer to its end.
pub(crate) async fn stream(
    model: &dyn Model,
    request: &ModelRequest,
    offer: &ToolOffer,
    events: &mpsc::Sender<Event>,
    question: &ModelQuestion,
) -> Result<TurnAnswer, ModelError> {
    let (sender, mut deltas) = mpsc::channel(64);
    let mut listener =
        AnswerListener { offer, events, question, parser: parser(offer), asked: Vec::new() };
    let answering = async {
        let said = model.answer(request, &sender).await;
        // The loop below ends only when the sender is gone.
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

struct AnswerListener<'a> {
    offer: &'a ToolOffer,
    events: &'a mpsc::Sender<Event>,
    question: &'a ModelQuestion,
    /// The parser for a model that calls tools in its text.
    parser: Option<MessageParser>,
    asked: Vec<TurnCall>,
}

impl AnswerListener<'_> {
    async fn take(&mut self, delta: ModelDelta) {
        match delta {
            ModelDelta::Text(text) => {
                self.question.heard.0.lock().push_str(&text);
                let pieces: Vec<MessagePiece> = match &mut self.parser {
                    Some(parser) => parser.push(&text).collect(),
                    None => vec![MessagePiece::Text(text)],
                };
                self.pieces(pieces).await;
            }
            ModelDelta::Thinking(text) => self.emit(Event::Thinking { text }).await,
            ModelDelta::Call { name } => self.emit(Event::Writing { target: name }).await,
            ModelDelta::Waiting { delay, why } => {
                self.emit(Event::Waiting { seconds: delay.as_secs_f64(), why }).await;
            }
            ModelDelta::Restarted { why } => {
                // The new answer is complete in itself: calls of the abandoned one must not run.
                self.question.heard.0.lock().clear();
                self.asked.clear();
                self.parser = parser(self.offer);
                self.emit(Event::Again { why }).await;
            }
        }
    }

    async fn finish(mut self, said: ModelAnswer, model: &dyn Model) -> TurnAnswer {
        // Vendors may stream only part of an answer; the complete answer takes precedence.
        let heard = self.question.heard.text();
        match said.text.strip_prefix(heard.as_str()) {
            Some("") => {}
            Some(rest) => self.take(ModelDelta::Text(rest.to_owned())).await,
            None => {
                let why = "the complete answer differs from the streamed text".to_owned();
                self.take(ModelDelta::Restarted { why }).await;
                self.take(ModelDelta::Text(said.text.clone())).await;
            }
        }
        if let Some(parser) = self.parser.take() {
            self.pieces(parser.finish()).await;
        }
        let spoilt = said.calls.iter().any(|call| !is_vendor_safe(&call.name));
        for call in said.calls {
            let id = self.question.call_id(self.asked.len());
            self.asked.push(self.offer.call_from_native(id, call));
        }
        let about = model.info();
        // The vendor would reject its own message, because of an invalid tool name in it.
        let kept = said
            .vendor_message
            .filter(|_| !spoilt)
            .map(|content| VendorMessage { provider: about.provider.clone(), content });
        TurnAnswer {
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

    async fn pieces(&mut self, pieces: Vec<MessagePiece>) {
        for piece in pieces {
            match piece {
                MessagePiece::Text(text) => self.emit(Event::Text { text }).await,
                MessagePiece::Started { server, tool, .. } => {
                    let parts: Vec<String> = [server, tool].into_iter().flatten().collect();
                    self.emit(Event::Writing { target: parts.join("/") }).await;
                }
                MessagePiece::Call(call) => {
                    let id = self.question.call_id(self.asked.len());
                    self.asked.push(self.offer.call_from_text(id, call));
                }
                MessagePiece::Refused { reason, .. } => {
                    let id = self.question.call_id(self.asked.len());
                    self.asked.push(ToolOffer::call_from_parse_error(id, &reason));
                }
            }
        }
    }

    async fn emit(&self, event: Event) {
        // The face may have gone; the answer is recorded without it.
        _ = self.events.send(event).await;
    }
}

fn parser(offer: &ToolOffer) -> Option<MessageParser> {
    (!offer.native).then(|| MessageParser::new(offer.dialect()))
}
