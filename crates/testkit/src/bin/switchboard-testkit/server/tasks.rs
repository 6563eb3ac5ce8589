//! Tasks in both eras: created by a call, polled, answered, cancelled, and shared by all clients.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::message_era::MessageEra;
use super::{Exchange, FixtureServer, ServerCall, content};
use crate::exchange::ChangeNotice;
use crate::message::{
    INVALID_PARAMS, IncomingMessage, META_CAPABILITIES, METHOD_NOT_FOUND, RpcAnswer,
};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const RELATED: &str = "io.modelcontextprotocol/related-task";
const MISSING_CAPABILITY: i64 = -32021;
/// How long a question is still shown after its answer, as by a slow server.
const ANSWERED_DISPLAY: Duration = Duration::from_millis(600);

#[derive(Debug, Default)]
pub(crate) struct FixtureTasks(Mutex<BTreeMap<String, FixtureTask>>);

#[derive(Clone, Debug)]
struct FixtureTask {
    began: Instant,
    takes: Duration,
    poll_ms: u64,
    ttl: Value,
    asks: bool,
    answer: Option<(String, Instant)>,
    fails: Option<String>,
    cancelled: bool,
}

/// Returns the definitions of the tools that become tasks.
pub(crate) fn definitions(spoken: &MessageEra) -> Vec<Value> {
    let properties = json!({
        "ms": {"type": "integer"},
        "ask": {"type": "boolean"},
        "fail": {"enum": ["tool", "error"]},
    });
    let tool = |name: &str, support: &str| {
        let mut tool = content::tool(name, "Takes its time.", &properties, &["ms"]);
        if matches!(spoken, MessageEra::Legacy(_)) && spoken.has("2025-11-25") {
            tool["execution"] = json!({"taskSupport": support});
        }
        tool
    };
    vec![tool("research", "required"), tool("ponder", "optional"), tool("hurry", "forbidden")]
}

/// Answers a call of a tool that becomes a task; `None` for other tools.
pub(crate) async fn call(call: &ServerCall<'_>) -> Option<RpcAnswer> {
    let ServerCall { exchange, incoming, spoken } = *call;
    let name = incoming.text("name").unwrap_or_default();
    if !exchange.server.options.tasks || !["research", "ponder", "hurry"].contains(&name) {
        return None;
    }
    exchange.server.journal.line(&format!("called {name}"));
    let task = FixtureTask::from_call(exchange, incoming);
    let asked = incoming.params.get("task");
    let becomes_task = match spoken {
        MessageEra::Modern => name == "research" && declares(incoming),
        MessageEra::Legacy(_) => asked.is_some(),
    };
    if *spoken != MessageEra::Modern && name == "research" && asked.is_none() {
        return Some(RpcAnswer::refuse(METHOD_NOT_FOUND, "this tool runs only as a task"));
    }
    if name == "hurry" && asked.is_some() {
        return Some(RpcAnswer::refuse(METHOD_NOT_FOUND, "this tool does not run as a task"));
    }
    if !becomes_task {
        tokio::time::sleep(task.takes).await;
        return Some(task.outcome());
    }
    let id = exchange.server.tasks.keep(task.clone());
    tokio::spawn(tell_end(exchange.clone(), id.clone(), task.clone()));
    Some(RpcAnswer::Result(match spoken {
        MessageEra::Modern => {
            let mut created = task.modern(&id);
            created["resultType"] = json!("task");
            created
        }
        MessageEra::Legacy(_) => json!({"task": task.legacy(&id)}),
    }))
}

