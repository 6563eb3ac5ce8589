//! A registry of servers on loopback, in this process: well-behaved, silent, broken or too large.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};

/// The member of `_meta` in which the registry itself speaks.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";

/// A registry that answers until the value is dropped.
#[derive(Debug)]
pub struct RegistryFixture {
    /// Its address, without the version of the API.
    pub url: String,
    address: SocketAddr,
    state: Arc<Mutex<RegistryState>>,
    thread: Option<JoinHandle<()>>,
}

/// How the registry answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RegistryMood {
    /// As it should.
    #[default]
    Well,
    /// It takes the request and says nothing.
    Silent,
    /// With text that is no JSON.
    Broken,
    /// With so many bytes.
    Huge(usize),
    /// With a status and no servers.
    Status(u16),
    /// With a redirect to this address.
    Elsewhere(String),
    /// With a cursor that leads to the same page for ever.
    Circular,
}

#[derive(Debug, Default)]
struct RegistryState {
    servers: Vec<Value>,
    /// Other files by their path.
    files: BTreeMap<String, Vec<u8>>,
    mood: RegistryMood,
    page: usize,
    requests: Vec<String>,
    /// Connections that nobody answers.
    silent: Vec<TcpStream>,
    stop: bool,
}

/// One answer.
struct RegistryAnswer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl RegistryFixture {
    /// Starts a registry with these servers, each as `server.json` or with `_meta` beside it.
    ///
    /// # Panics
    ///
    /// Stops the test when no port is free.
    #[must_use]
    pub fn start(servers: &[Value]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free on loopback");
        let address = listener.local_addr().expect("a listener has an address");
        let servers = servers.iter().map(to_listed).collect();
        let state =
            Arc::new(Mutex::new(RegistryState { servers, page: 100, ..RegistryState::default() }));
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || serve(&listener, &shared));
        Self { url: format!("http://{address}"), address, state, thread: Some(thread) }
    }

    /// Answers in another way from here on.
    pub fn set_mood(&self, mood: RegistryMood) {
        self.with(|state| state.mood = mood);
    }

    /// Lists at most so many servers on a page.
    pub fn set_page(&self, page: usize) {
        self.with(|state| state.page = page);
    }

    /// Puts other servers in place of those it has.
    pub fn set_servers(&self, servers: &[Value]) {
        self.with(|state| state.servers = servers.iter().map(to_listed).collect());
    }

    /// Serves a file at a path, for example `/files/a.mcpb`; gives its address.
    pub fn add_file(&self, path: &str, bytes: Vec<u8>) -> String {
        self.with(|state| drop(state.files.insert(path.to_owned(), bytes)));
        format!("{}{path}", self.url)
    }

    /// What was asked so far: paths with their queries.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.with(|state| state.requests.clone())
    }

    fn with<T>(&self, action: impl FnOnce(&mut RegistryState) -> T) -> T {
        action(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for RegistryFixture {
    fn drop(&mut self) {
        self.with(|state| state.stop = true);
        // The listener looks at the flag when somebody connects.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has failed the test's requests already; `drop` adds none.
            _ = thread.join();
        }
    }
}

fn to_listed(server: &Value) -> Value {
    if server.get("server").is_some() {
        return server.clone();
    }
    json!({"server": server, "_meta": {OFFICIAL: {"status": "active", "isLatest": true}}})
}

fn serve(listener: &TcpListener, state: &Mutex<RegistryState>) {
    for stream in listener.incoming() {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stop {
            return;
        }
        if let Ok(stream) = stream {
            // The client may have closed the connection; the next one is served.
            _ = exchange(stream, &mut state);
        }
    }
}

fn exchange(mut stream: TcpStream, state: &mut RegistryState) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut etag = None;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("if-none-match") {
            etag = Some(value.trim().to_owned());
        }
    }
    if target.is_empty() {
        return Ok(());
    }
    state.requests.push(target.clone());
    if state.mood == RegistryMood::Silent {
        state.silent.push(stream);
        return Ok(());
    }
    let answer = answer(state, &target, etag.as_deref());
    let mut head = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", answer.body.len()));
    stream.write_all(head.as_bytes())?;
    stream.write_all(&answer.body)
}

