//! Answers requests of servers: elicitations and sampling with a person, roots from the settings.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use switchboard_config::{Config, SamplingReview, SamplingSettings};
use switchboard_core::{Published, Sampler};
use switchboard_files::path_to_uri;
use switchboard_fleet::{AnswerFuture, Answers, ServerRequest};
use switchboard_store::AskReply;
use switchboard_text::excerpt_text;
use switchboard_wire::{Json, RpcError};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::review::ask::{Ask, AskKind, Asker, BadAsk};
use crate::review::first_answer::ask_person;
use crate::review::form::Form;
use crate::review::review_queue::ReviewQueue;
use crate::review::sampling::{SamplingService, rejection};
use crate::review::secrets::{find_secret_in_field, find_secret_in_message};
use crate::review::url_ask::UrlAsk;

/// How long a person may take to answer, and how long another question waits for its turn.
const DEFAULT_ANSWER_LIMIT: Duration = Duration::from_secs(5 * 60);
/// Maximum number of characters shown of a message.
const MAX_MESSAGE_CHARS: usize = 4_000;
/// Maximum number of remembered URL visits.
const MAX_VISITED: usize = 64;

/// Answers requests of servers with the help of the person at a face.
pub struct FaceAnswers {
    asker: Arc<dyn Asker>,
    roots: Vec<PathBuf>,
    limit: Duration,
    queue: Option<ReviewQueue>,
    /// Serializes questions: a person reads one at a time.
    ask_lock: Semaphore,
    samplings: Option<SamplingService>,
    config: OnceLock<Published<Config>>,
    /// Whether the `roots` capability was declared to any server.
    declared_roots: AtomicBool,
    visited: Mutex<VecDeque<VisitedUrl>>,
}

/// A URL that a person agreed to visit.
struct VisitedUrl {
    server: String,
    id: String,
    /// Notified when the elicitation completes.
    asker: Arc<dyn Asker>,
}

impl FaceAnswers {
    /// Creates answers that ask through `asker` and report these roots.
    #[must_use]
    pub fn new(asker: Arc<dyn Asker>, roots: Vec<PathBuf>) -> Self {
        Self {
            asker,
            roots,
            limit: DEFAULT_ANSWER_LIMIT,
            queue: None,
            ask_lock: Semaphore::new(1),
            samplings: None,
            config: OnceLock::new(),
            declared_roots: AtomicBool::new(false),
            visited: Mutex::default(),
        }
    }

    /// Adds a sampler, for the servers that may use it.
    #[must_use]
    pub fn with_sampler(mut self, sampler: Arc<dyn Sampler>) -> Self {
        self.samplings = Some(SamplingService::new(sampler));
        self
    }

    /// Sets how long a person may take to answer.
    #[must_use]
    pub const fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Adds a queue from which other faces and processes can answer, and adopts its limit.
    #[must_use]
    pub fn with_queue(mut self, waiting: ReviewQueue) -> Self {
        self.limit = waiting.limit();
        self.queue = Some(waiting);
        self
    }

    async fn elicit(&self, asking: ServerRequest<'_>) -> Result<String, RpcError> {
        let asker = self.asker_for_call(asking.call);
        match parse_ask(asking) {
            Ok(mut ask) => {
                let reply = match &self.queue {
                    Some(waiting) => self.ask_face_and_queue(waiting, &mut ask, asking.call).await,
                    None => self.ask_face(&ask).await,
                };
                self.remember_visit(&ask, &reply, asking.params, &asker);
                Ok(reply_result(asker.as_ref(), &ask, reply).to_string())
            }
            Err(BadAsk::Malformed(why)) => {
                asker.notify_refused(asking.server, &why);
                Err(RpcError::new(RpcError::INVALID_PARAMS, why))
            }
            // A well-formed question gets a well-formed refusal, which servers can handle.
            Err(BadAsk::Unsafe(why)) => {
                asker.notify_refused(asking.server, &why);
                Ok(json!({"action": "decline"}).to_string())
            }
        }
    }

