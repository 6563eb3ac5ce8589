//! Tool calls, resource reads and prompt fetches: starts them, follows their events, and parks them
//! while a modern client is asked for input.

use std::sync::Arc;
use std::time::Duration;

use switchboard_catalog::Lease;
use switchboard_core::{Outcome, OutcomeKind, ProposedCall, TargetKind, TaskUpdate};
use switchboard_host::CallOptions;
use switchboard_json::{Members, RawMembers};
use switchboard_wire::{Era, Json, RpcError};
use tokio::sync::{broadcast, mpsc};
use tokio_util::task::AbortOnDropHandle;

use crate::client::is_at_least;
use crate::client_request::{ClientRequest, ClientRequestParams, arguments, find_target};
use crate::gateway::Gateway;
use crate::members::push_member;
use crate::notices::ClientNotice;
use crate::parked_calls::{ParkedCall, RunningCall};
use crate::relay::{ClientRelay, KeyedAsk, RelayedAsk, ask_client, input_requests};
use crate::reply::{ClientReply, internal_error, invalid_params, reply_for_outcome};
use crate::tasks::TaskRequest;

/// Maximum number of rounds in which a server may ask the client during one call.
pub(crate) const MAX_ROUNDS: usize = 10;

/// How long to wait, after a call has ended, for log messages the server sent before its answer.
const LOG_DRAIN: Duration = Duration::from_millis(5);

/// How long to collect further questions of a server into the same round. Each round costs a person
/// more time than this delay.
const BATCH_WINDOW: Duration = Duration::from_millis(250);

/// The next event of a call in flight.
pub(crate) enum CallEvent {
    Ended(Box<switchboard_store::Record>),
    BecameTask(TaskUpdate),
    Question(RelayedAsk),
    Progress(Json),
    Log(ClientNotice),
}

impl Gateway {
    /// Runs the call that a client requests, or resumes it if the request has a `requestState`.
    pub(crate) async fn call(
        &self,
        asked: &ClientRequest,
        kind: TargetKind,
    ) -> Result<ClientReply, RpcError> {
        self.call_with(asked, kind, asked.params()?).await
    }

    /// Like [`Gateway::call`], with parsed parameters: long arguments are not parsed twice.
    pub(crate) async fn call_with(
        &self,
        asked: &ClientRequest,
        kind: TargetKind,
        params: &ClientRequestParams,
    ) -> Result<ClientReply, RpcError> {
        let token = params.meta.as_ref().and_then(|meta| meta.progress_token.as_ref());
        if let Some(word) = &params.request_state
            && asked.client.era() == Era::Modern
        {
            return match self.resume_call(asked, word, params)? {
                Ok(running) => Box::pin(self.follow_resumed(asked, running, token)).await,
                Err(again) => Ok(again),
            };
        }
        let running = match self.start_call(asked, kind, params) {
            Ok(running) => running,
            // Boxed to keep this future small: only unknown names take this path.
            Err(error) => Box::pin(self.start_late_call(asked, kind, params, error)).await?,
        };
        self.follow_call(asked, running, token).await
    }

    /// Follows a call that an earlier request started. Cancelling this request cancels the call.
    async fn follow_resumed(
        &self,
        asked: &ClientRequest,
        running: RunningCall,
        token: Option<&Json>,
    ) -> Result<ClientReply, RpcError> {
        let cancel = running.cancel.clone();
        let mut following = Box::pin(self.follow_call(asked, running, token));
        tokio::select! {
            answer = &mut following => answer,
            () = asked.cancel.cancelled() => {
                cancel.cancel();
                // The call still ends with a record of how far it got.
                following.await
            }
        }
    }

    /// Starts a call on the current catalog.
    pub(crate) fn start_call(
        &self,
        asked: &ClientRequest,
        kind: TargetKind,
        params: &ClientRequestParams,
    ) -> Result<RunningCall, RpcError> {
        let listing = self.catalog_view(&asked.client.view);
        // Quarantined items are not listed. The call is made nevertheless, so that the host rejects
        // it with the reason.
        let held = || self.find_quarantined(&asked.client.view, kind, params.name.as_deref()?);
        let target = match find_target(&listing, kind, params, asked.client.era()) {
            Ok(target) => target,
            Err(error) => held().ok_or(error)?,
        };
        TaskRequest::check(asked, &listing, &target)?;
        if let (TargetKind::Tool, Some(name)) = (kind, params.name.as_deref()) {
            self.count_tool_call(&asked.client, &listing, name);
        }
        let proposed = ProposedCall { target, arguments: arguments(params) };
        let running = self.run_call(asked, &listing.lease, proposed, params);
        Ok(RunningCall { uri_view: listing.for_result_rewriting(), ..running })
    }

