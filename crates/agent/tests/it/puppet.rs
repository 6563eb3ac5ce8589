//! A model whose answers, and their timing, the test controls.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_prompting::{
    CallForm, CallMode, ChatMessage, Model, ModelAnswer, ModelAnswerFuture, ModelCheckFuture,
    ModelDelta, ModelError, ModelErrorKind, ModelInfo, ModelRequest, NativeCall, StopReason,
    TokenUsage, Vendor, read_arguments,
};
use tokio::sync::{mpsc, oneshot};

/// Maximum wait of any test for an expected event.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// The controlled model.
pub(crate) struct Puppet {
    about: ModelInfo,
    asked: mpsc::Sender<PuppetQuestion>,
}

/// The requests that the model received.
pub(crate) struct Questions(mpsc::Receiver<PuppetQuestion>);

/// A request that waits for its answer.
pub(crate) struct PuppetQuestion {
    pub(crate) request: ModelRequest,
    heard: mpsc::Sender<ModelDelta>,
    answer: oneshot::Sender<Result<ModelAnswer, ModelError>>,
}

impl Puppet {
    /// Creates a model that calls natively, with a large window.
    pub(crate) fn new(profile: &str) -> (Arc<Self>, Questions) {
        Self::like(profile, CallMode::Native(Vendor::OpenAi), 100_000)
    }

    /// Creates a model that calls in its text.
    pub(crate) fn in_text(profile: &str) -> (Arc<Self>, Questions) {
        Self::like(profile, CallMode::Text(CallForm::Wrapper), 100_000)
    }

    pub(crate) fn like(profile: &str, calls: CallMode, window: usize) -> (Arc<Self>, Questions) {
        let (asked, questions) = mpsc::channel(8);
        let about = ModelInfo {
            profile: profile.to_owned(),
            provider: "puppet".to_owned(),
            model: "wood".to_owned(),
            calls,
            images: true,
            window,
        };
        (Arc::new(Self { about, asked }), Questions(questions))
    }
}

impl Model for Puppet {
    fn info(&self) -> &ModelInfo {
        &self.about
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        heard: &'a mpsc::Sender<ModelDelta>,
    ) -> ModelAnswerFuture<'a> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let asked = PuppetQuestion { request: request.clone(), heard: heard.clone(), answer };
            let gone = || ModelError::new(ModelErrorKind::CutOff, "nobody pulls the strings");
            self.asked.send(asked).await.map_err(|_| gone())?;
            answered.await.map_err(|_| gone())?
        })
    }

    fn check(&self) -> ModelCheckFuture<'_> {
        Box::pin(async { Ok("it hangs well".to_owned()) })
    }
}

impl Questions {
    /// Returns the next request.
    pub(crate) async fn next(&mut self) -> PuppetQuestion {
        let asked = tokio::time::timeout(TEST_TIMEOUT, self.0.recv()).await;
        asked.expect("the model is asked in time").expect("the model is still there")
    }

    /// Returns whether there are no unread requests.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PuppetQuestion {
    /// Sends a part of the answer.
    pub(crate) async fn begin(&self, text: &str) {
        self.heard.send(ModelDelta::Text(text.to_owned())).await.unwrap();
    }

    /// Answers with a text.
    pub(crate) fn end(self, text: &str) {
        self.finish(text, Vec::new(), TokenUsage::default());
    }

    /// Answers with calls: names and arguments.
    pub(crate) fn call(self, calls: &[(&str, Value)]) {
        let native = calls.iter().enumerate().map(|(number, (name, arguments))| NativeCall {
            id: Some(format!("id_{number}")),
            name: (*name).to_owned(),
            arguments: read_arguments(&arguments.to_string()),
        });
        let native = native.collect();
        self.finish("", native, TokenUsage::default());
    }

    pub(crate) fn fail(self, trouble: ModelErrorKind) {
        self.give(Err(ModelError::new(trouble, "it cannot")));
    }

    fn finish(self, text: &str, calls: Vec<NativeCall>, usage: TokenUsage) {
        let stop = if calls.is_empty() { StopReason::End } else { StopReason::Calls };
        self.give(Ok(ModelAnswer {
            text: text.to_owned(),
            calls,
            stop,
            usage,
            vendor_message: None,
        }));
    }

    fn give(self, said: Result<ModelAnswer, ModelError>) {
        let Self { heard, answer, .. } = self;
        // The receiver reads the answer for as long as a sender of its parts exists.
        drop(heard);
        answer.send(said).expect("somebody waits for the answer");
    }

    /// Waits until the request is cancelled.
    pub(crate) async fn given_up(mut self) {
        let closed = tokio::time::timeout(TEST_TIMEOUT, self.answer.closed()).await;
        closed.expect("the question is given up in time");
    }

    /// Returns the messages, one line for each: role and text.
    pub(crate) fn message_lines(&self) -> Vec<String> {
        self.request.messages.iter().map(message_line).collect()
    }

    /// Returns the newest message.
    pub(crate) fn newest(&self) -> String {
        self.message_lines().pop().expect("there is a message")
    }
}

fn message_line(message: &ChatMessage) -> String {
    match message {
        ChatMessage::User { text, images } if images.is_empty() => format!("user: {text}"),
        ChatMessage::User { text, images } => format!("user: {text} ({} pictures)", images.len()),
        ChatMessage::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| format!("{}{}", call.name, call.arguments));
            let parts: Vec<String> = std::iter::once(text.clone()).chain(calls).collect();
            format!("assistant: {}", parts.join(" "))
        }
        ChatMessage::Results { results } => {
            let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
            format!("results: {}", texts.join(" | "))
        }
    }
}
