//! Every revision over every transport that has it: negotiated, used, remembered.

use std::time::Duration;

use serde_json::json;
use switchboard_host::no_arguments;
use switchboard_host::{Caller, Host, OutcomeKind, ProposedCall};
use switchboard_wire::Json;

use crate::stage::{Play, SERVER, Stage, options};

/// Uses a tool, a resource, a template and a prompt.
async fn everything_works(play: &Play, revision: &str) {
    let server = play.server(SERVER);
    let agreed = server.agreement.as_ref().map(|agreement| agreement.revision.as_str());
    assert_eq!(agreed, Some(revision));
    let lease = play.host.lease();
    let sum = play.call("add", json!({"a": 19, "b": 23})).await;
    assert_eq!(sum.outcome.kind, OutcomeKind::Ok, "{:?}", sum.outcome);
    assert!(String::from_utf8_lossy(&sum.outcome.result.unwrap()).contains("42"));
    for proposed in [
        ProposedCall::resource(SERVER, "test://static-text"),
        ProposedCall::resource(SERVER, "test://static-binary"),
        ProposedCall::resource(SERVER, "test://template/7"),
        ProposedCall::prompt(SERVER, "greet", Json::from(&json!({"name": "Ada"}))),
        ProposedCall::tool(SERVER, "content", no_arguments()),
    ] {
        let target = proposed.target.clone();
        let record = play.host.call(&lease, proposed, &Caller::person()).await;
        assert_eq!(record.outcome.kind, OutcomeKind::Ok, "{target}: {:?}", record.outcome);
    }
    let failed = play.call("fail", json!({"message": "no"})).await;
    assert_eq!(failed.outcome.kind, OutcomeKind::ToolError);
}

#[tokio::test]
async fn every_revision_is_spoken_over_a_pipe() {
    for (era, revision) in [
        ("legacy", "2024-11-05"),
        ("legacy", "2025-03-26"),
        ("legacy", "2025-06-18"),
        ("legacy", "2025-11-25"),
        ("modern", "2026-07-28"),
        ("dual", "2026-07-28"),
    ] {
        let mut words = vec!["echo", "--era", era];
        if era == "legacy" {
            words.extend(["--revision", revision]);
        }
        let play = Stage::new().fixture(SERVER, &words, 10).ready().await;
        everything_works(&play, revision).await;
        play.stop().await;
    }
}

#[tokio::test]
async fn every_revision_is_spoken_over_streamable_http() {
    for (era, revision, answers) in [
        ("legacy", "2025-03-26", None),
        ("legacy", "2025-06-18", Some("--sse-answers")),
        ("legacy", "2025-11-25", Some("--no-get-stream")),
        ("modern", "2026-07-28", None),
        ("modern", "2026-07-28", Some("--sse-answers")),
        ("dual", "2026-07-28", None),
    ] {
        let mut words = vec!["echo", "--era", era];
        if era == "legacy" {
            words.extend(["--revision", revision]);
        }
        words.extend(answers);
        let (stage, _fixture) = Stage::new().web(&words, 10);
        let play = stage.ready().await;
        everything_works(&play, revision).await;
        play.stop().await;
    }
}

#[tokio::test]
async fn the_older_transport_is_found_where_the_newer_one_is_not() {
    for kind in [json!(null), json!("sse")] {
        let stage = Stage::new();
        let words = ["echo", "--transport", "sse", "--era", "legacy", "--revision", "2024-11-05"];
        let fixture = stage.listening(&words);
        let mut entry = json!({"url": fixture.url, "timeout": 10});
        if !kind.is_null() {
            entry["type"] = kind;
        }
        let play = stage.with(SERVER, entry).ready().await;
        everything_works(&play, "2024-11-05").await;
        play.stop().await;
    }
}

#[tokio::test]
async fn what_was_learnt_of_a_server_spares_the_probe_next_time() {
    let words = ["echo", "--era", "legacy", "--revision", "2025-06-18"];
    let stage = Stage::new().fixture(SERVER, &words, 10);
    let config = stage.write_config();
    let first = stage.ready().await;
    assert_eq!(first.received("server/discover"), 1);
    let home = first.stop().await;
    let again = options(home.path(), config, false, Duration::from_secs(30));
    let second = Play { host: Host::start(again).unwrap(), home };
    second.settled(SERVER).await;
    everything_works(&second, "2025-06-18").await;
    assert_eq!(second.received("server/discover"), 1, "it was asked once and for all");
    second.stop().await;
}