/// Answers a request about tasks.
pub(crate) async fn answer(call: &ServerCall<'_>) -> RpcAnswer {
    let ServerCall { exchange, incoming, spoken } = *call;
    let server = &exchange.server;
    if *spoken == MessageEra::Modern && !declares(incoming) {
        return RpcAnswer::refuse_with(
            MISSING_CAPABILITY,
            "the extension is not declared",
            json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}}),
        );
    }
    if incoming.method == "tasks/list" && *spoken != MessageEra::Modern {
        let all = server.tasks.0.lock();
        let tasks: Vec<Value> = all.iter().map(|(id, task)| task.legacy(id)).collect();
        return RpcAnswer::Result(json!({ "tasks": tasks }));
    }
    let id = incoming.text("taskId").unwrap_or_default().to_owned();
    let Some(task) = server.tasks.get(&id) else {
        return RpcAnswer::refuse(INVALID_PARAMS, "Task not found");
    };
    match (incoming.method.as_str(), spoken) {
        ("tasks/get", MessageEra::Modern) => RpcAnswer::Result(task.modern(&id)),
        ("tasks/get", MessageEra::Legacy(_)) => RpcAnswer::Result(task.legacy(&id)),
        ("tasks/result", MessageEra::Legacy(_)) => result(exchange, &id).await,
        ("tasks/update", MessageEra::Modern) => {
            let reply = &incoming.params["inputResponses"]["colour"];
            server.tasks.answer_question(&id, reply);
            server.journal.line(&format!("updated {id}"));
            RpcAnswer::Result(json!({}))
        }
        ("tasks/cancel", spoken) => cancel(server, &id, &task, spoken),
        _ => RpcAnswer::refuse(METHOD_NOT_FOUND, "Method not found"),
    }
}

fn cancel(server: &FixtureServer, id: &str, task: &FixtureTask, spoken: &MessageEra) -> RpcAnswer {
    let modern = *spoken == MessageEra::Modern;
    if task.is_over() {
        return if modern {
            RpcAnswer::Result(json!({}))
        } else {
            RpcAnswer::refuse(INVALID_PARAMS, "the task has ended already")
        };
    }
    server.tasks.change(id, |task| task.cancelled = true);
    server.journal.line(&format!("cancelled task {id}"));
    let task = server.tasks.get(id).map(|task| task.legacy(id));
    RpcAnswer::Result(if modern { json!({}) } else { task.unwrap_or_default() })
}