    /// Runs a call for a client, with a relay for the server's questions.
    pub(crate) fn run_call(
        &self,
        asked: &ClientRequest,
        lease: &Lease,
        proposed: ProposedCall,
        params: &ClientRequestParams,
    ) -> RunningCall {
        let wants_progress = params.meta.as_ref().is_some_and(|meta| meta.progress_token.is_some());
        let (reports, progress) = wants_progress.then(|| mpsc::channel(16)).unzip();
        let (relay, asks) = ClientRelay::new(&asked.client, Arc::clone(self.host().answers()));
        let relay = Arc::new(relay);
        let least = params.meta.as_ref().and_then(|meta| meta.log_level.as_deref());
        let task_request = TaskRequest::from_request(asked);
        // A child: a task is cancelled by its own request, long after this one has been answered.
        let cancel = asked.cancel.child_token();
        let wants_task = task_request != TaskRequest::Result;
        let (tasks, task_updates) = wants_task.then(|| mpsc::channel(16)).unzip();
        let hears = least.is_some() || asked.client.wants_logs();
        let (opened, log_subscription) =
            hears.then(|| self.inner.notices.log_subscribers().add(&asked.client)).unzip();
        let attention = CallOptions {
            opened,
            cancel: cancel.clone(),
            task_mode: task_request.task_mode(),
            task_updates: tasks,
            progress: reports,
            answers: Some(Arc::clone(&relay) as _),
            reviewer: Some(relay),
            asker: None,
            session: asked.client.session_scope(),
            log_level: least.map(str::to_owned).or_else(|| asked.client.level()),
            further_meta: params.meta.as_ref().and_then(|meta| meta.others.clone()),
        };
        let host = self.host().clone();
        let lease = lease.clone();
        let client = Arc::clone(&asked.client);
        let target = proposed.target.clone();
        let call =
            Box::pin(
                async move { host.call_with(&lease, proposed, &client.caller, &attention).await },
            );
        let active_call = asked.client.track_call(&target.server);
        RunningCall {
            call,
            target,
            asks,
            progress,
            logs: hears.then(|| self.inner.notices.subscribe()),
            log_subscription,
            active_call,
            rounds: 0,
            early_answers: early_answers(params),
            task_request,
            cancel,
            task_updates,
            uri_view: None,
        }
    }

    /// Follows a call until it ends or has to be parked for its client.
    pub(crate) async fn follow_call(
        &self,
        asked: &ClientRequest,
        mut running: RunningCall,
        token: Option<&Json>,
    ) -> Result<ClientReply, RpcError> {
        let mut asks = Vec::new();
        loop {
            let happening = match asks.is_empty() {
                true => next_event(&mut running).await,
                // Further questions can then be answered in the same round.
                false => match tokio::time::timeout(BATCH_WINDOW, next_event(&mut running)).await {
                    Ok(happening) => happening,
                    Err(_) => return self.park_call(asked, running.detach(), asks),
                },
            };
            match happening {
                CallEvent::Ended(record) => {
                    self.flush_notifications(asked, &mut running, token).await;
                    return self.finish_call(asked, &running, record.outcome);
                }
                CallEvent::BecameTask(news) => match self.hand_out_task(asked, running, &news) {
                    Ok(created) => return Ok(created),
                    Err(back) => running = *back,
                },
                CallEvent::Progress(report) => forward_progress(asked, token, &report).await,
                CallEvent::Log(notice) => {
                    self.forward_log(asked, &running.target.server, notice).await;
                }
                // Otherwise a server could keep its client busy without end.
                CallEvent::Question(ask) if running.rounds >= MAX_ROUNDS => {
                    ask.reject_round(MAX_ROUNDS);
                }
                CallEvent::Question(ask) => {
                    let Some(ask) = running.take_early_answer(ask) else { continue };
                    if asks.is_empty() {
                        running.rounds += 1;
                    }
                    match asked.client.era() {
                        // Spawned, because the call may continue without this answer: another face
                        // may answer first, or the server may time out.
                        Era::Legacy => {
                            drop(tokio::spawn(ask_client(
                                asked.out.clone(),
                                asked.cancel.clone(),
                                self.inner.abort.clone(),
                                ask,
                            )));
                        }
                        Era::Modern => {
                            let key = ask.key.clone();
                            let key = key.unwrap_or_else(|| format!("ask-{}", asks.len() + 1));
                            asks.push(KeyedAsk { key, ask });
                        }
                    }
                }
            }
        }
    }

