//! The host as a library: the view of an embedding program, and the parts that it can supply.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_core::{Answer, EventKind, Item};
use switchboard_host::ledger_file;
use switchboard_host::{
    Ask, AskKind, CallError, Caller, Host, InProcess, Options, OutcomeKind, Recording,
};
use switchboard_policy::Question;
use switchboard_store::{AskReply, Filter, UserDecision};
use switchboard_testkit::{Home, binary};
use tokio::time::timeout;

use crate::stage::Stage;

#[path = "../../examples/embed.rs"]
mod embed;
#[path = "../../examples/in_process_server.rs"]
mod in_process_server;
#[path = "../../examples/own_reviewer.rs"]
mod own_reviewer;

#[test]
fn the_examples_run() {
    embed::main().unwrap();
    own_reviewer::main().unwrap();
    in_process_server::main().unwrap();
}

#[tokio::test]
async fn a_call_is_told_with_the_names_of_its_arguments_and_how_it_ended() {
    let play = Stage::new().fixture("flaky", &["echo"], 20).ready().await;
    for (tool, arguments, keys, outcome) in [
        ("add", json!({"a": 41_999, "b": 1}), vec!["a", "b"], "ok"),
        ("fail", json!({"message": "hunter2"}), vec!["message"], "tool_error"),
    ] {
        let mut events = play.host.events().watch();
        let record = play.call(tool, arguments).await;
        let mut told = Vec::new();
        while told.len() < 2 {
            let event = timeout(Duration::from_secs(20), events.recv()).await.unwrap().unwrap();
            let text = serde_json::to_string(&event).unwrap();
            assert!(!text.contains("41999") && !text.contains("hunter2"), "{text}");
            match event.what {
                EventKind::CallStarted { call, server, target, argument_keys } => {
                    assert_eq!(argument_keys, keys);
                    told.push(format!("{call} {server}/{target} started"));
                }
                EventKind::CallFinished { call, server, target, outcome, .. } => {
                    told.push(format!("{call} {server}/{target} {outcome}"));
                }
                _ => {}
            }
        }
        let id = record.id.unwrap();
        let expected =
            [format!("{id} flaky/{tool} started"), format!("{id} flaky/{tool} {outcome}")];
        assert_eq!(told, expected);
    }
    play.stop().await;
}

#[tokio::test]
async fn servers_are_told_who_we_are() {
    for (era, place) in [
        ("legacy", "/params/clientInfo"),
        ("modern", "/params/_meta/io.modelcontextprotocol~1clientInfo"),
    ] {
        let play = Stage::new().fixture("flaky", &["echo", "--era", era], 20).ready().await;
        let told = play.trace().iter().find_map(|line| {
            let body: Value = serde_json::from_str(line["body"].as_str()?).ok()?;
            body.pointer(place).cloned()
        });
        let expected = json!({"name": "switchboard", "version": env!("CARGO_PKG_VERSION")});
        assert_eq!(told, Some(expected), "{era}");
        play.stop().await;
    }
}

/// Starts a host with the test's options only, and returns it with its home.
async fn alone(with: impl FnOnce(Options) -> Options) -> (Host, Home) {
    let home = Home::new();
    let host = Host::start(with(Options::standalone(home.path().join("state")))).unwrap();
    host.wait_settled(None).await;
    (host, home)
}

fn words(error: &CallError) -> (OutcomeKind, String) {
    let outcome = error.outcome().unwrap();
    (outcome.kind, outcome.message.clone().unwrap_or_default())
}

#[tokio::test]
async fn a_function_decides_where_the_rules_leave_it_to_a_person() {
    let (host, _home) = alone(|options| {
        options.with_reviewer(|question: &Question| {
            let arguments = question.call().arguments().as_str();
            match arguments.contains("secret") {
                true => Answer::Reject("not that".to_owned()),
                false => Answer::Run,
            }
        })
    })
    .await;
    for caller in [Caller::program("nightly"), Caller::model("a model")] {
        let call = async |text: &str| {
            host.call_for_content(&caller, "builtin", "echo", &json!({ "text": text })).await
        };
        assert_eq!(call("hello").await.unwrap().items, [Item::Text("hello".to_owned())]);
        let refused = call("a secret").await.unwrap_err();
        assert_eq!(words(&refused), (OutcomeKind::Rejected, "not that".to_owned()));
    }
    host.stop().await;
}

