//! Hooks from the perspective of an embedding program: events, and calls that continue as tasks.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_config::Places;
use switchboard_core::EventKind;
use switchboard_host::{CallOptions, Caller, Host, Options, OutcomeKind, ProposedCall, TaskMode};
use switchboard_wire::Json;

use crate::stage::{Play, SERVER, Stage, options};

/// Starts a host whose user has these hooks, as scripts.
async fn play(before: &str, after: &str) -> Play {
    let stage = Stage::new().fixture(SERVER, &["echo", "--tasks"], 20);
    for (name, text) in [("before.sh", before), ("after.sh", after)] {
        let path = stage.home.write(name, format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let hooks: Value = json!({
        "beforeMCPExecution": [{"command": "./before.sh"}],
        "afterMCPExecution": [{"command": "./after.sh"}],
    });
    stage.home.write("hooks.json", json!({ "hooks": hooks }).to_string());
    let config = stage.write_config();
    let start_limit = std::time::Duration::from_secs(30);
    let usual = options(stage.home.path(), config, true, start_limit);
    let own = Some(stage.home.path().to_owned());
    let options = Options { places: Places { user_folder: own, ..usual.places.clone() }, ..usual };
    let host = Host::start(options).unwrap();
    host.wait_settled(None).await;
    Play { home: stage.home, host }
}

const ALLOW: &str = r#"echo '{"permission":"allow"}'"#;

#[tokio::test]
async fn every_hook_that_ran_is_told_as_an_event() {
    let play = play(ALLOW, "echo broken >&2; exit 7").await;
    let mut events = play.host.events().watch();
    let record = play.write("a").await;
    assert_eq!(record.outcome.kind, OutcomeKind::Ok);
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let EventKind::HookRan { call, hook, level, when, answer, problem, .. } = event.what {
            assert_eq!(Some(call), record.id.map(|id| id.to_string()));
            told.push(format!("{hook} {level} {when} {answer} {problem:?}"));
        }
    }
    let failed = r#"Some("ended with exit status 7: broken")"#;
    assert_eq!(
        told,
        [
            "./before.sh user beforeMCPExecution allow None".to_owned(),
            format!("./after.sh user afterMCPExecution error {failed}"),
        ]
    );
    play.stop().await;
}

#[tokio::test]
async fn without_hooks_a_call_has_nothing_to_do_with_them() {
    let play = Stage::new().fixture(SERVER, &["echo"], 20).ready().await;
    assert!(play.host.hooks().is_idle());
    let mut events = play.host.events().watch();
    let record = play.write("a").await;
    assert_eq!(record.verdict.map(|(_, by)| by), Some(Arc::from("a person typed it")));
    while let Ok(event) = events.try_recv() {
        assert!(!matches!(event.what, EventKind::HookRan { .. }), "{event:?}");
    }
    play.stop().await;
}

#[tokio::test]
async fn a_call_that_went_on_as_a_task_is_told_of_when_it_ends() {
    let play = play(ALLOW, "cat > after.json").await;
    let attention = CallOptions { task_mode: TaskMode::Detach, ..CallOptions::default() };
    let proposed = ProposedCall::tool(SERVER, "research", Json::from(&json!({"ms": 300})));
    let lease = play.host.lease();
    let caller = Caller::person();
    let left = play.host.call_with(&lease, proposed, &caller, &attention).await;
    assert!(left.outcome.is_running(), "{left:?}");
    let file = play.home.path().join("after.json");
    assert!(!file.exists(), "it was told of before it ended");
    let ended = play.host.tasks().finish(left.id.unwrap(), &CallOptions::default()).await.unwrap();
    assert_eq!(ended.outcome.kind, OutcomeKind::Ok, "{ended:?}");
    let input: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(input["tool_name"], "research");
    assert_eq!(input["tool_input"], r#"{"ms":300}"#);
    let result: Value = serde_json::from_slice(&ended.outcome.result.unwrap()).unwrap();
    let told: Value = serde_json::from_str(input["result_json"].as_str().unwrap()).unwrap();
    assert_eq!(told, result);
    play.stop().await;
}
