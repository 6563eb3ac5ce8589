//! Tests of calls that servers continue as tasks, through the gateway: tasks for clients that
//! support them, results for the others.

use serde_json::{Value, json};

use crate::gateway::{Gateway, Legacy, Modern, NEWEST_LEGACY, answer_text};
use crate::running::{TEST_TIMEOUT, poll};
use crate::serve_client::{ServingGateway, modern, until};
use crate::serve_tokens::token;
use crate::switchboard::{Switchboard, fixture};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const RELATED: &str = "io.modelcontextprotocol/related-task";
const ERAS: [&str; 2] = ["legacy", "modern"];

/// Returns a gateway in front of a server whose tools become tasks.
fn far(era: &str) -> (Switchboard, Gateway) {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let more = ["--task-poll-ms", "50", "--journal", &journal];
    let arguments = [&["echo", "--tasks", "--era", era][..], &more].concat();
    switchboard.configure(&json!({"far": fixture(&arguments)}));
    let gateway = Gateway::with_tool(&switchboard, &[], "far__research");
    (switchboard, gateway)
}

fn knowing(gateway: &Gateway) -> Modern<'_> {
    let mut client = gateway.modern();
    client.capabilities = json!({"elicitation": {}, "extensions": {EXTENSION: {}}});
    client
}

/// Polls a task until it has this status.
fn wait_status(client: &Modern<'_>, id: &str, status: &str) -> Value {
    let look = || {
        let task = client.ask("tasks/get", &json!({"taskId": id}))["result"].clone();
        (task["status"] == status).then_some(task)
    };
    poll(TEST_TIMEOUT, look).unwrap_or_else(|| {
        panic!("not {status}: {}", client.ask("tasks/get", &json!({"taskId": id})))
    })
}

fn begin_task(client: &Modern<'_>, arguments: &Value) -> String {
    let created = client.call("far__research", arguments)["result"].clone();
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
    assert!(created["ttlMs"].is_u64() && created["pollIntervalMs"] == 50, "{created}");
    let id = created["taskId"].as_str().unwrap().to_owned();
    assert!(!id.contains("task-"), "the server's own name was handed out: {id}");
    id
}

#[test]
fn a_modern_client_that_knows_tasks_gets_one_and_fetches_its_end() {
    for era in ERAS {
        let (switchboard, gateway) = far(era);
        let client = knowing(&gateway);
        let offered = &client.ask("server/discover", &json!({}))["result"]["capabilities"];
        assert_eq!(offered["extensions"], json!({EXTENSION: {}}));
        let id = begin_task(&client, &json!({"ms": 300}));
        let task = wait_status(&client, &id, "completed");
        assert_eq!(task["resultType"], "complete");
        assert_eq!(task["result"]["content"][0]["text"], "found it", "{task}");
        assert!(!task.to_string().contains("task-"), "the server's own name is told: {task}");
        let failing = begin_task(&client, &json!({"ms": 100, "fail": "error"}));
        let task = wait_status(&client, &failing, "failed");
        let why = task["error"]["message"].as_str().unwrap();
        assert!(why.contains("the sources are gone"), "{era}: {task}");
        // A tool that returns at once is not a task.
        assert_eq!(answer_text(&client.call("far__echo", &json!({"text": "a"}))), "a");
        assert_eq!(switchboard.recorded_calls()[0], "tool far/research: ok", "{era}");
    }
}

#[test]
fn what_a_task_asks_is_answered_by_an_update() {
    for era in ERAS {
        let (_switchboard, gateway) = far(era);
        let client = knowing(&gateway);
        let id = begin_task(&client, &json!({"ms": 50, "ask": true}));
        let task = wait_status(&client, &id, "input_required");
        let (key, asked) = task["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(asked["method"], "elicitation/create");
        assert_eq!(asked["params"]["message"], "Which colour?");
        let answer = json!({"action": "accept", "content": {"answer": "blue"}});
        let update = json!({"taskId": id, "inputResponses": {key: answer}});
        let updated = client.ask("tasks/update", &update);
        assert_eq!(updated["result"], json!({"resultType": "complete"}));
        let task = wait_status(&client, &id, "completed");
        assert_eq!(task["result"]["content"][0]["text"], "found it: blue", "{era}");
    }
}

#[test]
fn a_task_that_is_given_up_is_given_up_at_its_server() {
    for era in ERAS {
        let (switchboard, gateway) = far(era);
        let client = knowing(&gateway);
        let id = begin_task(&client, &json!({"ms": 60_000}));
        let cancelled = client.ask("tasks/cancel", &json!({"taskId": id}));
        assert_eq!(cancelled["result"], json!({"resultType": "complete"}));
        wait_status(&client, &id, "cancelled");
        let journal = || std::fs::read_to_string(switchboard.path("journal")).unwrap_or_default();
        until(|| journal().contains("cancelled task"));
        until(|| switchboard.recorded_calls() == ["tool far/research: cancelled (by_caller)"]);
    }
}

#[test]
fn a_client_that_knows_no_tasks_gets_the_result() {
    for era in ERAS {
        let (_switchboard, gateway) = far(era);
        let client = gateway.modern();
        assert_eq!(answer_text(&client.call("far__research", &json!({"ms": 100}))), "found it");
        let refused = client.ask("tasks/get", &json!({"taskId": "x"}));
        let needed = json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}});
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        assert_eq!(refused["error"]["data"], needed);
        let old = gateway.legacy("2025-06-18");
        assert!(old.greeting["result"]["capabilities"].get("tasks").is_none());
        assert_eq!(answer_text(&old.call("far__research", &json!({"ms": 100}))), "found it");
        let refused = old.ask("tasks/get", &json!({"taskId": "x"}));
        assert_eq!(refused["error"]["code"], -32601);
        let newest = gateway.legacy(NEWEST_LEGACY);
        assert_eq!(answer_text(&newest.call("far__research", &json!({"ms": 100}))), "found it");
    }
}