    /// Answers the client with the outcome of its call.
    fn finish_call(
        &self,
        asked: &ClientRequest,
        running: &RunningCall,
        outcome: Outcome,
    ) -> Result<ClientReply, RpcError> {
        let outcome = running.rewrite_uris(outcome);
        let did_run = !matches!(outcome.kind, OutcomeKind::NotSent | OutcomeKind::Refused);
        match running.task_request {
            // A call that did not run has no result for a task to hold.
            TaskRequest::Task { ttl_ms } if did_run => {
                self.create_ended_task(asked, running, outcome, ttl_ms)
            }
            TaskRequest::Task { .. } | TaskRequest::TaskIfAny | TaskRequest::Result => {
                reply_for_outcome(outcome, &running.target, asked.client.recipient())
            }
        }
    }

    /// Parks a call, and returns the `input_required` result with the server's questions.
    fn park_call(
        &self,
        asked: &ClientRequest,
        running: RunningCall,
        asks: Vec<KeyedAsk>,
    ) -> Result<ClientReply, RpcError> {
        let about = request_digest(asked, asked.params()?);
        let requests = input_requests(&asks);
        let word = self.inner.parked_calls.park(running, asks, &asked.client.identity, about);
        let why = "too many calls wait for input from their clients; try again later";
        let word = word.ok_or_else(|| internal_error(why))?;
        Ok(ClientReply::from(format!(
            r#"{{"resultType":"input_required","inputRequests":{requests},"requestState":"{word}"}}"#
        )))
    }

    /// Resumes a parked call, or parks it again if an answer is missing.
    fn resume_call(
        &self,
        asked: &ClientRequest,
        word: &str,
        params: &ClientRequestParams,
    ) -> Result<Result<RunningCall, ClientReply>, RpcError> {
        let about = request_digest(asked, params);
        let parked = self.inner.parked_calls.take(word, &asked.client.identity, &about);
        let why = "unknown or expired `requestState`; call again without it";
        let ParkedCall { running, asks, .. } = parked.ok_or_else(|| invalid_params(why))?;
        let given = params.input_responses.as_ref();
        let given = given.and_then(|given| RawMembers::parse(given.as_str())).unwrap_or_default();
        // All answers or none: `requestState` works once, and only for the questions of its round.
        if asks.iter().any(|one| given.first(&one.key).is_none()) {
            return self.park_call(asked, running, asks).map(Err);
        }
        for KeyedAsk { key, ask } in asks {
            if let Some(raw) = given.first(&key) {
                ask.reply(Ok(Json::from(raw)));
            }
        }
        Ok(Ok(running))
    }
}

impl Gateway {
    /// Forwards progress and log messages that arrive together with the answer or shortly after it.
    async fn flush_notifications(
        &self,
        asked: &ClientRequest,
        running: &mut RunningCall,
        token: Option<&Json>,
    ) {
        while let Some(report) = running.progress.as_mut().and_then(|from| from.try_recv().ok()) {
            forward_progress(asked, token, &report).await;
        }
        let Some(logs) = running.logs.as_mut() else { return };
        tokio::time::sleep(LOG_DRAIN).await;
        while let Ok(notice) = logs.try_recv() {
            self.forward_log(asked, &running.target.server, notice).await;
        }
    }

