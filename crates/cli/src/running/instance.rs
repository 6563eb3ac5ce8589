//! The `switchboard serve` that runs for this home: where it is, and what it says over its API.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use switchboard_config::Places;
use switchboard_console::WantedCall;
use switchboard_core::ServerId;
use switchboard_files::{Access, create_private_folder, replace};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::context::CommandContext;
use crate::running::stream::{CallStream, StreamLost};

/// Whoever wants to be left alone by a running instance sets this.
const IGNORE_VARIABLE: &str = "SWITCHBOARD_NO_RUNNING";
/// As long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest answer that is read.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// Where an instance is, as it wrote it down for others of the same user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunningInstance {
    /// `127.0.0.1:8808`.
    address: String,
    /// What opens its API to whoever can read this file.
    key: String,
    /// Which files it reads: with others it has other servers.
    files: Vec<PathBuf>,
    /// Whether it has only some of the servers in these files.
    is_partial: bool,
}

/// The file of an instance; it is removed with this value.
pub(crate) struct InstanceFile {
    file: PathBuf,
    text: String,
}

impl RunningInstance {
    /// The instance at this address, with only the servers that are named, if any are.
    pub(crate) fn new(address: SocketAddr, key: &str, places: &Places, only: &[ServerId]) -> Self {
        let address = address.to_string();
        let key = key.to_owned();
        Self { address, key, files: files(places), is_partial: !only.is_empty() }
    }

    /// Writes it down, readable for this user alone. Whatever cannot be written is not found.
    pub(crate) fn write(&self, places: &Places) -> Option<InstanceFile> {
        let file = file(places);
        let text = serde_json::to_string(self).ok()?;
        create_private_folder(file.parent()?).ok()?;
        replace(&file, text.as_bytes(), Access::Owner).ok()?;
        Some(InstanceFile { file, text })
    }

    /// The instance that runs with the same files as this command, if one answers.
    pub(crate) async fn find(context: &CommandContext) -> Option<(Self, Vec<Value>)> {
        let shared = &context.shared;
        let own_wishes =
            shared.no_running || shared.no_record || shared.locked || !shared.root.is_empty();
        if own_wishes || context.environment.variable(IGNORE_VARIABLE).is_some() {
            return None;
        }
        let text = std::fs::read_to_string(file(&context.places)).ok()?;
        let instance: Self = serde_json::from_str(&text).ok()?;
        if instance.is_partial || instance.files != files(&context.places) {
            return None;
        }
        // An answer to the key is the proof that it is alive and the one that wrote the file.
        let Value::Array(servers) = instance.get("/api/v1/servers").await? else { return None };
        Some((instance, servers))
    }

    /// What its API says; nothing if it does not answer well.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        let text = timeout(ANSWER_TIMEOUT, self.exchange("GET", path, "")).await.ok()??;
        serde_json::from_str(&text).ok()
    }

    /// Has it do something that needs no words; nothing if it does not answer well.
    pub(crate) async fn post(&self, path: &str) -> Option<Value> {
        timeout(ANSWER_TIMEOUT, self.post_json(path, &json!({}))).await.ok()?
    }

    /// Tells it something, and waits for as long as that takes; nothing if it does not answer well.
    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> Option<Value> {
        let text = self.exchange("POST", path, &body.to_string()).await?;
        serde_json::from_str(&text).ok()
    }

    /// Has it make a call and tell all that happens; nothing if it did not take it, and so has
    /// done nothing.
    ///
    /// # Errors
    /// When it took the call and does not answer.
    pub(crate) async fn begin_call(
        &self,
        wanted: &WantedCall,
        limit_bytes: usize,
    ) -> Result<Option<CallStream>, StreamLost> {
        let Ok(body) = serde_json::to_string(wanted) else { return Ok(None) };
        let Ok(mut stream) = TcpStream::connect(&self.address).await else { return Ok(None) };
        // Of an answer in HTTP/1.0 nothing but the end has to be found.
        let request = self.request("POST", "/api/v1/calls HTTP/1.0", &body);
        if stream.write_all(request.as_bytes()).await.is_err() {
            // Without its last byte nobody takes a request for one.
            return Ok(None);
        }
        CallStream::begin(stream, limit_bytes).await
    }

    fn request(&self, method: &str, target: &str, body: &str) -> String {
        let Self { address, key, .. } = self;
        format!(
            "{method} {target}\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
             X-Switchboard-Token: {key}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nAccept: application/json\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }

    async fn exchange(&self, method: &str, path: &str, body: &str) -> Option<String> {
        let mut stream = TcpStream::connect(&self.address).await.ok()?;
        let request = self.request(method, &format!("{path} HTTP/1.1"), body);
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).await.ok()?;
        let answer = String::from_utf8(answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let is_well = head.starts_with("HTTP/1.1 200 ");
        is_well.then(|| body.to_owned())
    }
}

impl Drop for InstanceFile {
    fn drop(&mut self) {
        // Another instance may have written its own in place of it.
        let is_ours = std::fs::read_to_string(&self.file).is_ok_and(|text| text == self.text);
        if is_ours {
            // A stale file is harmless: its readers find no instance at the address.
            _ = std::fs::remove_file(&self.file);
        }
    }
}

fn file(places: &Places) -> PathBuf {
    places.state.join("running").join("serve.json")
}

/// The files that say which servers there are.
fn files(places: &Places) -> Vec<PathBuf> {
    let usual = places.user.iter().chain(&places.project).cloned();
    if places.explicit.is_empty() { usual.collect() } else { places.explicit.clone() }
}
