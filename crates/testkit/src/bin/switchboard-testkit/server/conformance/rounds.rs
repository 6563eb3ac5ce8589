//! Tools that ask before they answer: by requests before 2026-07-28, by rounds after.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::super::content;
use super::super::message_era::MessageEra;
use super::super::state::Exchange;
use super::questions::{self, ClientQuestion};
use crate::message::{INVALID_PARAMS, IncomingMessage, META_CAPABILITIES, RpcAnswer};

const MISSING_CAPABILITY: i64 = -32021;

/// What is asked in the course of one call.
#[derive(Debug)]
pub(super) struct Rounds {
    name: String,
    rounds: Vec<Vec<ClientQuestion>>,
    result: fn(&Value) -> Value,
}

/// Nothing for a tool that asks nothing; a refusal where the client cannot be asked.
pub(super) fn rounds_for_tool(
    name: &str,
    incoming: &IncomingMessage,
    spoken: &MessageEra,
) -> Option<Result<Rounds, RpcAnswer>> {
    let mut rounds = questions::tool_questions(name, incoming.arguments())?;
    if *spoken == MessageEra::Modern {
        let can = incoming.meta(META_CAPABILITIES).unwrap_or(&Value::Null);
        let lacks = |ask: &ClientQuestion| can.get(ask.capability()).is_none();
        if name == "test_input_required_result_capabilities" {
            rounds.iter_mut().for_each(|round| round.retain(|ask| !lacks(ask)));
        }
        if let Some(missing) = rounds.iter().flatten().find(|ask| lacks(ask)) {
            let capability = missing.capability();
            return Some(Err(RpcAnswer::Refusal {
                code: MISSING_CAPABILITY,
                message: format!("the client did not declare `{capability}`"),
                data: Some(json!({"requiredCapabilities": {capability: {}}})),
            }));
        }
    }
    Some(Ok(Rounds::new(name, rounds, answer_content)))
}

fn answer_content(said: &Value) -> Value {
    content::text(format!("state-ok, the answers were {said}"))
}

impl Rounds {
    pub(super) fn new(
        name: &str,
        rounds: Vec<Vec<ClientQuestion>>,
        result: fn(&Value) -> Value,
    ) -> Self {
        Self { name: name.to_owned(), rounds, result }
    }

    pub(super) async fn run(
        &self,
        exchange: &Exchange,
        incoming: &IncomingMessage,
        spoken: &MessageEra,
    ) -> RpcAnswer {
        match spoken {
            MessageEra::Modern => self.continue_round(incoming),
            MessageEra::Legacy(_) => self.ask_all(exchange).await,
        }
    }

    /// Takes the answers to one round and asks the next one, or ends.
    fn continue_round(&self, incoming: &IncomingMessage) -> RpcAnswer {
        let at = match incoming.text("requestState") {
            None => 0,
            Some(state) => match (0..self.rounds.len()).find(|at| self.state(*at) == state) {
                Some(at) => at,
                None => return RpcAnswer::refuse(INVALID_PARAMS, "`requestState` is not ours"),
            },
        };
        let said = incoming.params.get("inputResponses").unwrap_or(&Value::Null);
        let round = self.rounds.get(at).map(Vec::as_slice).unwrap_or_default();
        if !round.iter().all(|ask| said.get(ask.key).is_some_and(Value::is_object)) {
            return self.question(at);
        }
        if at + 1 < self.rounds.len() {
            return self.question(at + 1);
        }
        RpcAnswer::Result((self.result)(said))
    }

    fn question(&self, at: usize) -> RpcAnswer {
        let round = self.rounds.get(at).map(Vec::as_slice).unwrap_or_default();
        let requests: Map<String, Value> = round
            .iter()
            .map(|ask| {
                (ask.key.to_owned(), json!({"method": ask.method, "params": ask.params.clone()}))
            })
            .collect();
        let mut result = json!({"resultType": "input_required", "inputRequests": requests});
        // Servers that need no state send none.
        if self.name.contains("_state") || self.rounds.len() > 1 || round.len() > 1 {
            result["requestState"] = json!(self.state(at));
        }
        RpcAnswer::Result(result)
    }

    /// Known only to this process, so that nobody can make one up.
    fn state(&self, at: usize) -> String {
        static SEAL: OnceLock<RandomState> = OnceLock::new();
        let seal = SEAL.get_or_init(RandomState::new).hash_one((&self.name, at));
        format!("round-{at}-{seal:016x}")
    }

    async fn ask_all(&self, exchange: &Exchange) -> RpcAnswer {
        let mut said = Map::new();
        for round in &self.rounds {
            let asked = round
                .iter()
                .map(|ask| exchange.conversation.ask(&exchange.outlet, ask.method, &ask.params));
            let replies = join_all(asked).await;
            for (ask, mut reply) in round.iter().zip(replies) {
                if let Some(result) = reply.get_mut("result") {
                    said.insert(ask.key.to_owned(), result.take());
                }
            }
        }
        if said.is_empty() {
            return RpcAnswer::Result(content::failure("the client answered nothing"));
        }
        RpcAnswer::Result((self.result)(&Value::Object(said)))
    }
}
