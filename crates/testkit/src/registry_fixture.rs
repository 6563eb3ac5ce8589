//! An in-process registry of MCP servers on loopback: well-behaved, silent, broken or oversized.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::background::BackgroundServer;

type SharedState = Arc<Mutex<RegistryState>>;

/// The member of `_meta` that holds the registry's own metadata.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";

/// A running registry, stopped when the value is dropped.
#[derive(Debug)]
pub struct RegistryFixture {
    /// Base URL, without the version of the API.
    pub url: String,
    state: SharedState,
    _server: BackgroundServer,
}

/// How the registry answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RegistryMood {
    #[default]
    Well,
    /// Accepts the request and never answers.
    Silent,
    Broken,
    Huge(usize),
    Status(u16),
    Elsewhere(String),
    /// Every page has a cursor that leads back to the first one.
    Circular,
}

#[derive(Debug, Default)]
struct RegistryState {
    servers: Vec<Value>,
    /// Static files by path.
    files: BTreeMap<String, Vec<u8>>,
    mood: RegistryMood,
    page: usize,
    requests: Vec<String>,
}

impl RegistryFixture {
    /// Starts a registry with these servers, each a plain `server.json` or an entry with `_meta`.
    pub fn start(servers: &[Value]) -> Self {
        let servers = servers.iter().map(to_listed).collect();
        let state: SharedState =
            Arc::new(Mutex::new(RegistryState { servers, page: 100, ..RegistryState::default() }));
        let router = Router::new().fallback(respond).with_state(Arc::clone(&state));
        let server = BackgroundServer::start(async move |listener| {
            axum::serve(listener, router).await.expect("a loopback listener accepts");
        });
        Self { url: format!("http://{}", server.address), state, _server: server }
    }

    /// Changes how the registry answers from here on.
    pub fn set_mood(&self, mood: RegistryMood) {
        self.with(|state| state.mood = mood);
    }

    /// Sets the maximum number of servers per page.
    pub fn set_page(&self, page: usize) {
        self.with(|state| state.page = page);
    }

    /// Replaces the listed servers.
    pub fn set_servers(&self, servers: &[Value]) {
        self.with(|state| state.servers = servers.iter().map(to_listed).collect());
    }

    /// Serves a file at a path, for example `/files/a.mcpb`, and returns its URL.
    pub fn add_file(&self, path: &str, bytes: Vec<u8>) -> String {
        self.with(|state| drop(state.files.insert(path.to_owned(), bytes)));
        format!("{}{path}", self.url)
    }

    /// Returns the path and query of every request so far.
    pub fn requests(&self) -> Vec<String> {
        self.with(|state| state.requests.clone())
    }

    fn with<T>(&self, action: impl FnOnce(&mut RegistryState) -> T) -> T {
        action(&mut self.state.lock())
    }
}

fn to_listed(server: &Value) -> Value {
    if server.get("server").is_some() {
        return server.clone();
    }
    json!({"server": server, "_meta": {OFFICIAL: {"status": "active", "isLatest": true}}})
}

async fn respond(
    State(state): State<SharedState>,
    uri: Uri,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let answer = {
        let mut state = state.lock();
        state.requests.push(uri.to_string());
        let is_silent = state.mood == RegistryMood::Silent;
        (!is_silent).then(|| answer(&state, &uri, &query, headers.get(IF_NONE_MATCH)))
    };
    match answer {
        Some(answer) => answer,
        None => std::future::pending().await,
    }
}

fn answer(
    state: &RegistryState,
    uri: &Uri,
    query: &BTreeMap<String, String>,
    known: Option<&HeaderValue>,
) -> Response {
    if let Some(file) = state.files.get(uri.path()) {
        return file.clone().into_response();
    }
    match &state.mood {
        RegistryMood::Well | RegistryMood::Silent | RegistryMood::Circular => {}
        RegistryMood::Broken => return "<html>not what you think".into_response(),
        RegistryMood::Huge(bytes) => return vec![b' '; *bytes].into_response(),
        RegistryMood::Status(status) => {
            let status = StatusCode::from_u16(*status).expect("a test names a real status");
            return (status, "{}").into_response();
        }
        RegistryMood::Elsewhere(place) => {
            return (StatusCode::FOUND, [(LOCATION, format!("{place}{uri}"))]).into_response();
        }
    }
    let parts = uri.path().split('/').skip(1);
    let parts: Vec<_> = parts.map(|part| percent_decode_str(part).decode_utf8_lossy()).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    let found = match parts.as_slice() {
        ["v0.1", "servers"] => Some(page(state, query)),
        ["v0.1", "servers", name, "versions"] => versions(state, name),
        ["v0.1", "servers", name, "versions", version] => one(state, name, version),
        _ => None,
    };
    let Some(found) = found else {
        return (StatusCode::NOT_FOUND, "{\"error\":\"not found\"}").into_response();
    };
    let body = found.to_string();
    // Length and sum of bytes suffice as an ETag: they only have to distinguish a test's lists.
    let tag = format!("\"{}-{}\"", body.len(), body.bytes().map(u64::from).sum::<u64>());
    if known.is_some_and(|known| known == tag.as_str()) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    ([(ETAG, tag), (CONTENT_TYPE, "application/json".to_owned())], body).into_response()
}

fn page(state: &RegistryState, query: &BTreeMap<String, String>) -> Value {
    let search = query.get("search").map(|word| word.to_lowercase()).unwrap_or_default();
    let newest = query.get("version").is_some_and(|version| version == "latest");
    let wanted: Vec<&Value> = state
        .servers
        .iter()
        .filter(|one| one.to_string().to_lowercase().contains(&search))
        .filter(|one| !newest || is_newest(one))
        .collect();
    let start: usize = query.get("cursor").and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let limit = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(30);
    let servers: Vec<&Value> =
        wanted.iter().skip(start).take(state.page.min(limit)).copied().collect();
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
