//! The floor of clients: the least that a client which multiplexes calls has to do.
//!
//! Over stdio: ids, a table of pending requests, a queue, one task that writes the queue with as
//! few writes as possible, and one that reads lines and looks up their ids. Only a few large
//! messages are serialized at a time, because memory is slower than waiting. No deadlines, no
//! limits, no cancellation.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client as HttpClient, Url};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};

use super::run::{INITIALIZE, PipedProcess, each_line, request};
use crate::error::Result;
use crate::load::LoadClient;

/// Maximum size of a write that batches messages; longer messages are written without a copy.
const WRITE_BYTES: usize = 64 << 10;
/// Maximum number of longer messages in the queue.
const MAX_LONG_MESSAGES: usize = 4;

type UnsentMessages = (Vec<u8>, Option<OwnedSemaphorePermit>);

#[derive(Clone)]
pub(super) struct FloorStdio {
    shared: Arc<FloorState>,
    params: Arc<str>,
    _server: Arc<Child>,
}

struct FloorState {
    next_id: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Bytes>>>,
    unsent: Mutex<Vec<UnsentMessages>>,
    long: Arc<Semaphore>,
    wake: Notify,
}

#[derive(Deserialize)]
pub(super) struct ResultLine<'a> {
    pub(super) id: u64,
    #[serde(borrow)]
    pub(super) result: &'a RawValue,
}

/// Any line: gateways also send notifications and errors.
#[derive(Deserialize)]
struct ServerLine<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

impl FloorStdio {
    /// Starts the session with the server.
    pub(super) async fn start(server: PipedProcess, params: String) -> Result<Self> {
        let shared = Arc::new(FloorState {
            next_id: AtomicU64::new(1),
            waiting: Mutex::default(),
            unsent: Mutex::default(),
            long: Arc::new(Semaphore::new(MAX_LONG_MESSAGES)),
            wake: Notify::new(),
        });
        tokio::spawn(write(Arc::clone(&shared), server.input));
        tokio::spawn(read(Arc::clone(&shared), server.output));
        shared.request("initialize", INITIALIZE).await?;
        shared.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec(), None);
        Ok(Self { shared, params: params.into(), _server: Arc::new(server.process) })
    }

    /// Returns the same client with the parameters of another call.
    pub(super) fn with_params(&self, params: String) -> Self {
        Self { params: params.into(), ..self.clone() }
    }

    /// Requests the list of tools and returns its size in bytes.
    pub(super) async fn list_tools(&self) -> Result<usize> {
        self.shared.request("tools/list", "{}").await
    }
}

impl LoadClient for FloorStdio {
    async fn call(&self) -> Result<usize> {
        self.shared.request("tools/call", &self.params).await
    }
}

impl FloorState {
    async fn request(&self, method: &str, params: &str) -> Result<usize> {
        let turn = match params.len() {
            length if length > WRITE_BYTES => Some(Arc::clone(&self.long).acquire_owned().await?),
            _ => None,
        };
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (settle, settled) = oneshot::channel();
        self.waiting.lock().insert(id, settle);
        self.send(request(id, method, params), turn);
        Ok(settled.await?.len())
    }

    fn send(&self, mut message: Vec<u8>, turn: Option<OwnedSemaphorePermit>) {
        message.push(b'\n');
        self.unsent.lock().push((message, turn));
        self.wake.notify_one();
    }
}

async fn write(shared: Arc<FloorState>, mut to: ChildStdin) -> Result<()> {
    let mut queue = Vec::new();
    let mut batch = Vec::new();
    loop {
        std::mem::swap(&mut queue, &mut *shared.unsent.lock());
        if queue.is_empty() {
            shared.wake.notified().await;
        }
        for (message, turn) in queue.drain(..) {
            if batch.len() + message.len() > WRITE_BYTES {
                to.write_all(&batch).await?;
                batch.clear();
            }
            if message.len() > WRITE_BYTES {
                to.write_all(&message).await?;
                drop(turn);
            } else {
                batch.extend_from_slice(&message);
            }
        }
        to.write_all(&batch).await?;
        batch.clear();
    }
}

async fn read(shared: Arc<FloorState>, from: ChildStdout) -> Result<()> {
    let read = each_line(from, |line| {
        let ServerLine { id: Some(id), result } = serde_json::from_slice(&line)? else {
            return Ok(());
        };
        let waiting = shared.waiting.lock().remove(&id);
        // Without a result, the sender is dropped, which fails the pending request.
        if let (Some(settle), Some(result)) = (waiting, result) {
            // Fails if the request was dropped; the answer is not needed then.
            _ = settle.send(line.slice_ref(result.get().as_bytes()));
        }
        Ok(())
    });
    let ended = read.await;
    // Dropping the senders fails all pending requests.
    shared.waiting.lock().clear();
    ended
}

#[derive(Clone)]
pub(super) struct FloorHttp {
    client: HttpClient,
    url: Url,
    params: Arc<str>,
    next_id: Arc<AtomicU64>,
}

impl FloorHttp {
    /// Starts the session with the server.
    pub(super) async fn start(url: &str, params: String) -> Result<Self> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accepted = "application/json, text/event-stream";
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
        let client =
            HttpClient::builder().default_headers(headers).tcp_nodelay(true).no_proxy().build()?;
        let url = url.parse()?;
        let next_id = Arc::default();
        let floor = Self { client, url, params: params.into(), next_id };
        floor.post("initialize", INITIALIZE).await?;
        Ok(floor)
    }

    async fn post(&self, method: &str, params: &str) -> Result<usize> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let sent = self.client.post(self.url.clone()).body(request(id, method, params)).send();
        let body = sent.await?.bytes().await?;
        let answer: ResultLine<'_> = serde_json::from_slice(&body)?;
        if answer.id != id {
            return Err("the answer is for another request".into());
        }
        Ok(answer.result.get().len())
    }
}

impl LoadClient for FloorHttp {
    async fn call(&self) -> Result<usize> {
        self.post("tools/call", &self.params).await
    }
}
