//! A server on loopback that gives one prepared reply to each connection.

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

/// The key of every model here.
pub(crate) const KEY: &str = "sk-hunter2-hunter2";

/// What the server does with a connection, after it has read a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Sends this and closes.
    Close(String),
    /// Sends this and then nothing, until the other side closes.
    Hold(String),
}

/// What came in.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// Method, path and headers, as they came.
    pub(crate) head: String,
    /// The body; null where there is none.
    pub(crate) body: Value,
}

pub(crate) struct Server {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server that gives these replies, the last one again and again.
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

/// A response with a status and a body.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::Close(format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    ))
}

/// A response with JSON.
pub(crate) fn json(status: &str, body: &str) -> Reply {
    response(status, "content-type: application/json\r\n", body)
}

/// The text of a stream of events that ends with the connection.
pub(crate) fn stream(events: &[&str]) -> String {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
    let events: String = events.iter().map(|data| format!("data: {data}\n\n")).collect();
    format!("{head}{events}")
}

/// A piece of text in a chat completion.
pub(crate) fn piece(text: &str) -> String {
    serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string()
}

pub(crate) const END: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

/// A chat completion that says `Hello`.
pub(crate) fn hello() -> Reply {
    Reply::Close(stream(&[&piece("Hel"), &piece("lo"), END, "[DONE]"]))
}

/// A profile for a model at the server.
pub(crate) fn profile(provider: Provider, url: &str) -> ModelProfile {
    ModelProfile { base_url: Some(url.to_owned()), ..ModelProfile::new("fast", provider, "m-1") }
}

pub(crate) fn environment() -> Environment {
    let names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"];
    let variables: BTreeMap<String, String> =
        names.iter().map(|name| ((*name).to_owned(), KEY.to_owned())).collect();
    Environment { variables, home: None, current_dir: PathBuf::from(".") }
}

/// Waits that are short enough for a test.
pub(crate) const QUICK: RetryPolicy = RetryPolicy {
    beginning: Duration::from_millis(300),
    silence: Duration::from_millis(300),
    back_off: Duration::from_millis(4),
    longest_wait: Duration::from_millis(100),
};

pub(crate) fn model(profile: &ModelProfile) -> Arc<dyn Model> {
    open_with(profile, &environment(), QUICK).unwrap()
}

/// An OpenAI model at the server.
pub(crate) fn openai(server: &Server) -> Arc<dyn Model> {
    model(&profile(Provider::OpenAi, &server.url))
}

pub(crate) fn question() -> ModelRequest {
    let hi = ChatMessage::User { text: "hi".to_owned(), images: Vec::new() };
    ModelRequest { messages: vec![hi], ..ModelRequest::default() }
}

/// Asks and gives back what was told on the way and what came out.
pub(crate) async fn ask(model: &dyn Model) -> (Vec<ModelDelta>, Result<ModelAnswer, ModelError>) {
    let (heard, mut told) = mpsc::channel(1_000);
    let answer = model.answer(&question(), &heard).await;
    let mut deltas = Vec::new();
    while let Ok(delta) = told.try_recv() {
        deltas.push(delta);
    }
    (deltas, answer)
}

/// What was told, in words that can be compared: reasons and lengths of waits are left out.
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