/// Waits for the result of a task. A question of the task is sent on the same stream.
async fn result(exchange: &Exchange, id: &str) -> RpcAnswer {
    let related = json!({RELATED: {"taskId": id}});
    loop {
        let Some(task) = exchange.server.tasks.get(id) else {
            return RpcAnswer::refuse(INVALID_PARAMS, "Task not found");
        };
        if task.is_over() {
            return match task.outcome() {
                RpcAnswer::Result(mut result) => {
                    result["_meta"] = related;
                    RpcAnswer::Result(result)
                }
                other => other,
            };
        }
        if task.status() == "input_required" && task.answer.is_none() {
            let mut params = question();
            params["_meta"] = related.clone();
            let reply = exchange.ask("elicitation/create", &params).await;
            exchange.server.tasks.answer_question(id, &reply);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Notifies clients of the end of a task, so that they need not wait for the next poll.
async fn tell_end(exchange: Exchange, id: String, task: FixtureTask) {
    tokio::time::sleep(task.takes + Duration::from_millis(20)).await;
    let params = task.legacy(&id);
    if exchange.conversation.revision().is_some() {
        exchange.notify("notifications/tasks/status", &params).await;
    }
    exchange.server.announce(ChangeNotice::Task(id));
}

fn question() -> Value {
    json!({
        "mode": "form",
        "message": "Which colour?",
        "requestedSchema": {
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
        },
    })
}

/// Whether the client of the request declares the tasks extension.
fn declares(incoming: &IncomingMessage) -> bool {
    let capabilities = incoming.meta(META_CAPABILITIES);
    capabilities.is_some_and(|it| it["extensions"][EXTENSION].is_object())
}

impl FixtureTasks {
    fn keep(&self, task: FixtureTask) -> String {
        let mut tasks = self.0.lock();
        // The id must be unknown to another process of the same fixture.
        let id = format!("task-{}-{}", std::process::id(), tasks.len() + 1);
        tasks.insert(id.clone(), task);
        id
    }

    fn get(&self, id: &str) -> Option<FixtureTask> {
        self.0.lock().get(id).cloned()
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut FixtureTask)) {
        if let Some(task) = self.0.lock().get_mut(id) {
            change(task);
        }
    }

    fn answer_question(&self, id: &str, reply: &Value) {
        let said = reply["content"]["answer"].as_str().or(reply["action"].as_str());
        let said = said.unwrap_or("nothing").to_owned();
        self.change(id, |task| task.answer = Some((said, Instant::now())));
    }
}

impl FixtureTask {
    fn from_call(exchange: &Exchange, incoming: &IncomingMessage) -> Self {
        let arguments = incoming.arguments();
        Self {
            began: Instant::now(),
            takes: Duration::from_millis(arguments["ms"].as_u64().unwrap_or(0)),
            poll_ms: exchange.server.options.task_poll_ms,
            ttl: incoming.params["task"].get("ttl").cloned().unwrap_or(json!(600_000)),
            asks: arguments["ask"] == true,
            answer: None,
            fails: arguments["fail"].as_str().map(str::to_owned),
            cancelled: false,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.status(), "completed" | "failed" | "cancelled")
    }

    fn status(&self) -> &'static str {
        let is_asking = self.asks
            && self.answer.as_ref().is_none_or(|(_, since)| since.elapsed() < ANSWERED_DISPLAY);
        match (self.cancelled, self.began.elapsed() >= self.takes) {
            (true, _) => "cancelled",
            (false, true) if is_asking => "input_required",
            (false, true) if self.fails.is_some() => "failed",
            (false, true) => "completed",
            (false, false) => "working",
        }
    }

    fn outcome(&self) -> RpcAnswer {
        let said = self.answer.as_ref().map(|(said, _)| format!(": {said}")).unwrap_or_default();
        match self.fails.as_deref() {
            None => RpcAnswer::Result(content::text(format!("found it{said}"))),
            Some("error") => RpcAnswer::refuse(-32603, "the sources are gone"),
            Some(_) => RpcAnswer::Result(content::failure("nothing was found")),
        }
    }

    fn legacy(&self, id: &str) -> Value {
        json!({
            "taskId": id,
            "status": self.status(),
            "statusMessage": format!("it is {}", self.status()),
            "createdAt": "2025-11-25T10:00:00Z",
            "lastUpdatedAt": "2025-11-25T10:00:00Z",
            "ttl": self.ttl,
            "pollInterval": self.poll_ms,
        })
    }

    fn modern(&self, id: &str) -> Value {
        let mut task = json!({
            "taskId": id,
            "status": self.status(),
            "statusMessage": format!("it is {}", self.status()),
            "createdAt": "2026-07-28T10:00:00Z",
            "lastUpdatedAt": "2026-07-28T10:00:00Z",
            "ttlMs": self.ttl,
            "pollIntervalMs": self.poll_ms,
        });
        match (self.status(), self.outcome()) {
            ("input_required", _) => {
                let asked = json!({"method": "elicitation/create", "params": question()});
                task["inputRequests"] = json!({ "colour": asked });
            }
            ("completed", RpcAnswer::Result(result)) => task["result"] = result,
            // A result that reports a tool error completes the task.
            ("failed", RpcAnswer::Result(result)) => {
                task["status"] = json!("completed");
                task["result"] = result;
            }
            ("failed", RpcAnswer::Refusal { code, message, .. }) => {
                task["error"] = json!({"code": code, "message": message});
            }
            _ => {}
        }
        task
    }
}

const URL_REQUIRED: i64 = -32042;

pub(crate) fn visit_definition() -> Value {
    let properties = json!({"refusals": {"type": "integer"}, "fresh": {"type": "boolean"}});
    content::tool("visit", "Needs a visit to an address first.", &properties, &[])
}

/// Answers a call of `visit`, which refuses the given number of times; `None` for other tools.
pub(crate) async fn call_visit(
    exchange: &Exchange,
    incoming: &IncomingMessage,
) -> Option<RpcAnswer> {
    let server = &exchange.server;
    if !server.options.tasks || incoming.text("name") != Some("visit") {
        return None;
    }
    let arguments = incoming.arguments();
    let refusals = arguments["refusals"].as_u64().unwrap_or(1);
    let before = server.count_visit();
    if before >= refusals {
        server.journal.line("visited");
        return Some(RpcAnswer::Result(content::text(format!("in after {before} refusals"))));
    }
    // A server may require another URL each time, or the same one.
    let number = if arguments["fresh"] == true { before + 1 } else { 1 };
    let id = format!("visit-{number}");
    let address = json!({
        "mode": "url",
        "elicitationId": id,
        "url": format!("https://login.example.com/{number}"),
        "message": "Log in there first.",
    });
    exchange.notify("notifications/elicitation/complete", &json!({"elicitationId": id})).await;
    Some(RpcAnswer::refuse_with(
        URL_REQUIRED,
        "a visit is needed first",
        json!({"elicitations": [address]}),
    ))
}