    /// Forwards a log message of the called server, if the client subscribed to its level.
    async fn forward_log(&self, asked: &ClientRequest, server: &str, notice: ClientNotice) {
        let ClientNotice::Log { server: from, level, params, during } = notice else { return };
        let meta = asked.params().ok().and_then(|params| params.meta.as_ref());
        let least = meta.and_then(|meta| meta.log_level.as_deref());
        let wanted = match (asked.client.era(), least) {
            (Era::Modern, Some(least)) => is_at_least(&level, least),
            (Era::Modern, None) => false,
            (Era::Legacy, _) => asked.client.wants_log_level(&level),
        };
        if wanted
            && *from == *server
            && self.inner.notices.log_subscribers().is_visible_to(&asked.client, &during)
        {
            asked.out.notify("notifications/message", &params).await;
        }
    }
}

pub(crate) async fn next_event(running: &mut RunningCall) -> CallEvent {
    let RunningCall { call, asks, progress, logs, task_updates: news, .. } = running;
    tokio::select! {
        // Events that came before the end are delivered before it. A channel that is closed or was
        // never opened yields `None`, which disables its branch.
        biased;
        Some(notice) = next_notice(logs.as_mut()) => CallEvent::Log(notice),
        Some(news) = recv_optional(news.as_mut()) => CallEvent::BecameTask(news),
        Some(report) = recv_optional(progress.as_mut()) => CallEvent::Progress(report),
        Some(ask) = recv_optional(asks.as_mut()) => CallEvent::Question(ask),
        record = call => CallEvent::Ended(Box::new(record)),
    }
}

async fn recv_optional<T>(from: Option<&mut mpsc::Receiver<T>>) -> Option<T> {
    from?.recv().await
}

async fn next_notice(from: Option<&mut broadcast::Receiver<ClientNotice>>) -> Option<ClientNotice> {
    // A lagging receiver skips messages: notifications are not guaranteed to arrive.
    from?.recv().await.ok()
}

async fn forward_progress(asked: &ClientRequest, token: Option<&Json>, report: &Json) {
    if let Some(params) = token.and_then(|token| with_token(report, token)) {
        asked.out.notify("notifications/progress", &params).await;
    }
}

/// Returns the answers that the client sent with the call itself, by the key of the question.
fn early_answers(params: &ClientRequestParams) -> Vec<(String, Json)> {
    let given = params.input_responses.as_ref().filter(|_| params.request_state.is_none());
    let members = given.and_then(|given| RawMembers::parse(given.as_str()));
    let Members(members) = members.unwrap_or_default();
    members.into_iter().map(|(name, raw)| (name.into_owned(), Json::from(raw))).collect()
}

impl RunningCall {
    /// Moves the call to its own task, so that it makes progress while parked.
    fn detach(mut self) -> Self {
        // Dropping the parked call must end it, which dropping a plain handle would not.
        let call = AbortOnDropHandle::new(tokio::spawn(self.call));
        self.call = Box::pin(async move {
            match call.await {
                Ok(record) => record,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The task was aborted because the runtime is shutting down.
                    Err(_) => std::future::pending().await,
                },
            }
        });
        self
    }

    /// Replies to a question that the client has already answered; otherwise returns the question.
    fn take_early_answer(&mut self, ask: RelayedAsk) -> Option<RelayedAsk> {
        let place = self.early_answers.iter().position(|(key, _)| Some(key) == ask.key.as_ref());
        let Some(place) = place else { return Some(ask) };
        let (_, answer) = self.early_answers.swap_remove(place);
        ask.reply(Ok(answer));
        None
    }
}

/// Returns a digest of method, name and arguments, which a request that resumes a call must match.
fn request_digest(asked: &ClientRequest, params: &ClientRequestParams) -> String {
    let name = params.name.as_deref().or(params.uri.as_deref()).unwrap_or_default();
    let arguments = params.arguments.as_ref().map_or(b"".as_slice(), |given| given.bytes());
    switchboard_text::hex_digest([asked.method.as_bytes(), name.as_bytes(), arguments])
}

/// Rewrites a progress report to carry the client's own token.
fn with_token(report: &Json, token: &Json) -> Option<String> {
    // The host chose the token that the server reports on; the client knows only its own.
    let Members(members) = RawMembers::parse(report.as_str())?;
    let mut out = format!(r#"{{"progressToken":{}"#, token.as_str());
    for (name, value) in members.iter().filter(|(name, _)| name != "progressToken") {
        push_member(&mut out, name, value.get());
    }
    out.push('}');
    Some(out)
}
