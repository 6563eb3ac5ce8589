//! Messages sent by servers: requests, change notifications, log messages, late answers.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use switchboard_core::{EventKind, Events, ServerId};
use switchboard_wire::{Inbound, Json, Peer, RpcError};
use tokio::time::sleep;

use crate::answers::{AnswerFuture, ServerRequest, record_on_timeline};
use crate::call_directory::{QuestionGuard, QuestionOwner};
use crate::connection::ServerConnection;
use crate::listing::ALL_KINDS;
use crate::messages;
use crate::open_requests::{OpenRequestGuard, OpenRequests};
use crate::relist::RelistSchedule;
use crate::server_sync::effective_log_level;

/// A request of the server, with the calls in flight on its connection.
struct InboundRequest {
    id: Json,
    method: String,
    params: Option<Json>,
    under_way: Vec<u64>,
}

impl ServerConnection {
    pub(crate) fn ingest(
        &self,
        peer: &Peer,
        inbound: Inbound,
        asked: &OpenRequests,
        changed: &mut RelistSchedule,
    ) {
        match inbound {
            Inbound::Notification { method, params, during } => match method.as_str() {
                "notifications/tools/list_changed" => changed.mark([true, false, false, false]),
                // The protocol has no notification for templates alone.
                "notifications/resources/list_changed" => changed.mark([false, true, true, false]),
                "notifications/prompts/list_changed" => changed.mark([false, false, false, true]),
                "notifications/message" => self.forward_log(params.as_ref(), during),
                "notifications/resources/updated" => self.forward_resource_update(params.as_ref()),
                "notifications/subscriptions/acknowledged" => {
                    self.forward_acknowledgement(params.as_ref());
                }
                "notifications/elicitation/complete" => {
                    self.forward_elicitation_complete(params.as_ref());
                }
                "notifications/cancelled" => asked.cancel(params.as_ref()),
                "notifications/tasks/status" | "notifications/tasks" => {
                    forward_task_change(&self.context.events, &self.config.id, params.as_ref());
                }
                _ => {}
            },
            Inbound::Request { id, method, params, belongs_to } => match asked.begin(&id) {
                Ok(open) => {
                    let under_way = belongs_to.map_or_else(|| peer.tags(), |call| vec![call]);
                    let request = InboundRequest { id, method, params, under_way };
                    self.spawn_answer(peer.clone(), open, request);
                }
                Err(busy) => peer.refuse(id, busy),
            },
            // Another address or certificate may be another server with other definitions.
            Inbound::IdentityChanged => changed.mark(ALL_KINDS),
            Inbound::Late { tag, answer } => {
                if let Ok(answer) = answer {
                    // A late answer is evidence only; a full queue must not hold up the connection.
                    _ = self.context.late_answers.try_send((tag, answer));
                }
            }
        }
    }

    /// Answers a request of the server on a separate task.
    fn spawn_answer(&self, peer: Peer, open: OpenRequestGuard, request: InboundRequest) {
        let around = Arc::clone(&self.context);
        let server = self.config.id.clone();
        let owner = around.calls.question_owner(&request.under_way);
        let guard = QuestionGuard::new(&owner, &around.calls);
        self.context.tasks.spawn(async move {
            let _guard = guard;
            let InboundRequest { id, method, params, under_way } = &request;
            // Legacy requests do not name their call; with one call in flight, it must be that one.
            let only = if let [only] = under_way.as_slice() { Some(*only) } else { None };
            let call = owner.call().or(only);
            let timeline = call.and_then(|call| around.calls.timeline(call));
            let asking = ServerRequest {
                server: server.as_ref(),
                target: None,
                call,
                key: None,
                method,
                params: params.as_ref(),
            };
            let answering = match &owner {
                QuestionOwner::Host => around.answers.answer(asking),
                QuestionOwner::Caller { answers, .. } => answers.answer(asking),
                QuestionOwner::Ambiguous => refuse_ambiguous(asking),
            };
            let answering = record_on_timeline(timeline.as_ref(), asking, answering);
            let answering = hold_deadlines(&peer, answering);
            // A request that the server cancelled gets no answer.
            let Some(answer) = open.unless_cancelled(answering).await else { return };
            // The connection may have ended while the answer was prepared.
            _ = peer.reply(id, answer.as_deref().map_err(Clone::clone)).await;
        });
    }

