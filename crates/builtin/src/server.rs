//! Answers requests of either era: who we are, what we offer, and one call at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Zoned;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::error::RpcError;
use crate::request::{Era, LEGACY, MODERN, Request};
use crate::roots::Roots;
use crate::{prompts, resources, tools};

/// Where the time comes from; its zone is the default zone.
pub(crate) type Clock = fn() -> Zoned;

/// More calls than this at once wait for each other instead of filling the thread pool.
const CALLS_AT_ONCE: usize = 8;
const HOUR_MS: u64 = 3_600_000;

/// What the tools work with.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub roots: Roots,
    pub clock: Clock,
}

/// The built-in server; it keeps no state between requests.
#[derive(Debug)]
pub struct Builtin {
    surroundings: Arc<Surroundings>,
    slots: Arc<Semaphore>,
}

/// A result before it is dressed for the era that asked.
pub(crate) struct Reply {
    body: Map<String, Value>,
    cache: Option<(u64, &'static str)>,
}

impl Reply {
    pub(crate) fn new(body: Map<String, Value>) -> Self {
        Self { body, cache: None }
    }

    /// The same for everybody, for an hour.
    pub(crate) fn shared(body: Map<String, Value>) -> Self {
        Self { body, cache: Some((HOUR_MS, "public")) }
    }

    /// Tells of this machine, so it stays with whoever asked.
    pub(crate) fn private(body: Map<String, Value>, fresh_ms: u64) -> Self {
        Self { body, cache: Some((fresh_ms, "private")) }
    }

    /// The result as the era wants it, from the server of that identity.
    pub(crate) fn dressed(mut self, era: Era, identity: &Value) -> Map<String, Value> {
        if era == Era::Modern {
            self.body.insert("resultType".to_owned(), json!("complete"));
            self.body.insert(
                "_meta".to_owned(),
                json!({ "io.modelcontextprotocol/serverInfo": identity }),
            );
            if let Some((fresh_ms, scope)) = self.cache {
                self.body.insert("ttlMs".to_owned(), json!(fresh_ms));
                self.body.insert("cacheScope".to_owned(), json!(scope));
            }
        }
        self.body
    }
}

impl Builtin {
    /// A server whose file tools see these folders and nothing else.
    ///
    /// Folders that do not exist now are left out; [`Self::roots`] tells which are in.
    #[must_use]
    pub fn new(roots: Vec<PathBuf>, clock: Clock) -> Self {
        let surroundings = Arc::new(Surroundings { roots: Roots::new(roots), clock });
        Self { surroundings, slots: Arc::new(Semaphore::new(CALLS_AT_ONCE)) }
    }

    /// The folders the file tools see, with symbolic links resolved.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.surroundings.roots.folders()
    }

    /// Answers one request with the JSON text of its result.
    ///
    /// # Errors
    ///
    /// The JSON-RPC error to send instead of a result. A tool that ran and failed is a result.
    pub async fn answer(&self, method: &str, params: Option<&str>) -> Result<String, RpcError> {
        let mut request = Request::parse(method, params)?;
        let era = request.era;
        let reply = match (method, era) {
            ("initialize", _) => self.initialize(&request)?,
            ("server/discover", Era::Modern) => self.discover(),
            ("ping", Era::Legacy) => Reply::new(Map::new()),
            ("tools/list", _) => {
                request.refuse_cursor()?;
                Reply::shared(one("tools", tools::definitions()))
            }
            ("resources/list", _) => {
                request.refuse_cursor()?;
                Reply::shared(one("resources", resources::list()))
            }
            ("resources/templates/list", _) => {
                request.refuse_cursor()?;
                Reply::shared(one("resourceTemplates", resources::templates()))
            }
            ("prompts/list", _) => {
                request.refuse_cursor()?;
                Reply::shared(one("prompts", prompts::list()))
            }
            ("tools/call", _) => {
                let tool = tools::find(request.text("name")?)?;
                let arguments = request.arguments()?;
                self.off_thread(move |around| Ok(tool.call(around, arguments))).await?
            }
            ("resources/read", _) => {
                let uri = request.text("uri")?.to_owned();
                self.off_thread(move |around| resources::read(around, &uri, era)).await?
            }
            ("prompts/get", _) => {
                let prompt = request.text("name")?.to_owned();
                let arguments = request.arguments()?;
                self.off_thread(move |around| prompts::get(around, &prompt, arguments)).await?
            }
            _ => return Err(RpcError::unknown_method(method)),
        };
        serde_json::to_string(&reply.dressed(era, &identity()))
            .map_err(|problem| RpcError::internal(format!("the result has no JSON: {problem}")))
    }

    /// The slot travels with the work: a caller who walks away does not make room for more.
    async fn off_thread<F>(&self, work: F) -> Result<Reply, RpcError>
    where
        F: FnOnce(&Surroundings) -> Result<Reply, RpcError> + Send + 'static,
    {
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        let slot = slot.map_err(|_closed| RpcError::internal("the built-in server is closed"))?;
        let around = Arc::clone(&self.surroundings);
        let done = tokio::task::spawn_blocking(move || {
            let reply = work(&around);
            drop(slot);
            reply
        });
        done.await.map_err(|_stopped| RpcError::internal("the call was stopped half way"))?
    }

    fn initialize(&self, request: &Request) -> Result<Reply, RpcError> {
        let asked = request.text("protocolVersion")?;
        let [newest, ..] = LEGACY;
        let revision = LEGACY.into_iter().find(|known| *known == asked).unwrap_or(newest);
        let mut body = self.self_description();
        body.insert("protocolVersion".to_owned(), json!(revision));
        body.insert("serverInfo".to_owned(), identity());
        Ok(Reply::new(body))
    }

    fn discover(&self) -> Reply {
        let mut body = self.self_description();
        body.insert("supportedVersions".to_owned(), json!([MODERN]));
        Reply::private(body, HOUR_MS)
    }

    fn self_description(&self) -> Map<String, Value> {
        let mut body = one("capabilities", json!({ "tools": {}, "resources": {}, "prompts": {} }));
        let instructions = format!(
            "Tools for the time and for reading files; {}. Nothing here changes anything.",
            self.surroundings.roots.allowed()
        );
        body.insert("instructions".to_owned(), json!(instructions));
        body
    }
}

/// A map with one member.
pub(crate) fn one(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value)])
}

fn identity() -> Value {
    json!({
        "name": "switchboard-builtin",
        "title": "Switchboard built-in tools",
        "version": env!("CARGO_PKG_VERSION")
    })
}
