//! Clients of every revision over every transport, with one interface.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::gateway::{Gateway, Legacy, MODERN, Modern, modern_params};
use crate::http_client::{Reply, send};
use crate::running::RunningProcess;

/// Revisions before 2026-07-28.
pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Returns the capabilities of every client.
fn abilities() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

/// The messages that a client receives for a request.
#[derive(Debug)]
pub(crate) struct SpeakerReply {
    /// The response, as text.
    pub(crate) text: String,
    /// The messages before it: notifications and requests.
    pub(crate) before: Vec<Value>,
}

impl SpeakerReply {
    pub(crate) fn answer(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// Returns the text of the result alone.
    pub(crate) fn result(&self) -> &str {
        let (_, result) =
            self.text.split_once(r#","result":"#).unwrap_or_else(|| panic!("{self:?}"));
        result.strip_suffix('}').unwrap()
    }

    pub(crate) fn count(&self, method: &str) -> usize {
        self.before.iter().filter(|message| message["method"] == method).count()
    }
}

/// A client that answers the requests of its peer.
pub(crate) trait Speaker {
    /// Returns its revision and its transport.
    fn name(&self) -> String;

    fn revision(&self) -> &str;

    /// Sends a request, answers requests in the meantime with `reply`, and returns all messages
    /// received.
    fn say(&mut self, method: &str, params: &Value, reply: &Value) -> SpeakerReply;

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.say(method, params, &Value::Null).answer()
    }

    /// Returns whether the revision lets a server send requests during a call.
    fn can_be_asked(&self) -> bool {
        self.revision() >= "2025-06-18"
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn answer(question: &Value, reply: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": question["id"], "result": reply})
}

fn is_question(message: &Value) -> bool {
    message.get("id").is_some() && message.get("method").is_some()
}

/// Parses a message; of a result that no `Value` can hold, only the id and the method.
fn frame(text: &str) -> Value {
    #[derive(Deserialize)]
    struct Frame {
        id: Option<Value>,
        method: Option<String>,
    }
    if let Ok(whole) = serde_json::from_str(text) {
        return whole;
    }
    let Frame { id, method } = serde_json::from_str(text).unwrap();
    let mut frame = json!({"id": id});
    if let Some(method) = method {
        frame["method"] = method.into();
    }
    frame
}

/// Returns the call with answers to its input requests; `None` if there are none.
fn again(text: &str, params: &Value, reply: &Value) -> Option<Value> {
    let answer = frame(text);
    let result = &answer["result"];
    let asked = result["inputRequests"].as_object()?;
    let mut again = params.clone();
    again["inputResponses"] = asked.keys().map(|key| (key.clone(), reply.clone())).collect();
    again["requestState"] = result["requestState"].clone();
    Some(again)
}

/// Returns the input requests of a response, as if each had been sent at once.
fn asked_in(text: &str) -> Vec<Value> {
    let answer = frame(text);
    let asked = answer["result"]["inputRequests"].as_object().cloned().unwrap_or_default();
    asked.into_iter().map(|(_, request)| request).collect()
}

/// A client of the modern era over HTTP.
pub(crate) struct ModernHttp<'a>(pub(crate) Modern<'a>);

impl<'a> ModernHttp<'a> {
    pub(crate) fn new(gateway: &'a Gateway) -> Self {
        let mut client = gateway.modern();
        client.capabilities = abilities();
        Self(client)
    }
}

impl Speaker for ModernHttp<'_> {
    fn name(&self) -> String {
        format!("{MODERN} over HTTP")
    }

    fn revision(&self) -> &str {
        MODERN
    }

    fn say(&mut self, method: &str, params: &Value, reply: &Value) -> SpeakerReply {
        let mut params = params.clone();
        let mut before = Vec::new();
        loop {
            let mut texts = self.0.send(method, &params).texts();
            let text = texts.pop().expect("there is an answer");
            before.extend(texts.iter().map(|text| serde_json::from_str::<Value>(text).unwrap()));
            before.extend(asked_in(&text));
            match again(&text, &params, reply) {
                Some(again) => params = again,
                None => return SpeakerReply { text, before },
            }
        }
    }
}

/// A client of the legacy era over streamable HTTP.
pub(crate) struct LegacyHttp<'a>(Legacy<'a>, String);

impl<'a> LegacyHttp<'a> {
    pub(crate) fn new(gateway: &'a Gateway, revision: &str) -> Self {
        Self(Legacy::open(&gateway.url, revision, &abilities()), revision.to_owned())
    }
}

impl Speaker for LegacyHttp<'_> {
    fn name(&self) -> String {
        format!("{} over HTTP", self.1)
    }

    fn revision(&self) -> &str {
        &self.1
    }

    fn say(&mut self, method: &str, params: &Value, reply: &Value) -> SpeakerReply {
        let mut stream = self.0.send(method, params);
        if !stream.is_stream() {
            return SpeakerReply { text: stream.text(), before: Vec::new() };
        }
        let mut before = Vec::new();
        loop {
            let (_, text) = stream.next_event().expect("the answer comes");
            let message = frame(&text);
            if message.get("method").is_none() {
                return SpeakerReply { text, before };
            }
            if is_question(&message) {
                assert_eq!(self.0.post(&answer(&message, reply)).status, 202);
            }
            before.push(message);
        }
    }
}