    /// Adds progress and log messages of single calls to their timelines as they arrive, since a
    /// timeline is closed with the answer.
    pub(crate) fn observe_calls(&self, peer: &Peer) {
        let around = Arc::clone(&self.context);
        let server = self.config.id.clone();
        peer.observe_notifications(move |call, method, params| {
            let Some(timeline) = around.calls.timeline(call) else { return };
            if method == "notifications/progress" {
                return timeline.add_progress(params);
            }
            let wanted = effective_log_level(&around.config.load(), &server);
            if let Some(said) = messages::parse_message(params, wanted) {
                timeline.add_log_message(&said.level, &said.text);
            }
        });
    }

    fn forward_log(&self, params: Option<&Json>, during: Vec<u64>) {
        let server = &self.config.id;
        let wanted = effective_log_level(&self.context.config.load(), server);
        let Some(said) = self.context.messages.record(server, params, wanted) else { return };
        self.context.events.emit(|| EventKind::ServerSaid {
            server: server.to_string(),
            level: said.level,
            text: match said.logger {
                Some(logger) => format!("[{logger}] {}", said.text),
                None => said.text,
            },
            raw: params.cloned(),
            during,
        });
    }

    fn forward_resource_update(&self, params: Option<&Json>) {
        #[derive(Deserialize)]
        struct ResourceUpdatedParams {
            uri: String,
        }
        // Without subscribers, a flood of updates costs no parsing and no events.
        if !self.context.subscriptions.has_any(&self.config.id) {
            return;
        }
        let Some(Ok(ResourceUpdatedParams { uri })) = params.map(Json::read) else { return };
        let server = self.config.id.to_string();
        self.context.events.emit(|| EventKind::ResourceUpdated { server, uri });
    }

    /// Emits an event for each subscription that a modern server has acknowledged.
    fn forward_acknowledgement(&self, params: Option<&Json>) {
        #[derive(Deserialize)]
        struct AcknowledgedParams {
            notifications: AcknowledgedFilter,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct AcknowledgedFilter {
            #[serde(default)]
            resource_subscriptions: Vec<String>,
        }
        let Some(Ok(AcknowledgedParams { notifications: agreed })) = params.map(Json::read) else {
            return;
        };
        // Missing resources are not a problem: they may have been added after the request.
        let wanted = self.context.subscriptions.wanted_uris(&self.config.id);
        for uri in agreed.resource_subscriptions.into_iter().filter(|uri| wanted.contains(uri)) {
            self.context.subscriptions.settle(&self.config.id, &uri);
            let server = self.config.id.to_string();
            let problem = None;
            self.context.events.emit(|| EventKind::ResourceSubscribed { server, uri, problem });
        }
    }

    fn forward_elicitation_complete(&self, params: Option<&Json>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ElicitationCompleteParams {
            elicitation_id: String,
        }
        let Some(Ok(ElicitationCompleteParams { elicitation_id: id })) = params.map(Json::read)
        else {
            return;
        };
        self.context.answers.on_elicitation_complete(self.config.id.as_str(), &id);
        let server = self.config.id.to_string();
        self.context.events.emit(|| EventKind::ElicitationComplete { server, id });
    }
}

/// Refuses a request that could belong to any of several callers.
fn refuse_ambiguous(asking: ServerRequest<'_>) -> AnswerFuture<'_> {
    // Any choice could show one caller's question to another.
    let why = format!("cannot tell which call `{}` belongs to", asking.method);
    Box::pin(async { Err(RpcError::new(RpcError::INTERNAL_ERROR, why)) })
}

/// Emits that a task has changed. Followers fetch its state: a notification may be outdated.
fn forward_task_change(events: &Events, server: &ServerId, params: Option<&Json>) {
    #[derive(Deserialize)]
    struct TaskChangedParams {
        #[serde(rename = "taskId")]
        task: String,
    }
    if let Some(Ok(TaskChangedParams { task })) = params.map(Json::read) {
        events.emit(|| EventKind::TaskChanged { server: server.to_string(), task });
    }
}

/// How often to check whether a call is still in flight.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Waits for an answer while the connection is open and a call on it is in flight.
///
/// Meanwhile the idle deadlines of the calls are suspended; their total deadlines are not.
async fn hold_deadlines(peer: &Peer, mut answering: AnswerFuture<'_>) -> Result<String, RpcError> {
    let mut has_waited = false;
    loop {
        has_waited |= peer.renew_waits() > 0;
        tokio::select! {
            biased;
            answer = &mut answering => return answer,
            _ = peer.wait_until_closed() => return Err(withdrawn_error("the connection closed")),
            () = sleep(POLL_INTERVAL) => {}
        }
        if has_waited && peer.in_flight() == 0 {
            return Err(withdrawn_error("the call behind the request has ended"));
        }
    }
}

fn withdrawn_error(why: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, why)
}
