//! MCP clients: their identity, their capabilities, and the channel that reaches them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_access::{Access, LOCAL_IDENTITY, View};
use switchboard_core::{Caller, Face, Origin};
use switchboard_fleet::Subscription;
use switchboard_host::SessionScope as Past;
use switchboard_text::excerpt_text;
use switchboard_wire::{Era, Json, Peer, Request, RequestError, Revision, RpcError};
use tokio::sync::mpsc;

use crate::reply::{Recipient, internal_error, notification};
use crate::session::LegacySession;

/// How long a client may take to answer a server's question: a person may have to read it first.
const ASK_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Log levels, in increasing severity.
const LOG_LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const NO_LEVEL: u8 = u8::MAX;

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

/// An MCP client of the gateway.
pub(crate) struct McpClient {
    pub(crate) caller: Caller,
    /// Distinguishes clients; modern clients with the same identity and name share one.
    pub(crate) number: u64,
    /// The authenticated identity, as opposed to the name that the client claims.
    pub(crate) identity: Arc<str>,
    pub(crate) view: Arc<View>,
    pub(crate) revision: Revision,
    pub(crate) abilities: ClientCapabilities,
    /// Subscribed resources, by the URI that the client used.
    pub(crate) subscriptions: Mutex<BTreeMap<String, Option<Subscription>>>,
    /// The server of each call in flight; a server that has several appears several times. Log
    /// messages of these servers are sent with the calls.
    active_servers: Mutex<Vec<Arc<str>>>,
    /// Minimum level of log messages, as an index into `LOG_LEVELS`, or `NO_LEVEL`.
    level: AtomicU8,
}

/// The requests of servers that a client can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientCapabilities {
    pub(crate) form: bool,
    pub(crate) url: bool,
    pub(crate) sampling: bool,
    pub(crate) sampling_tools: bool,
    pub(crate) roots: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DeclaredCapabilities<'a> {
    #[serde(borrow)]
    elicitation: Option<&'a RawValue>,
    #[serde(borrow)]
    sampling: Option<&'a RawValue>,
    #[serde(borrow)]
    roots: Option<&'a RawValue>,
}

