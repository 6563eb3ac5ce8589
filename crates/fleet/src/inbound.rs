//! What a server sends without being asked: requests, announcements, messages, late answers.

use std::sync::Arc;

use serde::Deserialize;
use switchboard_core::What;
use switchboard_wire::{Inbound, Json, Peer, RpcError};

use crate::answers::{Answering, Asking, noted};
use crate::call_answers::Whose;
use crate::connection::Connection;
use crate::hold_deadlines::patiently;
use crate::listing::EVERYTHING;
use crate::messages;
use crate::open_requests::Asked;
use crate::relist::Changed;
use crate::server_sync::wanted_level;
use crate::task_updates::tell_task;

impl Connection {
    /// Takes in what the server sends without being asked.
    pub(crate) fn take_in(
        &self,
        peer: &Peer,
        inbound: Inbound,
        asked: &Asked,
        changed: &mut Changed,
    ) {
        match inbound {
            Inbound::Notification { method, params, during } => match method.as_str() {
                "notifications/tools/list_changed" => changed.mark([true, false, false, false]),
                "notifications/resources/list_changed" => changed.mark([false, true, true, false]),
                "notifications/prompts/list_changed" => changed.mark([false, false, false, true]),
                "notifications/message" => self.pass_on(params.as_ref(), during),
                "notifications/resources/updated" => self.pass_on_update(params.as_ref()),
                "notifications/subscriptions/acknowledged" => {
                    self.pass_on_agreement(params.as_ref());
                }
                "notifications/elicitation/complete" => self.pass_on_completion(params.as_ref()),
                "notifications/cancelled" => asked.withdraw(params.as_ref()),
                "notifications/tasks/status" | "notifications/tasks" => {
                    tell_task(&self.around.events, &self.config.id, params.as_ref());
                }
                _ => {}
            },
            Inbound::Request { id, method, params, belongs_to } => {
                let (peer, around) = (peer.clone(), Arc::clone(&self.around));
                let server = self.config.id.clone();
                let under_way = belongs_to.map_or_else(|| peer.tags(), |call| vec![call]);
                let whose = around.call_answers.whose(&under_way);
                let open = match asked.begin(&id) {
                    Ok(open) => open,
                    Err(busy) => return peer.refuse(id, busy),
                };
                self.around.tasks.spawn(async move {
                    let (server, params) = (server.as_ref(), params.as_ref());
                    // Before 2026-07-28 nothing says which call it belongs to: the only one there is.
                    let only = if let [only] = under_way.as_slice() { Some(*only) } else { None };
                    let call = whose.call().or(only);
                    let target = None;
                    let asking =
                        Asking { server, target, call, key: None, method: &method, params };
                    let answering = match &whose {
                        Whose::Ours => around.answers.answer(asking),
                        Whose::Theirs(theirs) => theirs.answers().answer(asking),
                        Whose::Unclear => unclear(asking),
                    };
                    let answering = noted(&around.timelines, asking, answering);
                    let answering = patiently(&peer, answering);
                    // Who takes a question back gets no answer.
                    let Some(answer) = open.unless_withdrawn(answering).await else { return };
                    // The connection may have ended while the answer was made.
                    peer.reply(&id, answer.as_deref().map_err(Clone::clone)).await.ok();
                });
            }
            // Another machine or certificate may be another server with other definitions.
            Inbound::Another => changed.mark(EVERYTHING),
            Inbound::Late { tag, answer } => {
                if let Ok(answer) = answer {
                    // Evidence only: if nobody keeps records, nobody needs it.
                    self.around.late.try_send((tag, answer)).ok();
                }
            }
        }
    }

    /// Notes what the server tells of single calls, as it comes: once a call has its answer, nothing
    /// more is added to it.
    pub(crate) fn note_calls(&self, peer: &Peer) {
        let (around, server) = (Arc::clone(&self.around), self.config.id.clone());
        peer.overhear(move |call, method, params| match method {
            "notifications/progress" => around.timelines.add_progress(call, params),
            _ => {
                let wanted = wanted_level(&around.config.load(), &server);
                if let Some(said) = messages::read(params, wanted) {
                    around.timelines.add_said(call, &said.level, &said.text);
                }
            }
        });
    }

    fn pass_on(&self, params: Option<&Json>, during: Vec<u64>) {
        let server = &self.config.id;
        let wanted = wanted_level(&self.around.config.load(), server);
        let Some(said) = self.around.messages.take(server, params, wanted) else { return };
        self.around.events.tell(|| What::ServerSaid {
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

    fn pass_on_update(&self, params: Option<&Json>) {
        #[derive(Deserialize)]
        struct Updated {
            uri: String,
        }
        if !self.around.subscriptions.has(&self.config.id) {
            return;
        }
        let Some(Ok(Updated { uri })) = params.map(Json::read) else { return };
        let server = self.config.id.to_string();
        self.around.events.tell(|| What::ResourceUpdated { server, uri });
    }

    /// Which of the wanted resources a modern server agreed to tell of.
    fn pass_on_agreement(&self, params: Option<&Json>) {
        #[derive(Deserialize)]
        struct Acknowledged {
            notifications: Agreed,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Agreed {
            #[serde(default)]
            resource_subscriptions: Vec<String>,
        }
        let Some(Ok(Acknowledged { notifications: agreed })) = params.map(Json::read) else {
            return;
        };
        // What is left out is not told as a problem: it may be wanted since the request was made.
        let wanted = self.around.subscriptions.of(&self.config.id);
        for uri in agreed.resource_subscriptions.into_iter().filter(|uri| wanted.contains(uri)) {
            let (server, problem) = (self.config.id.to_string(), None);
            self.around.events.tell(|| What::ResourceSubscribed { server, uri, problem });
        }
    }

    fn pass_on_completion(&self, params: Option<&Json>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Completed {
            elicitation_id: String,
        }
        let Some(Ok(Completed { elicitation_id: id })) = params.map(Json::read) else { return };
        self.around.answers.completed(self.config.id.as_str(), &id);
        let server = self.config.id.to_string();
        self.around.events.tell(|| What::ElicitationComplete { server, id });
    }
}

/// Several callers wait for this server, and what it asks could be for any of them.
fn unclear(asking: Asking<'_>) -> Answering<'_> {
    let why = format!("nothing tells whose call `{}` is for", asking.method);
    Box::pin(async { Err(RpcError::new(RpcError::INTERNAL_ERROR, why)) })
}
