//! A loopback server that gives one prepared reply per connection.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use switchboard_config::{Environment, ModelProfile, Provider};
use switchboard_models::{RetryPolicy, open_with};
use switchboard_prompting::{
    ChatMessage, Model, ModelAnswer, ModelDelta, ModelError, ModelRequest,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// API key of every model.
pub(crate) const KEY: &str = "sk-hunter2-hunter2";

/// The server's response to a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Sends this text and closes.
    Close(String),
    /// Sends this text and then nothing, until the other side closes.
    Hold(String),
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// Method, path and headers, as they arrived.
    pub(crate) head: String,
    /// The body; null if there is none.
    pub(crate) body: Value,
}

pub(crate) struct Server {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server that gives these replies, the last one repeatedly.
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let journal = Arc::clone(&received);
        let task = tokio::spawn(async move {
            let mut replies = replies.into_iter().peekable();
            let mut last = None;
            while let Ok((stream, _)) = listener.accept().await {
                last = replies.next().or(last);
                let reply = last.clone().expect("a server has a reply");
                tokio::spawn(serve(stream, reply, Arc::clone(&journal)));
            }
        });
        Self { url, received, task }
    }

    pub(crate) fn received_requests(&self) -> Vec<ReceivedRequest> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, reply: Reply, journal: Arc<Mutex<Vec<ReceivedRequest>>>) {
    let Some(received) = read(&mut stream).await else { return };
    journal.lock().unwrap().push(received);
    let (Reply::Close(text) | Reply::Hold(text)) = &reply;
    if stream.write_all(text.as_bytes()).await.is_err() {
        return;
    }
    match reply {
        Reply::Close(_) => {
            stream.shutdown().await.ok();
        }
        Reply::Hold(_) => {
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await.ok();
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                let body = serde_json::from_str(body).unwrap_or_default();
                return Some(ReceivedRequest { head, body });
            }
        }
        let mut buffer = [0; 4_096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
}

/// Returns a response with a status and a body.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::Close(format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    ))
}

/// Returns a JSON response.
pub(crate) fn json(status: &str, body: &str) -> Reply {
    response(status, "content-type: application/json\r\n", body)
}

/// Returns the text of an event stream that ends with the connection.
pub(crate) fn stream(events: &[&str]) -> String {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
    let events: String = events.iter().map(|data| format!("data: {data}\n\n")).collect();
    format!("{head}{events}")
}

/// Returns an event of a chat completion with a piece of text.
pub(crate) fn piece(text: &str) -> String {
    serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string()
}

pub(crate) const END: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

/// Returns a chat completion with the text `Hello`.
pub(crate) fn hello() -> Reply {
    Reply::Close(stream(&[&piece("Hel"), &piece("lo"), END, "[DONE]"]))
}

/// Returns a profile for a model at the server.
pub(crate) fn profile(provider: Provider, url: &str) -> ModelProfile {
    ModelProfile { base_url: Some(url.to_owned()), ..ModelProfile::new("fast", provider, "m-1") }
}

pub(crate) fn environment() -> Environment {
    let names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"];
    let variables: BTreeMap<String, String> =
        names.iter().map(|name| ((*name).to_owned(), KEY.to_owned())).collect();
    Environment { variables, home: None, current_dir: PathBuf::from(".") }
}

/// Retry policy with waits that are short enough for a test.
pub(crate) const QUICK: RetryPolicy = RetryPolicy {
    beginning: Duration::from_millis(300),
    silence: Duration::from_millis(300),
    back_off: Duration::from_millis(4),
    longest_wait: Duration::from_millis(100),
};

pub(crate) fn model(profile: &ModelProfile) -> Arc<dyn Model> {
    open_with(profile, &environment(), QUICK).unwrap()
}

/// Returns an OpenAI model at the server.
pub(crate) fn openai(server: &Server) -> Arc<dyn Model> {
    model(&profile(Provider::OpenAi, &server.url))
}

pub(crate) fn question() -> ModelRequest {
    let hi = ChatMessage::User { text: "hi".to_owned(), images: Vec::new() };
    ModelRequest { messages: vec![hi], ..ModelRequest::default() }
}

/// Sends a request; returns its deltas and its outcome.
pub(crate) async fn ask(model: &dyn Model) -> (Vec<ModelDelta>, Result<ModelAnswer, ModelError>) {
    let (heard, mut told) = mpsc::channel(1_000);
    let answer = model.answer(&question(), &heard).await;
    let mut deltas = Vec::new();
    while let Ok(delta) = told.try_recv() {
        deltas.push(delta);
    }
    (deltas, answer)
}

/// Returns the deltas as comparable texts, without reasons and durations of waits.
pub(crate) fn outline(deltas: &[ModelDelta]) -> Vec<String> {
    let word = |delta: &ModelDelta| match delta {
        ModelDelta::Text(text) => text.clone(),
        ModelDelta::Thinking(text) => format!("({text})"),
        ModelDelta::Call { name } => format!("call {name}"),
        ModelDelta::Restarted { .. } => "again".to_owned(),
        ModelDelta::Waiting { .. } => "waiting".to_owned(),
    };
    deltas.iter().map(word).collect()
}