    fn remember_visit(
        &self,
        ask: &Ask,
        reply: &AskReply,
        params: Option<&Json>,
        asker: &Arc<dyn Asker>,
    ) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ElicitationId {
            elicitation_id: Option<String>,
        }
        if let (AskKind::Url(_), AskReply::Accept(_)) = (&ask.kind, reply)
            && let Some(Ok(ElicitationId { elicitation_id: Some(id) })) = params.map(Json::read)
        {
            let mut visited = self.visited.lock();
            if visited.len() >= MAX_VISITED {
                visited.pop_front();
            }
            let server = ask.server.clone();
            let asker = Arc::clone(asker);
            visited.push_back(VisitedUrl { server, id, asker });
        }
    }

    /// Returns the sampling service and settings of a server, if it may use sampling.
    fn sampling(&self, server: &str) -> Option<(&SamplingService, SamplingSettings)> {
        let samplings = self.samplings.as_ref()?;
        let config = self.config.get()?.load();
        let settings = config.servers.get(server)?.sampling.clone()?;
        Some((samplings, settings))
    }

    async fn sample(&self, asking: ServerRequest<'_>) -> Result<String, RpcError> {
        let Some((samplings, settings)) = self.sampling(asking.server) else {
            return Err(unsupported_method(asking.method));
        };
        let mut prepared = samplings.prepare(asking, &settings).map_err(|bad| {
            self.asker_for_call(asking.call).notify_refused(asking.server, &bad.to_string());
            match bad {
                BadAsk::Malformed(why) => RpcError::new(RpcError::INVALID_PARAMS, why),
                BadAsk::Unsafe(why) => rejection(&why),
            }
        })?;
        if settings.review == SamplingReview::Person {
            let reply = match &self.queue {
                Some(waiting) => {
                    self.ask_face_and_queue(waiting, &mut prepared.ask, asking.call).await
                }
                None => self.ask_face(&prepared.ask).await,
            };
            let why = match reply {
                AskReply::Accept(_) => None,
                AskReply::Decline => Some("declined"),
                AskReply::Cancel => Some("not answered in time"),
            };
            if let Some(why) = why {
                // A rejected request costs no tokens, but still counts as a request.
                samplings.release(&prepared);
                return Err(rejection(why));
            }
        }
        samplings.run(&prepared).await
    }

    fn asker_for_call(&self, call: Option<u64>) -> Arc<dyn Asker> {
        let registered =
            self.queue.as_ref().zip(call).and_then(|(waiting, call)| waiting.asker(call));
        registered.unwrap_or_else(|| Arc::clone(&self.asker))
    }

    async fn ask_face(&self, ask: &Ask) -> AskReply {
        let Ok(Ok(_turn)) = timeout(self.limit, self.ask_lock.acquire()).await else {
            return AskReply::Cancel;
        };
        timeout(self.limit, self.asker.ask(ask)).await.unwrap_or(AskReply::Cancel)
    }

    /// Asks the call's own asker, or else the face's, and the queue at the same time.
    async fn ask_face_and_queue(
        &self,
        waiting: &ReviewQueue,
        ask: &mut Ask,
        call: Option<u64>,
    ) -> AskReply {
        let seen = call.map(|call| waiting.call_details(call)).unwrap_or_default();
        let owned = |text: Option<Arc<str>>| text.as_deref().map(str::to_owned);
        ask.tool = ask.tool.take().or(owned(seen.target));
        ask.reference = owned(seen.reference);
        let caller = owned(seen.caller);
        let ask = &*ask;
        // The call's own asker does not share the face's screen, so it needs no turn.
        if let Some(asker) = call.and_then(|call| waiting.asker(call)) {
            return ask_person(waiting, asker.as_ref(), ask, caller, asker.ask(ask)).await;
        }
        let in_turn = async {
            let Ok(_turn) = self.ask_lock.acquire().await else { return AskReply::Cancel };
            self.asker.ask(ask).await
        };
        ask_person(waiting, self.asker.as_ref(), ask, caller, in_turn).await
    }

    fn person_capabilities(&self, server: &str) -> Map<String, Value> {
        let mut capabilities = Map::new();
        capabilities.insert("elicitation".to_owned(), json!({"form": {}, "url": {}}));
        let sampling = self.sampling(server);
        if let Some(capability) =
            sampling.and_then(|(samplings, settings)| samplings.capability(&settings))
        {
            capabilities.insert("sampling".to_owned(), capability);
        }
        capabilities
    }

    fn roots(&self) -> Vec<PathBuf> {
        match (self.roots.as_slice(), self.config.get()) {
            ([], Some(config)) => config.load().settings.roots.clone(),
            (given, _) => given.to_vec(),
        }
    }

    fn roots_result(&self) -> String {
        let root = |folder: &PathBuf| {
            let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
            json!({"uri": path_to_uri(folder), "name": name})
        };
        json!({"roots": self.roots().iter().map(root).collect::<Vec<_>>()}).to_string()
    }
}

impl Answers for FaceAnswers {
    fn set_config(&self, config: &Published<Config>) {
        self.config.get_or_init(|| config.clone());
    }

    fn capabilities(&self, server: &str) -> String {
        let mut capabilities = self.person_capabilities(server);
        // Some servers drop their configured folders when a client declares roots but has none.
        if !self.roots().is_empty() {
            self.declared_roots.store(true, Ordering::Relaxed);
            capabilities.insert("roots".to_owned(), json!({"listChanged": true}));
        }
        Value::Object(capabilities).to_string()
    }

