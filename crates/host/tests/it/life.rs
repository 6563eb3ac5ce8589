//! Servers over time: changed, added, removed, several instances of one, and stand-ins.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_catalog::ServerStatus;
use switchboard_host::{Caller, Host, OutcomeKind, ProposedCall};
use switchboard_testkit::Home;
use switchboard_wire::Json;

use crate::stage::{Play, SERVER, Stage, eventually, fixture, options, text, write_config};

fn servers(entries: &[(&str, Value)]) -> Map<String, Value> {
    entries.iter().map(|(name, entry)| ((*name).to_owned(), entry.clone())).collect()
}

fn echo(home: &Home) -> Value {
    fixture(home, &["echo"], 10)
}

async fn pid_of(play: &Play, server: &str) -> String {
    let record = play.call_on(&play.host.lease(), server, "pid", &json!({})).await;
    assert_eq!(record.outcome.kind, OutcomeKind::Ok, "{:?}", record.outcome);
    text(&record)
}

#[tokio::test]
async fn a_changed_file_restarts_only_what_changed() {
    let play = Stage::new();
    let home = &play.home;
    let kept = "kept";
    let entry = echo(home);
    let play = play.with(kept, entry.clone()).with("changed", entry.clone()).with("gone", entry);
    let play = play.ready().await;
    let kept_pid = pid_of(&play, kept).await;
    let changed_pid = pid_of(&play, "changed").await;

    let entry = echo(&play.home);
    let mut other = entry.clone();
    other["env"] = json!({"CHANGED": "yes"});
    let mut longer = entry.clone();
    longer["timeout"] = json!(20);
    let now = servers(&[(kept, longer), ("changed", other), ("added", entry)]);
    write_config(&play.home, &now);
    play.until("the file is obeyed", |fleet| {
        let ready = |name: &str| {
            fleet.servers.get(name).is_some_and(|server| server.status == ServerStatus::Ready)
        };
        ready("added") && ready("changed") && !fleet.servers.contains_key("gone")
    })
    .await;
    assert_eq!(pid_of(&play, kept).await, kept_pid, "a longer timeout needs no restart");
    assert_ne!(pid_of(&play, "changed").await, changed_pid);
    pid_of(&play, "added").await;

    // A truncated file is not a configuration: nothing changes.
    play.home.write("config.json", "{\"mcpServers\": {\"ke");
    let mut events = play.host.events().watch();
    events.recv().await.unwrap();
    assert_eq!(pid_of(&play, kept).await, kept_pid);
    play.stop().await;
}

#[tokio::test]
async fn a_call_in_flight_ends_on_the_connection_it_began_on() {
    let play = Stage::new();
    let entry = echo(&play.home);
    let play = play.with(SERVER, entry.clone()).ready().await;
    let host = play.host.clone();
    let lease = play.host.lease();
    let slow = tokio::spawn(async move {
        let arguments = Json::from(&json!({"ms": 1500}));
        let proposed = ProposedCall::tool(SERVER, "slow", arguments);
        host.call(&lease, proposed, &Caller::person()).await
    });
    let arrived = async || play.received("tools/call") == 1;
    eventually("the call arrives", Duration::from_secs(10), arrived).await;
    let before = play.started().len();
    let mut other = entry;
    other["env"] = json!({"CHANGED": "yes"});
    write_config(&play.home, &servers(&[(SERVER, other)]));
    let record = slow.await.unwrap();
    assert_eq!(record.outcome.kind, OutcomeKind::Ok, "{:?}", record.outcome);
    play.until_status("it is ready again", |status| *status == ServerStatus::Ready).await;
    pid_of(&play, SERVER).await;
    assert!(play.started().len() > before, "the changed server was started anew");
    play.stop().await;
}

#[tokio::test]
async fn a_tool_that_appears_while_we_run_is_found_and_held() {
    let play = Stage::new();
    let entry = echo(&play.home);
    let play = play.with(SERVER, entry).ready().await;
    let before = play.server(SERVER).offers.tools.len();
    play.call("grow", json!({})).await;
    let mut held = play.host.quarantine().changes();
    while !held.load().servers.contains_key(SERVER) {
        tokio::time::timeout(Duration::from_secs(20), held.changed()).await.expect("it is held");
    }
    let names: Vec<String> =
        held.load().servers[SERVER].hidden.iter().map(|(_, name)| name.clone()).collect();
    assert_eq!(names, ["grown_1"]);
    assert_eq!(play.server(SERVER).offers.tools.len(), before);
    play.stop().await;
}

#[tokio::test]
async fn long_lists_are_gathered_from_all_their_pages() {
    let words = ["echo", "--tools", "500", "--page-size", "7"];
    let play = Stage::new().fixture(SERVER, &words, 10).ready().await;
    let server = play.server(SERVER);
    assert!(server.offers.tools.len() >= 500, "{:?}", server.offers.faults);
    assert!(server.offers.tool("tool_0500").is_some());
    play.stop().await;
}