#[tokio::test]
async fn without_a_reviewer_only_what_a_person_asked_for_runs() {
    let (host, _home) = alone(|options| options).await;
    let given = json!({"text": "hello"});
    let person = host.call_for_content(&Caller::person(), "builtin", "echo", &given).await;
    assert!(person.is_ok(), "{person:?}");
    let program = host.call_for_content(&Caller::program("p"), "builtin", "echo", &given).await;
    assert_eq!(program.unwrap_err().outcome().unwrap().kind, OutcomeKind::Denied);
    host.stop().await;
}

#[tokio::test]
async fn a_function_replies_to_what_servers_ask() {
    for era in ["legacy", "modern"] {
        let home = Home::new();
        let entry = json!({"command": binary(), "args": ["echo", "--era", era]});
        let file = home.write("servers.json", json!({"mcpServers": {"it": entry}}).to_string());
        let options = Options::standalone(home.path().join("state")).with_file(file);
        let options = options.with_asker(|ask: &Ask| match &ask.kind {
            AskKind::Form(_) => {
                let content = Map::from_iter([("answer".to_owned(), json!(ask.message))]);
                AskReply::Accept(Some(content))
            }
            AskKind::Url(_) | AskKind::Sampling(_) => AskReply::Decline,
        });
        let host = Host::start(options).unwrap();
        host.wait_settled(None).await;
        let given = json!({"question": "Which?"});
        let reply = host.call_for_content(&Caller::person(), "it", "ask", &given).await;
        assert_eq!(reply.unwrap().items, [Item::Text("Which?".to_owned())], "{era}");
        host.stop().await;
    }
}

#[tokio::test]
async fn what_waits_is_answered_through_the_host() {
    let (host, _home) = alone(|options| options.with_reviewer(Patient)).await;
    let calling = host.clone();
    let call = tokio::spawn(async move {
        let given = json!({"text": "hello"});
        calling.call_for_content(&Caller::model("m"), "builtin", "echo", &given).await
    });
    let mut watch = host.reviews().watch();
    let entry = loop {
        let waiting = timeout(Duration::from_secs(20), watch.next_change()).await.unwrap().unwrap();
        if let Some(entry) = waiting.into_iter().next() {
            break entry;
        }
    };
    let wrong = host.answer(&entry, UserDecision::Decline, "test").await;
    assert!(wrong.is_err(), "a question about a call is not declined");
    host.answer(&entry, UserDecision::Run, "test").await.unwrap();
    assert_eq!(call.await.unwrap().unwrap().items, [Item::Text("hello".to_owned())]);
    host.stop().await;
}

/// A reviewer that leaves the decision to the review queue.
struct Patient;

impl switchboard_host::Reviewer for Patient {
    fn ask<'a>(&'a self, _question: &'a Question) -> switchboard_host::ReviewFuture<'a> {
        Box::pin(std::future::pending())
    }
}

fn counting() -> InProcess {
    let schema = json!({
        "type": "object", "properties": {"by": {"type": "integer"}}, "required": ["by"],
        "additionalProperties": false,
    });
    let total = Arc::new(Mutex::new(0));
    InProcess::new("counter", "1").with_tool("add", "Counts.", schema, move |given: Value| {
        let total = Arc::clone(&total);
        async move {
            let by = given["by"].as_i64().ok_or("no number")?;
            if by == 0 {
                return Err("that changes nothing".to_owned());
            }
            let mut total = total.lock().unwrap();
            *total += by;
            Ok(json!({ "total": *total }))
        }
    })
}

