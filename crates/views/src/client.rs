//! The client of the `switchboard serve` that runs for the same home.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use switchboard_config::Places;
use switchboard_core::ServerId;
use switchboard_files::{FileAccess, create_private_folder, replace};
use switchboard_fleet::Completion;
use switchboard_text::encode_component;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::call_request::{QuestionAnswered, ToComplete, WantedCall};
use crate::call_stream::{CallStream, StreamLost};
use crate::catalog::{CatalogItem, CatalogQuery, CatalogTool, ItemList};
use crate::pins::HeldServerShown;
use crate::server::ServerShown;
use crate::servers::ServerRow;

/// How long a query may take. A command then works without the instance.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a response; catalogs with every definition are the longest.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// A running instance, described in a file that other programs of the same user read.
///
/// Methods return `None` if the instance does not respond, or responds with an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningInstance {
    address: String,
    /// The API key. Only users who can read the file can use the API.
    key: String,
    /// The configuration files of the instance. Programs with other files do not use it.
    files: Vec<PathBuf>,
    /// Whether the instance runs only some of the servers in these files.
    is_partial: bool,
}

/// The file that describes an instance. Dropping this value removes it.
pub struct InstanceFile {
    file: PathBuf,
    text: String,
}

impl RunningInstance {
    /// Describes the instance at this address. It is partial if `only` names any servers.
    pub fn new(address: SocketAddr, key: &str, places: &Places, only: &[ServerId]) -> Self {
        let address = address.to_string();
        let key = key.to_owned();
        Self { address, key, files: config_files(places), is_partial: !only.is_empty() }
    }

    /// Writes the file, readable only by this user. Returns `None` if that fails.
    pub fn write(&self, places: &Places) -> Option<InstanceFile> {
        let file = instance_file(places);
        let text = serde_json::to_string(self).ok()?;
        create_private_folder(file.parent()?).ok()?;
        replace(&file, text.as_bytes(), FileAccess::Owner).ok()?;
        Some(InstanceFile { file, text })
    }

    /// Returns the instance that runs with these configuration files. It may have ended since.
    pub fn read(places: &Places) -> Option<Self> {
        let text = std::fs::read_to_string(instance_file(places)).ok()?;
        let instance: Self = serde_json::from_str(&text).ok()?;
        // An instance with other or fewer servers would report ours as missing.
        (!instance.is_partial && instance.files == config_files(places)).then_some(instance)
    }

    /// Returns all servers. A response proves that the instance is alive and wrote the file.
    pub async fn servers(&self) -> Option<Vec<ServerRow>> {
        self.get("servers").await
    }

    /// Returns the details of a server.
    pub async fn server(&self, name: &str) -> Option<ServerShown> {
        self.get(&format!("servers/{}", encode_component(name))).await
    }

    /// Restarts a server and its processes.
    pub async fn restart(&self, name: &str) -> Option<()> {
        let path = format!("servers/{}/restart", encode_component(name));
        timeout(ANSWER_TIMEOUT, self.post::<Value>(&path, &json!({}))).await.ok()?.map(drop)
    }

    /// Returns the quarantined definitions.
    pub async fn held(&self) -> Option<Vec<HeldServerShown>> {
        self.get("pins").await
    }

    /// Returns the tools that match the query, with their definitions.
    pub async fn tools(&self, query: &CatalogQuery) -> Option<Vec<CatalogTool>> {
        let limit = query.limit.map(|limit| limit.to_string());
        let all = query.all.map(|all| all.to_string());
        let texts = [("server", &query.server), ("q", &query.q), ("limit", &limit), ("all", &all)];
        let given = texts.into_iter().filter_map(|(name, value)| {
            value.as_deref().map(|value| format!("{name}={}", encode_component(value)))
        });
        self.get(&format!("catalog/tools?{}", given.collect::<Vec<_>>().join("&"))).await
    }

    /// Returns one tool with its definition.
    pub async fn tool(&self, server: &str, name: &str) -> Option<CatalogTool> {
        let server = encode_component(server);
        self.get(&format!("catalog/tools/{server}/{}", encode_component(name))).await
    }