#[tokio::test]
async fn calls_spread_over_instances_and_leave_out_a_dead_one() {
    let play = Stage::new();
    let mut entry = echo(&play.home);
    entry["instances"] = json!(3);
    let play = play.with(SERVER, entry).ready().await;
    play.until("all instances are ready", |fleet| {
        fleet.servers[SERVER].instances.iter().all(|one| one.status == ServerStatus::Ready)
    })
    .await;
    let lease = play.host.lease();
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let host = play.host.clone();
            let lease = lease.clone();
            tokio::spawn(async move {
                let slow = ProposedCall::tool(SERVER, "slow", Json::from(&json!({"ms": 300})));
                host.call(&lease, slow, &Caller::person()).await
            })
        })
        .collect();
    let mut instances = BTreeSet::new();
    for call in calls {
        let record = call.await.unwrap();
        instances.insert(play.full(&record).await.instance);
    }
    assert_eq!(instances.len(), 3, "three calls at once went to three instances: {instances:?}");

    play.server(SERVER).instances[0].peer.as_ref().unwrap().close("killed by the test");
    let record = play.call("echo", json!({"text": "still there"})).await;
    assert_eq!(record.outcome.kind, OutcomeKind::Ok);
    assert_ne!(play.full(&record).await.instance.as_deref(), Some("flaky#0"));
    play.stop().await;
}

#[tokio::test]
async fn a_stand_in_takes_a_call_that_provably_did_not_run() {
    let play = Stage::new();
    let mut broken = json!({"command": "no-such-program-anywhere"});
    broken["fallback"] = json!("well");
    let entry = echo(&play.home);
    let play = play.with("well", entry).with(SERVER, broken).start();
    play.host.wait_settled(None).await;
    let record = play.call("echo", json!({"text": "hello"})).await;
    assert_eq!(record.outcome.kind, OutcomeKind::Ok, "{:?}", record.outcome);
    let full = play.full(&record).await;
    assert_eq!(full.instance.as_deref(), Some("well#0"));
    assert!(full.fallback.unwrap().contains("`well/echo` instead of `flaky/echo`"));

    let unknown = play.call_on(&play.host.lease(), "well", "ehco", &json!({})).await;
    assert_eq!(unknown.outcome.hint.as_deref(), Some("did you mean `echo`?"));
    play.stop().await;
}

#[tokio::test]
async fn a_server_sees_only_the_environment_that_it_is_given() {
    let play = Stage::new();
    let mut entry = echo(&play.home);
    entry["env"] = json!({"GIVEN": "yes", "PATH": "/nowhere"});
    let stage = play.with(SERVER, entry);
    let config = stage.write_config();
    let mut options = options(stage.home.path(), config, false, Duration::from_secs(30));
    options.environment.variables.insert("AWS_SECRET_ACCESS_KEY".to_owned(), "hidden".to_owned());
    let play = Play { host: Host::start(options).unwrap(), home: stage.home };
    play.settled(SERVER).await;
    let record = play.call("environment", json!({})).await;
    let seen: BTreeMap<String, String> = serde_json::from_str(&text(&record)).unwrap();
    let names: Vec<&str> = seen.keys().map(String::as_str).collect();
    assert_eq!(names, ["GIVEN", "PATH"]);
    assert_eq!(seen["PATH"], "/nowhere", "what the entry says comes before what we have");
    play.stop().await;
}

/// A server that announces each tool separately is not listed once per announcement.
#[tokio::test]
async fn announcements_are_gathered_and_not_put_off_for_ever() {
    const GROWN: usize = 25;
    let play = Stage::new().fixture(SERVER, &["echo", "--era", "legacy"], 10).ready().await;
    let before = play.received("tools/list");
    let hidden = || {
        let held = play.host.quarantine().load();
        held.servers.get(SERVER).map_or(0, |server| server.hidden.len())
    };
    let begun = tokio::time::Instant::now();
    let mut first = None;
    for _ in 0..GROWN {
        play.call("grow", json!({})).await;
        // More often than the debounce interval of a list.
        tokio::time::sleep(Duration::from_millis(120)).await;
        if first.is_none() && play.received("tools/list") > before {
            first = Some(begun.elapsed());
        }
    }
    let first = first.expect("it was listed although the announcements went on");
    assert!(first > Duration::from_millis(300), "not at once: {first:?}");
    eventually("all of them are known", Duration::from_secs(10), async || hidden() == GROWN).await;
    let listed = play.received("tools/list") - before;
    assert!(listed <= GROWN / 4, "{listed} lists for {GROWN} announcements");
    play.stop().await;
}

#[tokio::test]
async fn a_list_that_fails_keeps_the_one_before_and_is_told() {
    let words = ["flaky", "--fault", "status", "--status", "500", "--on", "tools/list"];
    let always = [&words[..], &["--after", "2", "--times", "always"]].concat();
    let (stage, _fixture) = Stage::new().web(&always, 10);
    let play = stage.ready().await;
    let before = play.server(SERVER).offers.tools.len();
    assert!(before > 1);
    play.call("grow", json!({})).await;
    play.until("the failure is told", |fleet| {
        fleet.servers[SERVER].offers.faults.iter().any(|fault| fault.contains("listing failed"))
    })
    .await;
    assert_eq!(play.server(SERVER).offers.tools.len(), before);
    assert_eq!(play.status(), ServerStatus::Ready);
    play.stop().await;
}

/// Each side writes more than a pipe holds before it reads.
#[tokio::test]
async fn large_calls_in_both_directions_at_once_do_not_block_each_other() {
    let play = Stage::new().fixture(SERVER, &["echo"], 20).ready().await;
    let large: Vec<String> = (0..16).map(|number| number.to_string().repeat(700_000)).collect();
    let calls = large.iter().map(|text| play.call("echo", json!({ "text": text })));
    for (record, sent) in futures_util::future::join_all(calls).await.iter().zip(&large) {
        assert_eq!(record.outcome.kind, OutcomeKind::Ok, "{:?}", record.outcome.message);
        assert!(text(record) == *sent, "another text came back");
    }
    play.stop().await;
}