#[tokio::test]
async fn a_server_of_the_program_takes_the_line_like_any_other() {
    let (host, home) = alone(|options| options.with_server("counter", counting()).unwrap()).await;
    let person = Caller::person();
    let add = async |caller: &Caller, given: Value| -> Result<Value, CallError> {
        host.call_for(caller, "counter", "add", &given).await
    };
    assert_eq!(add(&person, json!({"by": 2})).await, Ok(json!({"total": 2})));
    assert_eq!(add(&person, json!({"by": 3})).await, Ok(json!({"total": 5})));
    let failed = add(&person, json!({"by": 0})).await.unwrap_err();
    assert!(failed.to_string().ends_with("tool_error: that changes nothing"), "{failed}");
    for (caller, given, outcome) in [
        (person, json!({"by": "x"}), OutcomeKind::NotSent),
        (Caller::model("m"), json!({"by": 1}), OutcomeKind::Denied),
    ] {
        let refused = add(&caller, given).await.unwrap_err();
        assert_eq!(refused.outcome().unwrap().kind, outcome, "{refused}");
    }
    let calls = host.ledger().list(Filter::default()).await.unwrap();
    let outcomes: Vec<&str> =
        calls.iter().rev().map(|call| call.outcome.unwrap().as_str()).collect();
    assert_eq!(outcomes, ["ok", "ok", "tool_error", "not_sent", "denied"]);
    host.stop().await;
    drop(home);
}

#[tokio::test]
async fn a_server_of_the_program_comes_before_one_of_a_file() {
    let home = Home::new();
    let entry = json!({"command": "/nowhere/counter"});
    let file = home.write("servers.json", json!({"mcpServers": {"counter": entry}}).to_string());
    let options = Options::standalone(home.path().join("state")).with_file(&file);
    let host = Host::start(options.with_server("counter", counting()).unwrap()).unwrap();
    host.wait_settled(None).await;
    // Also after the file was reloaded.
    let mut changes = host.config().changes();
    let other = json!({"command": "/elsewhere/counter"});
    let servers = json!({"mcpServers": {"counter": other, "more": {"command": "/nowhere/more"}}});
    home.write("servers.json", servers.to_string());
    timeout(Duration::from_secs(20), changes.changed()).await.unwrap();
    let sum: Value =
        host.call_for(&Caller::person(), "counter", "add", &json!({"by": 1})).await.unwrap();
    assert_eq!(sum, json!({"total": 1}));
    host.stop().await;
}

#[tokio::test]
async fn two_hosts_in_one_process_know_nothing_of_each_other() {
    let with = |options: Options| options.with_server("counter", counting()).unwrap();
    let ((one, _first), (two, _second)) = (alone(with).await, alone(with).await);
    let mut events = two.events().watch();
    let sum: Value =
        one.call_for(&Caller::person(), "counter", "add", &json!({"by": 9})).await.unwrap();
    assert_eq!(sum, json!({"total": 9}));
    let sum: Value =
        two.call_for(&Caller::person(), "counter", "add", &json!({"by": 1})).await.unwrap();
    assert_eq!(sum, json!({"total": 1}));
    one.stop().await;
    let again = two.call_for::<Value>(&Caller::person(), "counter", "add", &json!({"by": 1})).await;
    assert_eq!(again.unwrap(), json!({"total": 2}));
    assert_eq!(two.ledger().list(Filter::default()).await.unwrap().len(), 2);
    let mut finished = 0;
    while let Ok(event) = events.try_recv() {
        finished += usize::from(matches!(event.what, EventKind::CallFinished { .. }));
    }
    assert_eq!(finished, 2);
    two.stop().await;
}

#[tokio::test]
async fn without_a_record_no_call_is_left_in_the_folder() {
    for (record, is_kept) in [(Recording::Off, false), (Recording::On, true)] {
        let home = Home::new();
        let state = home.path().join("state");
        let host = Host::start(Options { record, ..Options::standalone(&state) }).unwrap();
        host.wait_settled(None).await;
        let reply = host.call_for_content(&Caller::person(), "builtin", "time_now", &()).await;
        assert!(reply.is_ok(), "{reply:?}");
        host.stop().await;
        assert_eq!(ledger_file(&state).exists(), is_kept, "{record:?}");
    }
}