impl ClientCapabilities {
    /// Reads the capabilities that a client declares.
    pub(crate) fn parse(capabilities: Option<&str>) -> Self {
        let declared: DeclaredCapabilities<'_> = capabilities
            .and_then(|declared| serde_json::from_str(declared).ok())
            .unwrap_or_default();
        let has = |raw: Option<&RawValue>, name: &str| {
            raw.and_then(|raw| serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()).ok())
                .is_some_and(|members| members.contains_key(name))
        };
        // Only an object declares a capability; any other value might be a mistake.
        let given = |raw: Option<&RawValue>| raw.is_some_and(|raw| raw.get().starts_with('{'));
        let url = has(declared.elicitation, "url");
        Self {
            // An empty object means forms, the only mode before `url` was added.
            form: given(declared.elicitation) && (!url || has(declared.elicitation, "form")),
            url,
            sampling: given(declared.sampling),
            sampling_tools: has(declared.sampling, "tools"),
            roots: given(declared.roots),
        }
    }

    /// Returns whether the client can answer a request with these parameters.
    pub(crate) fn can_answer(self, method: &str, params: Option<&Json>) -> bool {
        #[derive(Deserialize)]
        struct ElicitationMode {
            mode: Option<String>,
        }
        match method {
            "elicitation/create" => {
                let mode = params.and_then(|params| params.read::<ElicitationMode>().ok()?.mode);
                if mode.as_deref() == Some("url") { self.url } else { self.form }
            }
            "sampling/createMessage" => self.sampling,
            "roots/list" => self.roots,
            _ => false,
        }
    }

    /// Adds the capabilities of the host, which answers requests that the client cannot.
    pub(crate) fn merge(self, others: Self) -> Self {
        Self {
            form: self.form || others.form,
            url: self.url || others.url,
            sampling: self.sampling || others.sampling,
            // One side answers all sampling requests, so the tools of the other do not count.
            sampling_tools: if self.sampling { self.sampling_tools } else { others.sampling_tools },
            // The folders of the host are not those that the client works in.
            roots: self.roots,
        }
    }

    pub(crate) fn as_json(self) -> String {
        let mut members = Vec::new();
        if self.form || self.url {
            let modes = [(self.form, r#""form":{}"#), (self.url, r#""url":{}"#)];
            let modes: Vec<&str> =
                modes.iter().filter(|(has, _)| *has).map(|(_, text)| *text).collect();
            members.push(format!(r#""elicitation":{{{}}}"#, modes.join(",")));
        }
        if self.sampling {
            let tools = if self.sampling_tools { r#""tools":{}"# } else { "" };
            members.push(format!(r#""sampling":{{{tools}}}"#));
        }
        if self.roots {
            members.push(r#""roots":{}"#.to_owned());
        }
        format!("{{{}}}", members.join(","))
    }
}

impl McpClient {
    pub(crate) fn new(
        access: &Access,
        name: Option<String>,
        revision: Revision,
        abilities: ClientCapabilities,
    ) -> Self {
        // The name that a client claims is added to its authenticated name and never replaces it.
        let said = name.map(|name| excerpt_text(&name, 80));
        let name = match (&*access.identity, said) {
            (LOCAL_IDENTITY, Some(said)) => said,
            (_, Some(said)) => format!("{} ({said})", access.name),
            (_, None) => access.name.to_string(),
        };
        let number = match revision.era() {
            Era::Legacy => NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
            // Modern clients have no session; only identity and name distinguish them.
            Era::Modern => {
                let mut hasher = DefaultHasher::new();
                (&access.identity, &name).hash(&mut hasher);
                // The top bit separates hashes from the numbers of legacy clients.
                hasher.finish() | (1 << 63)
            }
        };
        Self {
            caller: Caller { face: Face::Gateway, origin: Origin::Client, name, reference: None },
            number,
            identity: Arc::clone(&access.identity),
            view: Arc::clone(&access.view),
            revision,
            abilities,
            subscriptions: Mutex::default(),
            active_servers: Mutex::default(),
            level: AtomicU8::new(NO_LEVEL),
        }
    }

    /// Returns the scope of earlier calls that count for this client. An authenticated client
    /// shares none with other clients of the same name.
    pub(crate) fn session_scope(&self) -> Past {
        match &*self.identity {
            LOCAL_IDENTITY => Past::Caller,
            identity => Past::Verified(json!([identity, self.caller.name]).to_string().into()),
        }
    }

    pub(crate) fn recipient(&self) -> Recipient {
        Recipient { era: self.era(), is_proven: *self.identity != *LOCAL_IDENTITY }
    }

    pub(crate) fn era(&self) -> Era {
        self.revision.era()
    }

    /// Sets the minimum log level. Returns `false` if the level is unknown.
    pub(crate) fn set_level(&self, level: &str) -> bool {
        let Some(place) = LOG_LEVELS.iter().position(|known| *known == level) else { return false };
        self.level.store(u8::try_from(place).unwrap_or(NO_LEVEL), Ordering::Relaxed);
        true
    }

    pub(crate) fn has_call_at(&self, server: &str) -> bool {
        self.active_servers.lock().iter().any(|one| **one == *server)
    }

    /// Counts a call at a server until the returned guard is dropped.
    pub(crate) fn track_call(self: &Arc<Self>, server: &str) -> ActiveCall {
        let server = Arc::<str>::from(server);
        self.active_servers.lock().push(Arc::clone(&server));
        ActiveCall { client: Arc::clone(self), server }
    }

    /// Returns the minimum log level, if the client has set one.
    pub(crate) fn level(&self) -> Option<String> {
        let place = usize::from(self.level.load(Ordering::Relaxed));
        LOG_LEVELS.get(place).map(|level| (*level).to_owned())
    }

    pub(crate) fn wants_logs(&self) -> bool {
        self.level.load(Ordering::Relaxed) != NO_LEVEL
    }

    /// Returns whether the client has requested log messages of that level.
    pub(crate) fn wants_log_level(&self, level: &str) -> bool {
        let least = self.level.load(Ordering::Relaxed);
        // Servers invent levels; an unknown one counts as `info`.
        let place = LOG_LEVELS.iter().position(|known| *known == level).unwrap_or(1);
        least != NO_LEVEL && place >= usize::from(least)
    }
}

pub(crate) struct ActiveCall {
    client: Arc<McpClient>,
    server: Arc<str>,
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        let mut busy = self.client.active_servers.lock();
        if let Some(place) = busy.iter().position(|one| *one == self.server) {
            busy.swap_remove(place);
        }
    }
}

pub(crate) fn is_log_level(level: &str) -> bool {
    LOG_LEVELS.contains(&level)
}

/// Returns whether `level` is at least as severe as `least`.
pub(crate) fn is_at_least(level: &str, least: &str) -> bool {
    let place = |level: &str| LOG_LEVELS.iter().position(|known| *known == level);
    place(level).unwrap_or(1) >= place(least).unwrap_or(0)
}

/// The channel for messages that belong to one request of a client.
#[derive(Clone)]
pub(crate) enum ReplyChannel {
    Pipe(Peer),
    /// Drops all messages, for a request that accepts only its answer.
    Discard,
    /// The response to the request.
    Stream {
        messages: mpsc::Sender<String>,
        session: Option<Arc<LegacySession>>,
    },
}

impl ReplyChannel {
    pub(crate) async fn notify(&self, method: &str, params: &str) {
        match self {
            // A failed send means that the client has disconnected.
            Self::Pipe(peer) => _ = peer.notify(method, params).await,
            Self::Discard => {}
            Self::Stream { messages, .. } => _ = messages.send(notification(method, params)).await,
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Self::Pipe(peer) => peer.is_closed(),
            Self::Discard => true,
            Self::Stream { messages, .. } => messages.is_closed(),
        }
    }

    /// Sends a request to a legacy client and waits for the answer, or until `needless` completes,
    /// which cancels the request.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: &str,
        needless: impl Future<Output = ()>,
    ) -> Result<Json, RpcError> {
        match self {
            Self::Pipe(peer) => {
                // Dropping the request future sends the cancellation.
                let answer = tokio::select! {
                    answer = peer.request(Request::new(method, params, ASK_TIMEOUT)) => answer,
                    () = needless => return Err(answered_elsewhere_error()),
                };
                answer.map_err(|error| match error {
                    RequestError::Rpc(error) => error,
                    error => internal_error(error.to_string()),
                })
            }
            Self::Stream { messages, session: Some(session) } => {
                let asking = session.ask(messages, method, params, needless);
                let timed_out = |_| Err(internal_error("the client did not answer in time"));
                tokio::time::timeout(ASK_TIMEOUT, asking).await.unwrap_or_else(timed_out)
            }
            Self::Discard | Self::Stream { session: None, .. } => {
                Err(internal_error("a client of the modern era cannot be sent requests"))
            }
        }
    }
}

pub(crate) fn answered_elsewhere_error() -> RpcError {
    internal_error("the answer is no longer needed")
}