    /// Returns the resources and templates, or the prompts, of one server or of all.
    pub async fn items(&self, list: ItemList, server: Option<&str>) -> Option<Vec<CatalogItem>> {
        let list = match list {
            ItemList::Resources => "resources",
            ItemList::Prompts => "prompts",
        };
        let server = server.map(|name| format!("server={}", encode_component(name)));
        self.get(&format!("catalog/{list}?{}", server.unwrap_or_default())).await
    }

    /// Completes the value of an argument. Has no timeout of its own: the server may be slow.
    pub async fn complete(&self, begun: &ToComplete) -> Option<Completion> {
        self.post("complete", begun).await
    }

    /// Starts a call. Returns `None` if the instance did not accept it, so that nothing ran, and an
    /// error if the instance does not respond: the call may have run.
    pub async fn begin_call(
        &self,
        wanted: &WantedCall,
        limit_bytes: usize,
    ) -> Result<Option<CallStream>, StreamLost> {
        // No timeout: a call may run for hours, and its stream has heartbeats.
        let Ok(body) = serde_json::to_string(wanted) else { return Ok(None) };
        let Ok(mut stream) = TcpStream::connect(&self.address).await else { return Ok(None) };
        // A response in HTTP/1.0 is not chunked: it ends when the connection closes.
        let request = self.request("POST", "calls", "1.0", &body);
        if stream.write_all(request.as_bytes()).await.is_err() {
            // A request without its last byte is never executed.
            return Ok(None);
        }
        CallStream::open(BufReader::new(stream), limit_bytes).await
    }

    /// Answers a question of a call. If another face was faster, the stream of the call reports it.
    pub async fn answer(&self, call: &str, answer: &QuestionAnswered) {
        // If the instance cannot be reached, the stream of the call ends as well.
        _ = self.post::<Value>(&format!("calls/{}/answer", encode_component(call)), answer).await;
    }

    /// Cancels a call in flight.
    pub async fn give_up(&self, call: &str) {
        // If the instance cannot be reached, the stream of the call ends as well.
        let path = format!("calls/{}/give-up", encode_component(call));
        _ = self.post::<Value>(&path, &json!({})).await;
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        let request = self.request("GET", path, "1.1", "");
        timeout(ANSWER_TIMEOUT, self.exchange(&request)).await.ok()?
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Option<T> {
        let body = serde_json::to_string(body).ok()?;
        self.exchange(&self.request("POST", path, "1.1", &body)).await
    }

    async fn exchange<T: DeserializeOwned>(&self, request: &str) -> Option<T> {
        let mut stream = TcpStream::connect(&self.address).await.ok()?;
        stream.write_all(request.as_bytes()).await.ok()?;
        // `Connection: close` makes the end of the stream the end of the body.
        let mut answer = Vec::new();
        stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).await.ok()?;
        let answer = String::from_utf8(answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        head.starts_with("HTTP/1.1 200 ").then(|| serde_json::from_str(body).ok())?
    }

    fn request(&self, method: &str, path: &str, version: &str, body: &str) -> String {
        // Actions also require the CSRF token, which for a program is the API key itself.
        let Self { address, key, .. } = self;
        format!(
            "{method} /api/v1/{path} HTTP/{version}\r\nHost: {address}\r\n\
             Authorization: Bearer {key}\r\nX-Switchboard-Token: {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\
             Accept: application/json\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}

impl Drop for InstanceFile {
    fn drop(&mut self) {
        // Another instance may have replaced it with its own.
        let is_ours = std::fs::read_to_string(&self.file).is_ok_and(|text| text == self.text);
        if is_ours {
            // A stale file is harmless: its readers find no instance at the address.
            _ = std::fs::remove_file(&self.file);
        }
    }
}

fn instance_file(places: &Places) -> PathBuf {
    places.state.join("running").join("serve.json")
}

fn config_files(places: &Places) -> Vec<PathBuf> {
    // Files named on the command line replace the files of the user and the project.
    let usual = places.user.iter().chain(&places.project).cloned();
    if places.explicit.is_empty() { usual.collect() } else { places.explicit.clone() }
}