fn answer(state: &RegistryState, target: &str, etag: Option<&str>) -> RegistryAnswer {
    let plain = |status: u16, body: Vec<u8>| RegistryAnswer { status, headers: Vec::new(), body };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if let Some(file) = state.files.get(path) {
        return plain(200, file.clone());
    }
    match &state.mood {
        RegistryMood::Well | RegistryMood::Silent | RegistryMood::Circular => {}
        RegistryMood::Broken => return plain(200, b"<html>not what you think".to_vec()),
        RegistryMood::Huge(bytes) => return plain(200, vec![b' '; *bytes]),
        RegistryMood::Status(status) => return plain(*status, b"{}".to_vec()),
        RegistryMood::Elsewhere(place) => {
            let headers = vec![("location", format!("{place}{target}"))];
            return RegistryAnswer { status: 302, headers, body: Vec::new() };
        }
    }
    let parts: Vec<String> = path.split('/').skip(1).map(percent_decode).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let found = match parts.as_slice() {
        ["v0.1", "servers"] => Some(page(state, query)),
        ["v0.1", "servers", name, "versions"] => versions(state, name),
        ["v0.1", "servers", name, "versions", version] => one(state, name, version),
        _ => None,
    };
    let Some(found) = found else { return plain(404, b"{\"error\":\"not found\"}".to_vec()) };
    let body = found.to_string().into_bytes();
    let tag =
        format!("\"{}-{}\"", body.len(), body.iter().map(|byte| u64::from(*byte)).sum::<u64>());
    if etag == Some(tag.as_str()) {
        return plain(304, Vec::new());
    }
    let headers = vec![("etag", tag), ("content-type", "application/json".to_owned())];
    RegistryAnswer { status: 200, headers, body }
}

fn page(state: &RegistryState, query: &str) -> Value {
    let pairs: BTreeMap<String, String> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), percent_decode(&value.replace('+', " "))))
        .collect();
    let search = pairs.get("search").map(|word| word.to_lowercase()).unwrap_or_default();
    let newest = pairs.get("version").is_some_and(|version| version == "latest");
    let wanted: Vec<&Value> = state
        .servers
        .iter()
        .filter(|one| one.to_string().to_lowercase().contains(&search))
        .filter(|one| !newest || is_newest(one))
        .collect();
    let start: usize = pairs.get("cursor").and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let limit = pairs.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(30);
    let limit = state.page.min(limit);
    let servers: Vec<&Value> = wanted.iter().skip(start).take(limit).copied().collect();
    let end = start + servers.len();
    let next = match state.mood {
        RegistryMood::Circular => Some("0".to_owned()),
        _ => (end < wanted.len()).then(|| end.to_string()),
    };
    json!({"servers": servers, "metadata": {"count": servers.len(), "nextCursor": next}})
}

fn versions(state: &RegistryState, name: &str) -> Option<Value> {
    let servers: Vec<&Value> = state.servers.iter().filter(|one| is_named(one, name)).collect();
    (!servers.is_empty()).then(|| json!({"servers": servers, "metadata": {"count": servers.len()}}))
}

fn one(state: &RegistryState, name: &str, version: &str) -> Option<Value> {
    let fits = |one: &&Value| match version {
        "latest" => is_newest(one),
        version => one.pointer("/server/version").and_then(Value::as_str) == Some(version),
    };
    state.servers.iter().filter(|one| is_named(one, name)).find(fits).cloned()
}

fn is_named(listed: &Value, name: &str) -> bool {
    listed.pointer("/server/name").and_then(Value::as_str) == Some(name)
}

fn is_newest(listed: &Value) -> bool {
    let official = listed.get("_meta").and_then(|meta| meta.get(OFFICIAL));
    official.and_then(|it| it.get("isLatest")).and_then(Value::as_bool).unwrap_or(false)
}

/// A part of an address with its `%` codes replaced.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let code = (byte == b'%').then(|| rest.clone().take(2).collect::<Vec<u8>>());
        let code = code.and_then(|code| String::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(&code, 16).ok()) {
            Some(value) => {
                bytes.push(value);
                rest.nth(1);
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
