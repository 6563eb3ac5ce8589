//! From a call to a task that goes on by itself, and what happens to it.

use std::sync::Arc;

use switchboard_core::{Outcome, OutcomeKind, Target, TaskNews};
use switchboard_wire::RpcError;

use super::kept::{End, Task};
use super::shape;
use super::wanted::Wanted;
use crate::answer::{Reader, Reply, of_outcome};
use crate::asked::Asked;
use crate::calls::{Happening, ROUNDS, next};
use crate::gateway::Gateway;
use crate::parked::Running;

impl Gateway {
    /// Hands a call that its server goes on with to its client as a task; gives the call back where
    /// there is no room for one, so that it is waited for.
    pub(crate) fn hand_out(
        &self,
        asked: &Asked,
        running: Running,
        news: &TaskNews,
    ) -> Result<Reply, Box<Running>> {
        let asked_for = match running.wanted {
            Wanted::Task { ttl_ms } => ttl_ms,
            Wanted::TaskIfAny | Wanted::Result => None,
        };
        let of_server = news.task.ttl.and_then(|ttl| u64::try_from(ttl.as_millis()).ok());
        let cancel = running.cancel.clone();
        let made = self.tasks().make(&asked.client, asked_for.or(of_server), cancel);
        let Some(task) = made else { return Err(Box::new(running)) };
        task.says(&news.state);
        let created = shape::created(&task, asked.client.era());
        tokio::spawn(follow(task, running, asked.client.reader()));
        Ok(created.into())
    }

    /// A task that has ended before it began: its client asked for one.
    pub(crate) fn hand_out_ended(
        &self,
        asked: &Asked,
        running: &Running,
        outcome: Outcome,
    ) -> Result<Reply, RpcError> {
        let outcome = running.with_shown_addresses(outcome);
        let Wanted::Task { ttl_ms } = running.wanted else {
            return of_outcome(outcome, &running.target, asked.client.reader());
        };
        // What did not run is no task.
        if matches!(outcome.kind, OutcomeKind::NotSent | OutcomeKind::Refused) {
            return of_outcome(outcome, &running.target, asked.client.reader());
        }
        let made = self.tasks().make(&asked.client, ttl_ms, running.cancel.clone());
        let task = made.ok_or_else(|| {
            RpcError::new(RpcError::INTERNAL_ERROR, "this caller has too many tasks")
        })?;
        let created = shape::created(&task, asked.client.era());
        end(&task, outcome, &running.target, asked.client.reader());
        Ok(created.into())
    }
}

async fn follow(task: Arc<Task>, mut running: Running, reader: Reader) {
    loop {
        match next(&mut running).await {
            Happening::Ended(record) => {
                let outcome = running.with_shown_addresses(record.outcome);
                return end(&task, outcome, &running.target, reader);
            }
            Happening::Became(news) => task.says(&news.state),
            Happening::Asked(ask) => task.change(|state| {
                state.asked += 1;
                let key = ask.key.clone().unwrap_or_else(|| format!("ask-{}", state.asked));
                if state.asked > ROUNDS {
                    let why = format!("the server asked more than {ROUNDS} times");
                    ask.answer.send(Err(RpcError::new(RpcError::INTERNAL_ERROR, why))).ok();
                } else {
                    // What the server asks again under its key takes the place of the old one.
                    state.asks.retain(|(known, _)| *known != key);
                    state.asks.push((key, ask));
                }
            }),
            // Whoever waits for a task asks how far it is.
            Happening::Progress(_) | Happening::Said(_) => {}
        }
    }
}

fn end(task: &Task, outcome: Outcome, target: &Target, reader: Reader) {
    let end = match (outcome.kind, outcome.reason.as_deref()) {
        (OutcomeKind::Cancelled, _) => End::Cancelled,
        (OutcomeKind::Failed, Some("task_failed")) => {
            let why = outcome.message.unwrap_or_default();
            End::Error(RpcError::new(RpcError::INTERNAL_ERROR, why))
        }
        (kind, _) => match of_outcome(outcome, target, reader) {
            // Which task it is at the server is nobody's business.
            Ok(reply) => {
                let text = reply.text();
                let text = shape::unrelated(&text).unwrap_or_else(|| text.into_owned());
                End::Result { text, failed: kind != OutcomeKind::Ok }
            }
            Err(error) => End::Error(error),
        },
    };
    // One that was given up stays so, whatever comes of it.
    task.change(|state| state.end.get_or_insert(end).clone());
}