/// A client of the first revision over HTTP+SSE.
pub(crate) struct Sse {
    place: String,
    stream: Reply,
    next: u64,
}

impl Sse {
    pub(crate) fn new(gateway: &Gateway) -> Self {
        let accepts = [("Accept", "text/event-stream")];
        let mut stream = send("GET", &gateway.place("/sse"), &accepts, "");
        let (_, place) = stream.next_event().unwrap();
        let mut client = Self { place: gateway.place(&place), stream, next: 1 };
        let greeting = json!({
            "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": {"name": "sse", "version": "0"},
        });
        assert_eq!(client.ask("initialize", &greeting)["result"]["protocolVersion"], "2024-11-05");
        client.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn post(&self, body: &Value) {
        let headers = [("Content-Type", "application/json")];
        assert_eq!(send("POST", &self.place, &headers, &body.to_string()).status, 202);
    }
}

impl Speaker for Sse {
    fn name(&self) -> String {
        "2024-11-05 over HTTP+SSE".to_owned()
    }

    fn revision(&self) -> &str {
        "2024-11-05"
    }

    fn say(&mut self, method: &str, params: &Value, reply: &Value) -> SpeakerReply {
        let id = self.next;
        self.next += 1;
        self.post(&request(id, method, params));
        let mut before = Vec::new();
        loop {
            let (_, text) = self.stream.next_event().expect("the answer comes");
            let message = frame(&text);
            if message["id"] == id && message.get("method").is_none() {
                return SpeakerReply { text, before };
            }
            if is_question(&message) {
                self.post(&answer(&message, reply));
            }
            before.push(message);
        }
    }
}

/// A gateway at the other end of a pipe, used by one client after the other.
pub(crate) struct Pipe {
    running: RunningProcess,
    next: u64,
    /// Number of bytes read from the output.
    read: usize,
}

impl Pipe {
    pub(crate) fn new(running: RunningProcess) -> Self {
        Self { running, next: 1, read: 0 }
    }

    pub(crate) fn modern(&mut self) -> PipeClient<'_> {
        PipeClient { pipe: self, revision: MODERN.to_owned() }
    }

    pub(crate) fn legacy(&mut self, revision: &str) -> PipeClient<'_> {
        let greeting = json!({
            "protocolVersion": revision, "capabilities": abilities(),
            "clientInfo": {"name": "pipe", "version": "0"},
        });
        let mut client = PipeClient { pipe: self, revision: revision.to_owned() };
        let welcome = client.round("initialize", &greeting, &Value::Null).answer();
        assert_eq!(welcome["result"]["protocolVersion"], revision, "{welcome}");
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        client.pipe.running.say(&format!("{done}\n"));
        client
    }

    /// Returns the next whole line.
    fn line(&mut self) -> String {
        let from = self.read;
        let rest = |so_far: &str| {
            let line = so_far.get(from..)?.split_inclusive('\n').next()?;
            line.strip_suffix('\n').map(str::to_owned)
        };
        let line = self.running.wait_for_some(rest);
        self.read += line.len() + 1;
        line
    }
}

/// A client at a pipe.
pub(crate) struct PipeClient<'a> {
    pipe: &'a mut Pipe,
    revision: String,
}

impl PipeClient<'_> {
    fn round(&mut self, method: &str, params: &Value, reply: &Value) -> SpeakerReply {
        let id = self.pipe.next;
        self.pipe.next += 1;
        self.pipe.running.say(&format!("{}\n", request(id, method, params)));
        let mut before = Vec::new();
        loop {
            let text = self.pipe.line();
            let message = frame(&text);
            if message["id"] == id && message.get("method").is_none() {
                return SpeakerReply { text, before };
            }
            if is_question(&message) {
                self.pipe.running.say(&format!("{}\n", answer(&message, reply)));
            }
            before.push(message);
        }
    }
}

impl Speaker for PipeClient<'_> {
    fn name(&self) -> String {
        format!("{} over a pipe", self.revision)
    }

    fn revision(&self) -> &str {
        &self.revision
    }

    fn say(&mut self, method: &str, params: &Value, reply: &Value) -> SpeakerReply {
        if self.revision != MODERN {
            return self.round(method, params, reply);
        }
        let mut params = params.clone();
        let mut before = Vec::new();
        loop {
            let heard = self.round(method, &modern_params(&params, &abilities()), reply);
            before.extend(heard.before);
            before.extend(asked_in(&heard.text));
            match again(&heard.text, &params, reply) {
                Some(again) => params = again,
                None => return SpeakerReply { text: heard.text, before },
            }
        }
    }
}
