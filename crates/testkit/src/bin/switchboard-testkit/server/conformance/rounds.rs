//! Tools that ask before they answer: by requests before 2026-07-28, by rounds from then on.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::super::content;
use super::super::message_era::MessageEra;
use super::super::state::{Exchange, ServerCall};
use super::tools;
use crate::message::{INVALID_PARAMS, IncomingMessage, META_CAPABILITIES, RpcAnswer};

const MISSING_CAPABILITY: i64 = -32021;

/// The questions of one call, in rounds.
#[derive(Debug)]
pub(super) struct Rounds {
    name: String,
    rounds: Vec<Vec<ClientQuestion>>,
    result: fn(&Value) -> Value,
}

/// Returns the rounds of a tool, a refusal if the client lacks a capability, or `None` for a tool
/// without questions.
pub(super) fn rounds_for_tool(
    name: &str,
    incoming: &IncomingMessage,
    spoken: &MessageEra,
) -> Option<Result<Rounds, RpcAnswer>> {
    let mut rounds = tool_questions(name, incoming.arguments())?;
    if *spoken == MessageEra::Modern {
        let can = incoming.meta(META_CAPABILITIES).unwrap_or(&Value::Null);
        let lacks = |ask: &ClientQuestion| can.get(ask.capability()).is_none();
        if name == "test_input_required_result_capabilities" {
            rounds.iter_mut().for_each(|round| round.retain(|ask| !lacks(ask)));
        }
        if let Some(missing) = rounds.iter().flatten().find(|ask| lacks(ask)) {
            let capability = missing.capability();
            return Some(Err(RpcAnswer::refuse_with(
                MISSING_CAPABILITY,
                format!("the client did not declare `{capability}`"),
                json!({"requiredCapabilities": {capability: {}}}),
            )));
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

    pub(super) async fn run(&self, call: &ServerCall<'_>) -> RpcAnswer {
        match call.spoken {
            MessageEra::Modern => self.continue_round(call.incoming),
            MessageEra::Legacy(_) => self.ask_all(call.exchange).await,
        }
    }

    /// Accepts the answers to one round, then asks the next one or returns the result.
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
        // A server that needs no state sends none.
        if self.name.contains("_state") || self.rounds.len() > 1 || round.len() > 1 {
            result["requestState"] = json!(self.state(at));
        }
        RpcAnswer::Result(result)
    }

    /// Returns the state of a round, sealed with a random key of this process against forgery.
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

/// One question; in the modern era, its answer comes back under `key`.
#[derive(Clone, Debug)]
pub(super) struct ClientQuestion {
    pub(super) key: &'static str,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl ClientQuestion {
    /// The capability that a client needs to answer it.
    pub(super) fn capability(&self) -> &'static str {
        self.method.split('/').next().unwrap_or_default()
    }
}

pub(super) fn form(key: &'static str, message: &str, schema: &Value) -> ClientQuestion {
    let params = json!({"message": message, "requestedSchema": schema});
    ClientQuestion { key, method: "elicitation/create", params }
}

pub(super) fn message(key: &'static str, text: &str, tokens: u32) -> ClientQuestion {
    let content = json!({"type": "text", "text": text});
    let params = json!({
        "messages": [{"role": "user", "content": content}],
        "maxTokens": tokens,
    });
    ClientQuestion { key, method: "sampling/createMessage", params }
}

pub(super) fn roots(key: &'static str) -> ClientQuestion {
    ClientQuestion { key, method: "roots/list", params: json!({}) }
}

/// Returns the questions of a tool, round by round; `None` for tools without questions.
pub(super) fn tool_questions(name: &str, arguments: &Value) -> Option<Vec<Vec<ClientQuestion>>> {
    let said = |key: &str| arguments[key].as_str().unwrap_or("(nothing)").to_owned();
    let person = || form("user_name", "What is your name?", &tools::text_form("name"));
    let confirm = || form("confirm", "Please confirm", &tools::yes_or_no("ok"));
    Some(match name {
        "test_sampling" => vec![vec![message("sample", &said("prompt"), 100)]],
        "test_missing_capability" => vec![vec![message("sample", "Is anybody there?", 10)]],
        "test_elicitation" => {
            vec![vec![form("answer", &said("message"), &tools::name_and_address())]]
        }
        "test_elicitation_sep1034_defaults" => {
            vec![vec![form("answer", "Please check these values.", &tools::with_defaults())]]
        }
        "test_elicitation_sep1330_enums" => {
            vec![vec![form("answer", "Please choose.", &tools::choices())]]
        }
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            vec![vec![person()]]
        }
        "test_input_required_result_sampling" => {
            vec![vec![message("capital_question", "What is the capital of France?", 100)]]
        }
        "test_input_required_result_list_roots" => vec![vec![roots("client_roots")]],
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => vec![vec![confirm()]],
        "test_input_required_result_multiple_inputs" => {
            vec![vec![
                person(),
                message("greeting", "Generate a greeting", 50),
                roots("client_roots"),
            ]]
        }
        "test_input_required_result_capabilities" => {
            vec![vec![person(), message("greeting", "Generate a greeting", 50)]]
        }
        "test_input_required_result_multi_round" => vec![
            vec![form("step1", "Step 1: What is your name?", &tools::text_form("name"))],
            vec![form("step2", "Step 2: What is your favorite color?", &tools::text_form("color"))],
        ],
        _ => return None,
    })
}
