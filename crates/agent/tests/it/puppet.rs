//! A model that says what a test says, when the test says it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_prompting::{
    About, Answering, CallForm, Calls, Checking, Delta, Message, Model, ModelError, NativeCall,
    Request, Said, Stop, Trouble, Usage, Vendor, read_arguments,
};
use tokio::sync::{mpsc, oneshot};

/// No test waits longer than this for something that has to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The model.
pub(crate) struct Puppet {
    about: About,
    asked: mpsc::Sender<Asked>,
}

/// The questions that the model was asked.
pub(crate) struct Questions(mpsc::Receiver<Asked>);

/// One question; it waits for its answer.
pub(crate) struct Asked {
    pub(crate) request: Request,
    heard: mpsc::Sender<Delta>,
    answer: oneshot::Sender<Result<Said, ModelError>>,
}

impl Puppet {
    /// One that calls natively, with a large window.
    pub(crate) fn new(profile: &str) -> (Arc<Self>, Questions) {
        Self::like(profile, Calls::Native(Vendor::OpenAi), 100_000)
    }

    /// One that calls in its text.
    pub(crate) fn in_text(profile: &str) -> (Arc<Self>, Questions) {
        Self::like(profile, Calls::Text(CallForm::Wrapper), 100_000)
    }

    pub(crate) fn like(profile: &str, calls: Calls, window: usize) -> (Arc<Self>, Questions) {
        let (asked, questions) = mpsc::channel(8);
        let about = About {
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
    fn about(&self) -> &About {
        &self.about
    }

    fn answer<'a>(&'a self, request: &'a Request, heard: &'a mpsc::Sender<Delta>) -> Answering<'a> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let asked = Asked { request: request.clone(), heard: heard.clone(), answer };
            let gone = || ModelError::new(Trouble::CutOff, "nobody pulls the strings");
            self.asked.send(asked).await.map_err(|_| gone())?;
            answered.await.map_err(|_| gone())?
        })
    }

    fn check(&self) -> Checking<'_> {
        Box::pin(async { Ok("it hangs well".to_owned()) })
    }
}

impl Questions {
    /// The next question.
    pub(crate) async fn next(&mut self) -> Asked {
        let asked = tokio::time::timeout(PATIENCE, self.0.recv()).await;
        asked.expect("the model is asked in time").expect("the model is still there")
    }

    /// Whether nothing was asked so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Asked {
    /// Says a part of the answer.
    pub(crate) async fn begin(&self, text: &str) {
        self.heard.send(Delta::Text(text.to_owned())).await.unwrap();
    }

    /// Answers with words.
    pub(crate) fn end(self, text: &str) {
        self.finish(text, Vec::new(), Usage::default());
    }

    /// Answers with calls: names and arguments.
    pub(crate) fn call(self, calls: &[(&str, Value)]) {
        let native = calls.iter().enumerate().map(|(number, (name, arguments))| NativeCall {
            id: Some(format!("id_{number}")),
            name: (*name).to_owned(),
            arguments: read_arguments(&arguments.to_string()),
        });
        let native = native.collect();
        self.finish("", native, Usage::default());
    }

    pub(crate) fn fail(self, trouble: Trouble) {
        self.give(Err(ModelError::new(trouble, "it cannot")));
    }

    fn finish(self, text: &str, calls: Vec<NativeCall>, usage: Usage) {
        let stop = if calls.is_empty() { Stop::End } else { Stop::Calls };
        self.give(Ok(Said { text: text.to_owned(), calls, stop, usage, kept: None }));
    }

    fn give(self, said: Result<Said, ModelError>) {
        let Self { heard, answer, .. } = self;
        // As long as somebody can speak, the answer is listened to.
        drop(heard);
        answer.send(said).expect("somebody waits for the answer");
    }

    /// Waits until nobody wants the answer any more.
    pub(crate) async fn given_up(mut self) {
        let closed = tokio::time::timeout(PATIENCE, self.answer.closed()).await;
        closed.expect("the question is given up in time");
    }

    /// The messages, one line for each: who, and what.
    pub(crate) fn told(&self) -> Vec<String> {
        self.request.messages.iter().map(shown).collect()
    }

    /// The newest message.
    pub(crate) fn newest(&self) -> String {
        self.told().pop().expect("there is a message")
    }
}

fn shown(message: &Message) -> String {
    match message {
        Message::User { text, images } if images.is_empty() => format!("user: {text}"),
        Message::User { text, images } => format!("user: {text} ({} pictures)", images.len()),
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| format!("{}{}", call.name, call.arguments));
            let parts: Vec<String> = std::iter::once(text.clone()).chain(calls).collect();
            format!("assistant: {}", parts.join(" "))
        }
        Message::Results { results } => {
            let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
            format!("results: {}", texts.join(" | "))
        }
    }
}
