//! Answers requests of both eras: handshake, lists and calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Zoned;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::error::BuiltinRpcError;
use crate::request::{BuiltinRequest, LEGACY_REVISIONS, MODERN_REVISION, RequestEra};
use crate::roots::Roots;
use crate::{prompts, resources, tools};

pub(crate) type ZonedClock = fn() -> Zoned;

/// Maximum concurrent calls; further ones wait, so that they do not fill the thread pool.
const MAX_CONCURRENT_CALLS: usize = 8;
const HOUR_MS: u64 = 3_600_000;

#[derive(Debug)]
pub(crate) struct ToolContext {
    pub roots: Roots,
    pub clock: ZonedClock,
}

/// The built-in server. It keeps no state between requests.
#[derive(Debug)]
pub struct Builtin {
    context: Arc<ToolContext>,
    slots: Arc<Semaphore>,
}

/// A result before it is converted for the era of its request.
pub(crate) struct BuiltinReply {
    body: Map<String, Value>,
    cache: Option<(u64, &'static str)>,
}

impl BuiltinReply {
    pub(crate) fn new(body: Map<String, Value>) -> Self {
        Self { body, cache: None }
    }

    pub(crate) fn public(body: Map<String, Value>) -> Self {
        Self { body, cache: Some((HOUR_MS, "public")) }
    }

    /// Creates a reply about this machine, which only the requester may cache.
    pub(crate) fn private(body: Map<String, Value>, fresh_ms: u64) -> Self {
        Self { body, cache: Some((fresh_ms, "private")) }
    }

    pub(crate) fn into_result(mut self, era: RequestEra, identity: &Value) -> Map<String, Value> {
        // Only the modern revision defines these members.
        if era == RequestEra::Modern {
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
    /// Creates a server whose file tools see only those of these folders that exist.
    #[must_use]
    pub fn new(roots: Vec<PathBuf>, clock: ZonedClock) -> Self {
        let context = Arc::new(ToolContext { roots: Roots::new(roots), clock });
        Self { context, slots: Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS)) }
    }

    /// Returns the folders that the file tools see, with symbolic links resolved.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.context.roots.folders()
    }

    /// Answers one request with the JSON text of its result; a failed tool is a result, too.
    pub async fn answer(
        &self,
        method: &str,
        params: Option<&str>,
    ) -> Result<String, BuiltinRpcError> {
        let mut request = BuiltinRequest::parse(method, params)?;
        let era = request.era;
        let reply = match (method, era) {
            ("initialize", _) => self.initialize(&request)?,
            ("server/discover", RequestEra::Modern) => self.discover(),
            ("ping", RequestEra::Legacy) => BuiltinReply::new(Map::new()),
            ("tools/list", _) => list_reply(&request, "tools", tools::definitions())?,
            ("resources/list", _) => list_reply(&request, "resources", resources::list())?,
            ("resources/templates/list", _) => {
                list_reply(&request, "resourceTemplates", resources::templates())?
            }
            ("prompts/list", _) => list_reply(&request, "prompts", prompts::list())?,
            ("tools/call", _) => {
                let tool = tools::find(request.text("name")?)?;
                let arguments = request.arguments()?;
                self.run_blocking(move |around| Ok(tool.call(around, arguments))).await?
            }
            ("resources/read", _) => {
                let uri = request.text("uri")?.to_owned();
                self.run_blocking(move |around| resources::read(around, &uri, era)).await?
            }
            ("prompts/get", _) => {
                let prompt = request.text("name")?.to_owned();
                let arguments = request.arguments()?;
                self.run_blocking(move |around| prompts::get(around, &prompt, arguments)).await?
            }
            _ => return Err(BuiltinRpcError::unknown_method(method)),
        };
        serde_json::to_string(&reply.into_result(era, &identity())).map_err(|problem| {
            BuiltinRpcError::internal(format!("cannot serialize the result: {problem}"))
        })
    }

    async fn run_blocking<F>(&self, work: F) -> Result<BuiltinReply, BuiltinRpcError>
    where
        F: FnOnce(&ToolContext) -> Result<BuiltinReply, BuiltinRpcError> + Send + 'static,
    {
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        let slot =
            slot.map_err(|_closed| BuiltinRpcError::internal("the built-in server is closed"))?;
        let around = Arc::clone(&self.context);
        // The slot moves into the work: a caller that stops waiting does not stop it.
        let done = tokio::task::spawn_blocking(move || {
            let reply = work(&around);
            drop(slot);
            reply
        });
        done.await.map_err(|_stopped| BuiltinRpcError::internal("the call was aborted"))?
    }

    fn initialize(&self, request: &BuiltinRequest) -> Result<BuiltinReply, BuiltinRpcError> {
        let asked = request.text("protocolVersion")?;
        let [newest, ..] = LEGACY_REVISIONS;
        let revision = LEGACY_REVISIONS.into_iter().find(|known| *known == asked).unwrap_or(newest);
        let mut body = self.self_description();
        body.insert("protocolVersion".to_owned(), json!(revision));
        body.insert("serverInfo".to_owned(), identity());
        Ok(BuiltinReply::new(body))
    }

    fn discover(&self) -> BuiltinReply {
        let mut body = self.self_description();
        body.insert("supportedVersions".to_owned(), json!([MODERN_REVISION]));
        BuiltinReply::private(body, HOUR_MS)
    }

    fn self_description(&self) -> Map<String, Value> {
        let mut body =
            single_member("capabilities", json!({ "tools": {}, "resources": {}, "prompts": {} }));
        let instructions = format!(
            "Tools for the time and for reading files; {}. All tools are read-only.",
            self.context.roots.describe()
        );
        body.insert("instructions".to_owned(), json!(instructions));
        body
    }
}

pub(crate) fn single_member(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value)])
}

fn list_reply(
    request: &BuiltinRequest,
    name: &str,
    items: Value,
) -> Result<BuiltinReply, BuiltinRpcError> {
    request.refuse_cursor()?;
    // The lists are part of the binary, so they are the same for everyone.
    Ok(BuiltinReply::public(single_member(name, items)))
}

fn identity() -> Value {
    json!({
        "name": "switchboard-builtin",
        "title": "Switchboard built-in tools",
        "version": env!("CARGO_PKG_VERSION")
    })
}