    fn fallback_capabilities(&self, server: &str) -> Option<String> {
        let is_there = self.queue.is_some() && self.asker.is_available();
        is_there.then(|| Value::Object(self.person_capabilities(server)).to_string())
    }

    fn on_elicitation_complete(&self, server: &str, elicitation: &str) {
        let mut visited = self.visited.lock();
        let place = visited.iter().position(|one| one.server == server && one.id == elicitation);
        // Unknown and already completed elicitations are ignored.
        if let Some(one) = place.and_then(|place| visited.remove(place)) {
            // The asker is foreign code, which must not run under the lock.
            drop(visited);
            one.asker.notify_completed(server);
        }
    }

    fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> AnswerFuture<'a> {
        Box::pin(async move {
            match asking.method {
                "elicitation/create" => self.elicit(asking).await,
                "sampling/createMessage" => self.sample(asking).await,
                "roots/list" if self.declared_roots.load(Ordering::Relaxed) => {
                    Ok(self.roots_result())
                }
                "ping" => Ok("{}".to_owned()),
                // Undeclared methods are not supported.
                method => Err(unsupported_method(method)),
            }
        })
    }
}

/// Returns the reply in the form of the protocol; content that does not fit the form is not sent.
fn reply_result(asker: &dyn Asker, ask: &Ask, reply: AskReply) -> Value {
    let content = match (reply, &ask.kind) {
        (AskReply::Decline, _) => return json!({"action": "decline"}),
        (AskReply::Cancel, _) => return json!({"action": "cancel"}),
        (AskReply::Accept(_), AskKind::Url(_) | AskKind::Sampling(_)) => {
            return json!({"action": "accept"});
        }
        (AskReply::Accept(content), AskKind::Form(form)) => {
            let content: Map<String, Value> = content.unwrap_or_default();
            form.check(&content).map(|()| content)
        }
    };
    match content {
        Ok(content) => json!({"action": "accept", "content": content}),
        Err(problems) => {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            let why = format!("the submitted values do not fit the form: {first}");
            asker.notify_refused(&ask.server, &why);
            json!({"action": "cancel"})
        }
    }
}

fn unsupported_method(method: &str) -> RpcError {
    let method = excerpt_text(method, 80);
    let why = format!("this client does not answer `{method}`");
    RpcError::new(RpcError::METHOD_NOT_FOUND, why)
}

impl std::fmt::Debug for FaceAnswers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaceAnswers").field("roots", &self.roots).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationParams<'a> {
    mode: Option<String>,
    message: Option<String>,
    #[serde(borrow)]
    requested_schema: Option<&'a RawValue>,
    url: Option<String>,
}

/// Parses an elicitation, and rejects one that must not be presented.
fn parse_ask(asking: ServerRequest<'_>) -> Result<Ask, BadAsk> {
    let params = asking.params.map(Json::read::<ElicitationParams<'_>>);
    let params =
        params.ok_or_else(|| BadAsk::new_malformed("the elicitation has no parameters"))?;
    let params = params.map_err(|error| {
        BadAsk::new_malformed(format!("the elicitation cannot be read: {error}"))
    })?;
    let message = params.message.unwrap_or_default();
    let kind = match params.mode.as_deref() {
        None | Some("form") => {
            let schema = params.requested_schema;
            let schema =
                schema.ok_or_else(|| BadAsk::new_malformed("the elicitation has no form"))?;
            AskKind::Form(parse_safe_form(schema, &message)?)
        }
        Some("url") => {
            let url =
                params.url.ok_or_else(|| BadAsk::new_malformed("the elicitation has no `url`"))?;
            AskKind::Url(UrlAsk::parse(&url)?)
        }
        Some(mode) => {
            let why = format!("unknown elicitation mode `{}`", excerpt_text(mode, 40));
            return Err(BadAsk::new_malformed(why));
        }
    };
    Ok(Ask {
        server: asking.server.to_owned(),
        tool: asking.target.map(str::to_owned),
        call: asking.call.map(|call| call.to_string()),
        reference: None,
        message: message.chars().take(MAX_MESSAGE_CHARS).collect(),
        kind,
    })
}

fn parse_safe_form(schema: &RawValue, message: &str) -> Result<Form, BadAsk> {
    let form = Form::parse(schema)?;
    // MCP forbids servers to request secrets in forms.
    let secret = form
        .fields
        .iter()
        .find_map(find_secret_in_field)
        .or_else(|| find_secret_in_message(message));
    match secret {
        Some(secret) => {
            let secret = excerpt_text(&secret, 40);
            let why = format!("it asks for a secret (`{secret}`) in a form, which is not allowed");
            Err(BadAsk::new_unsafe(why))
        }
        None => Ok(form),
    }
}

#[cfg(test)]
#[path = "face_answers_tests.rs"]
mod tests;
