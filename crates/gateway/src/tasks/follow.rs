//! Calls that become tasks: creates the client's task and follows the call to its end.

use std::sync::Arc;

use switchboard_core::{Outcome, OutcomeKind, Target, TaskUpdate};
use switchboard_wire::RpcError;

use super::task_json;
use super::task_request::TaskRequest;
use super::task_store::{ClientTask, ClientTaskEnd};
use crate::calls::{CallEvent, MAX_ROUNDS, next_event};
use crate::client_request::ClientRequest;
use crate::gateway::Gateway;
use crate::parked_calls::RunningCall;
use crate::relay::KeyedAsk;
use crate::reply::{ClientReply, Recipient, internal_error, reply_for_outcome};

impl Gateway {
    /// Returns a task to the client for a call that continues as a task of its server. Without room
    /// for another task, returns the call, which is then awaited.
    pub(crate) fn hand_out_task(
        &self,
        asked: &ClientRequest,
        running: RunningCall,
        news: &TaskUpdate,
    ) -> Result<ClientReply, Box<RunningCall>> {
        let asked_for = match running.task_request {
            TaskRequest::Task { ttl_ms } => ttl_ms,
            TaskRequest::TaskIfAny | TaskRequest::Result => None,
        };
        let of_server = news.task.ttl.and_then(|ttl| u64::try_from(ttl.as_millis()).ok());
        // The store clamps both wishes; the client's counts more, because it polls.
        let cancel = running.cancel.clone();
        let made = self.inner.tasks.create(&asked.client, asked_for.or(of_server), cancel);
        let Some(task) = made else { return Err(Box::new(running)) };
        task.record_server_state(&news.state);
        let created = task_json::created_task(&task, asked.client.era());
        tokio::spawn(follow_task(task, running, asked.client.recipient()));
        Ok(created.into())
    }

    /// Returns a task that has already ended, for a server that answered at once.
    pub(crate) fn create_ended_task(
        &self,
        asked: &ClientRequest,
        running: &RunningCall,
        outcome: Outcome,
        ttl_ms: Option<u64>,
    ) -> Result<ClientReply, RpcError> {
        let made = self.inner.tasks.create(&asked.client, ttl_ms, running.cancel.clone());
        let why = "too many tasks; try again when earlier ones have expired";
        let task = made.ok_or_else(|| internal_error(why))?;
        let created = task_json::created_task(&task, asked.client.era());
        end_task(&task, outcome, &running.target, asked.client.recipient());
        Ok(created.into())
    }
}

async fn follow_task(task: Arc<ClientTask>, mut running: RunningCall, reader: Recipient) {
    loop {
        match next_event(&mut running).await {
            CallEvent::Ended(record) => {
                let outcome = running.rewrite_uris(record.outcome);
                return end_task(&task, outcome, &running.target, reader);
            }
            CallEvent::BecameTask(news) => task.record_server_state(&news.state),
            CallEvent::Question(ask) => task.update(|state| {
                state.ask_count += 1;
                let key = ask.key.clone().unwrap_or_else(|| format!("ask-{}", state.ask_count));
                if state.ask_count > MAX_ROUNDS {
                    ask.reject_round(MAX_ROUNDS);
                } else {
                    // The server repeats a question under the same key while it waits.
                    state.asks.retain(|known| known.key != key);
                    state.asks.push(KeyedAsk { key, ask });
                }
            }),
            // The request that these belonged to is answered; clients poll the state of a task.
            CallEvent::Progress(_) | CallEvent::Log(_) => {}
        }
    }
}

fn end_task(task: &ClientTask, outcome: Outcome, target: &Target, reader: Recipient) {
    let end = match (outcome.kind, outcome.reason.as_deref()) {
        (OutcomeKind::Cancelled, _) => ClientTaskEnd::Cancelled,
        (OutcomeKind::Failed, Some("task_failed")) => {
            let why = outcome.message.unwrap_or_default();
            ClientTaskEnd::Error(internal_error(why))
        }
        (kind, _) => match reply_for_outcome(outcome, target, reader) {
            // The result may name the server's own task, which is internal.
            Ok(reply) => {
                let text = reply.text();
                let text =
                    task_json::without_related_task(&text).unwrap_or_else(|| text.into_owned());
                ClientTaskEnd::Result { text, failed: kind != OutcomeKind::Ok }
            }
            Err(error) => ClientTaskEnd::Error(error),
        },
    };
    // A cancelled task stays cancelled, whatever the outcome.
    task.update(|state| state.end.get_or_insert(end).clone());
}