#[test]
fn a_legacy_client_asks_for_a_task_and_waits_for_its_result() {
    let (switchboard, gateway) = far("legacy");
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &json!({"elicitation": {}}));
    let offered = &client.greeting["result"]["capabilities"]["tasks"];
    assert_eq!(*offered, json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}));
    let begin = |tool: &str, arguments: Value| {
        let call = json!({"name": tool, "arguments": arguments, "task": {"ttl": 90_000}});
        client.ask("tools/call", &call)
    };
    let created = begin("far__ponder", json!({"ms": 200}));
    let task = &created["result"]["task"];
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(90_000)), "{created}");
    let id = json!({"taskId": task["taskId"]});
    let listed = client.ask("tasks/list", &json!({}));
    assert_eq!(listed["result"]["tasks"][0]["taskId"], task["taskId"]);
    let other = gateway.legacy(NEWEST_LEGACY);
    assert_eq!(other.ask("tasks/list", &json!({}))["result"]["tasks"], json!([]));
    let result = client.ask("tasks/result", &id);
    assert_eq!(answer_text(&result), "found it");
    assert_eq!(result["result"]["_meta"][RELATED], id);
    assert_eq!(client.ask("tasks/get", &id)["result"]["status"], "completed");
    assert_eq!(client.ask("tasks/cancel", &id)["error"]["code"], -32602);
    let refused = begin("far__hurry", json!({"ms": 1}));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
    for odd in [json!(true), json!({"ttl": "long"})] {
        let call = json!({"name": "far__ponder", "arguments": {"ms": 1}, "task": odd});
        assert_eq!(client.ask("tools/call", &call)["error"]["code"], -32602, "{call}");
    }
    assert_eq!(switchboard.recorded_calls(), ["tool far/ponder: ok"]);
}

#[test]
fn what_a_task_asks_a_legacy_client_comes_with_the_wait_for_its_result() {
    let (_switchboard, gateway) = far("legacy");
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &json!({"elicitation": {}}));
    let call = json!({"name": "far__ponder", "arguments": {"ms": 50, "ask": true}, "task": {}});
    let id = client.ask("tools/call", &call)["result"]["task"]["taskId"].clone();
    let about = json!({"taskId": id});
    until(|| client.ask("tasks/get", &about)["result"]["status"] == "input_required");
    let mut stream = client.send("tasks/result", &about);
    let asked = stream.next_of_a_request();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    assert_eq!(asked["params"]["_meta"][RELATED], about);
    let result = json!({"action": "accept", "content": {"answer": "red"}});
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    assert_eq!(client.post(&answer).status, 202);
    assert_eq!(answer_text(&stream.next_of_a_request()), "found it: red");
}

#[test]
fn what_a_task_asks_waits_for_the_next_request_where_a_legacy_client_goes_away() {
    let (_switchboard, gateway) = far("legacy");
    let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &json!({"elicitation": {}}));
    let call = json!({"name": "far__ponder", "arguments": {"ms": 50, "ask": true}, "task": {}});
    let id = client.ask("tools/call", &call)["result"]["task"]["taskId"].clone();
    let about = json!({"taskId": id});
    let status = || client.ask("tasks/get", &about)["result"]["status"].clone();
    until(|| status() == "input_required");
    // One client disconnects, another one cancels.
    let mut stream = client.send("tasks/result", &about);
    assert_eq!(stream.next_of_a_request()["method"], "elicitation/create");
    assert_eq!(status(), "input_required");
    drop(stream);
    let request = json!({"jsonrpc": "2.0", "id": 77, "method": "tasks/result", "params": about});
    let mut stream = client.post(&request);
    assert_eq!(stream.next_of_a_request()["method"], "elicitation/create");
    client.tell("notifications/cancelled", &json!({"requestId": 77}));
    assert!(stream.next_event().is_none());
    let mut stream = client.send("tasks/result", &about);
    let asked = stream.next_of_a_request();
    let result = json!({"action": "accept", "content": {"answer": "red"}});
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    assert_eq!(client.post(&answer).status, 202);
    assert_eq!(answer_text(&stream.next_of_a_request()), "found it: red");
}

#[test]
fn se_03_a_task_of_somebody_else_is_not_there() {
    let switchboard = Switchboard::with(&json!({"far": fixture(&["echo", "--tasks"])}));
    let ada = token(&switchboard, &["ada"]);
    let eve = token(&switchboard, &["eve"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&ada), "far__research");
    let ask = |token: &str, method: &str, params: Value| {
        let mut request = modern(Some(token), method, params.clone());
        if let Some(id) = params["taskId"].as_str() {
            request = request.with("Mcp-Name", id);
        }
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": with_meta(params)});
        serving.send(&request.body(&body)).json()
    };
    let call = json!({"name": "far__research", "arguments": {"ms": 60_000}});
    let id = ask(&ada, "tools/call", call)["result"]["taskId"].clone();
    assert!(id.is_string());
    let about = json!({"taskId": id});
    let nobody = ask(&eve, "tasks/get", json!({"taskId": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}));
    assert_eq!(nobody["error"]["code"], -32602);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        assert_eq!(ask(&eve, method, about.clone())["error"], nobody["error"], "{method}");
    }
    assert_eq!(ask(&ada, "tasks/get", about)["result"]["status"], "working");
}

fn with_meta(params: Value) -> Value {
    crate::gateway::modern_params(&params, &json!({"extensions": {EXTENSION: {}}}))
}
