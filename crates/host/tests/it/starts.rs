//! F01 to F04: servers that fail to start, or start slowly.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_catalog::ServerStatus;
use switchboard_fleet::SupervisorCommand;
use switchboard_host::OutcomeKind;

use crate::processes::{GONE, gone};
use crate::stage::{Play, SERVER, Stage, eventually, id, message, words};

const SECOND: Duration = Duration::from_secs(1);

/// Fails unless a call to a server that never came up fails at once, unsent.
async fn calls_fail_at_once(play: &Play) {
    let record = play.write("never").await;
    assert_eq!(words(&record), (OutcomeKind::NotSent, Some("not_ready")), "{record:?}");
    assert!(message(&record).contains(play.status().word()), "the state is told: {record:?}");
    assert!(record.duration < Duration::from_millis(100), "it took {:?}", record.duration);
    assert_eq!(play.full(&record).await.attempts, 0);
}

fn wait_of(status: &ServerStatus) -> Duration {
    match status {
        ServerStatus::Waiting { until, .. } => until.saturating_duration_since(Instant::now()),
        other => panic!("it does not wait to be tried again: {other:?}"),
    }
}

#[tokio::test]
async fn f01_a_command_that_cannot_be_run_fails_within_a_second_and_says_why() {
    let stage = Stage::new();
    let plain = stage.home.write("plain.sh", "#!/bin/sh\n");
    let garbage = stage.home.write("garbage", [0x7f, b'E', b'L', b'F', 0, 0, 0, 0]);
    std::fs::set_permissions(&garbage, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cases = [
        (json!("no-such-program-anywhere"), "was not found on PATH"),
        (json!("/no/such/folder/program"), "program `/no/such/folder/program` not found"),
        (json!(plain), "is not executable"),
        (json!(garbage), "Exec format error"),
    ];
    for (command, why) in cases {
        for kept in [false, true] {
            let stage = Stage::new().with(SERVER, json!({"command": command}));
            let begun = Instant::now();
            let play = if kept { stage.kept() } else { stage }.start();
            play.settled(SERVER).await;
            assert!(begun.elapsed() < SECOND, "{command} took {:?}", begun.elapsed());
            let status = play.status();
            let failure = status.failure().unwrap_or_else(|| panic!("{command}: {status:?}"));
            let told = format!("{} {}", failure.message, failure.stderr.join(" "));
            assert!(told.contains(why), "{command}, kept: {kept}: {failure:?}");
            assert!(wait_of(&status) > Duration::from_millis(500), "no storm: {status:?}");
            calls_fail_at_once(&play).await;
            play.stop().await;
        }
    }
}

#[tokio::test]
async fn f02_an_end_before_the_handshake_is_told_with_its_exit_and_its_last_words() {
    let cases: [(&[&str], &str); 3] = [
        (&["exit-at-start", "--code", "0"], "exit status 0"),
        (&["exit-at-start", "--code", "3"], "exit status 3"),
        (&["abort-at-start"], "killed by signal 6"),
    ];
    for (fault, exit) in cases {
        for kept in [false, true] {
            let words = [&["flaky", "--fault"], fault].concat();
            let stage = Stage::new().fixture(SERVER, &words, 1);
            let play = if kept { stage.kept() } else { stage }.start();
            play.settled(SERVER).await;
            let status = play.status();
            let failure = status.failure().unwrap_or_else(|| panic!("{fault:?}: {status:?}"));
            assert_eq!(
                (failure.exit.as_deref(), &failure.stderr[..]),
                (Some(exit), &["boom".to_owned()][..]),
                "{failure:?}"
            );
            calls_fail_at_once(&play).await;
            play.stop().await;
        }
    }
}

#[tokio::test]
async fn f02_a_server_that_does_not_start_is_tried_again_ever_more_slowly() {
    let stage = Stage::new().fixture(SERVER, &["flaky", "--fault", "exit-at-start"], 1);
    let play = stage.start();
    play.settled(SERVER).await;
    let first = wait_of(&play.status());
    let started = play.started().len();
    play.until_status("it is tried again", |status| *status == ServerStatus::Starting).await;
    play.settled(SERVER).await;
    let second = wait_of(&play.status());
    let between = |wait: Duration, low: u64, high: u64| {
        (Duration::from_millis(low)..=Duration::from_millis(high)).contains(&wait)
    };
    assert!(between(first, 500, 1_000), "the first wait is {first:?}");
    assert!(between(second, 1_300, 2_000), "the second wait is {second:?}");
    assert!(play.started().len() > started, "it was started again");
    play.stop().await;
}

#[tokio::test]
async fn f03_a_slow_start_holds_up_nobody_else() {
    let begun = Instant::now();
    let slow = ["flaky", "--fault", "slow-start", "--pause-ms", "25000"];
    let play = Stage::new().fixture(SERVER, &slow, 1).fixture("well", &["echo"], 5).start();
    play.settled("well").await;
    let arguments = json!({"key": "at-once"});
    let record = play.call_on(&play.host.lease(), "well", "write", &arguments).await;
    assert_eq!((words(&record), play.effects("at-once")), ((OutcomeKind::Ok, None), 1));
    assert!(begun.elapsed() < 2 * SECOND, "it took {:?}", begun.elapsed());
    assert_eq!(play.status(), ServerStatus::Starting);
    calls_fail_at_once(&play).await;
    play.stop().await;
}

#[tokio::test]
async fn f03_a_call_waits_for_a_server_that_starts_again_but_not_for_ever() {
    let stage = Stage::new().start_limit(2 * SECOND);
    // The file means that the fault has occurred already.
    let struck = stage.home.write("struck", "");
    let play = stage.flaky(&["slow-start", "--pause-ms", "25000"], 5).ready().await;
    let lease = play.host.lease();
    std::fs::remove_file(struck).unwrap();
    play.host.command(SupervisorCommand::Restart(id(SERVER))).await;
    play.until_status("it starts again", |status| *status == ServerStatus::Starting).await;
    let record = play.call_on(&lease, SERVER, "write", &json!({"key": "late"})).await;
    assert_eq!(words(&record), (OutcomeKind::NotSent, Some("not_ready")), "{record:?}");
    assert!(record.duration >= 2 * SECOND, "it took {:?}", record.duration);
    assert!(record.duration < 3 * SECOND, "it took {:?}", record.duration);
    play.stop().await;
}

/// Stops a host while its server starts; nothing of that server may be left.
async fn goes_while_it_starts(stage: Stage) {
    let slow = ["flaky", "--fault", "slow-start", "--pause-ms", "25000"];
    let play = stage.fixture(SERVER, &slow, 1).start();
    eventually("the process runs", GONE, async || !play.started().is_empty()).await;
    let pids = play.started();
    let begun = Instant::now();
    let _home = play.stop().await;
    gone(&pids, GONE.saturating_sub(begun.elapsed())).await;
}

#[tokio::test]
async fn f03_a_server_that_is_still_starting_goes_when_the_host_stops() {
    goes_while_it_starts(Stage::new()).await;
}

#[tokio::test]
async fn f03_a_kept_server_that_is_still_starting_goes_when_the_host_stops() {
    goes_while_it_starts(Stage::new().kept()).await;
}

#[tokio::test]
async fn f04_a_server_that_never_answers_is_given_up_in_time() {
    let limit = 4 * SECOND;
    let silent = ["flaky", "--fault", "silent-start"];
    let play = Stage::new().start_limit(limit).fixture(SERVER, &silent, 1).start();
    let begun = Instant::now();
    play.until_status("it is given up", ServerStatus::is_settled).await;
    // The probe has three seconds in addition to the handshake's budget; ending the process takes
    // time too.
    let allowed = limit + 3 * SECOND + 2 * SECOND;
    assert!(begun.elapsed() < allowed, "it took {:?}", begun.elapsed());
    let status = play.status();
    assert!(status.failure().unwrap().message.contains("no answer within"), "{status:?}");
    calls_fail_at_once(&play).await;
    play.stop().await;
}

#[tokio::test]
async fn f04_a_probe_without_an_answer_leaves_time_for_the_handshake() {
    let meet = async |fault: &str| {
        let begun = Instant::now();
        let play = Stage::new().fixture(SERVER, &["flaky", "--fault", fault], 20).ready().await;
        assert!(begun.elapsed() < 6 * SECOND, "{fault} took {:?}", begun.elapsed());
        let record = play.write("after").await;
        assert_eq!((words(&record), play.effects("after")), ((OutcomeKind::Ok, None), 1));
        play.stop().await;
    };
    tokio::join!(meet("probe-silent"), meet("probe-exit"), meet("probe-nonsense"));
}

/// The fault of rmcp: the late answer to the probe ended the start of a slow server.
#[tokio::test]
async fn rmcp_a_legacy_server_that_starts_slowly_is_usable() {
    let slow = ["flaky", "--fault", "slow-start", "--pause-ms", "4000", "--era", "legacy"];
    let play = Stage::new().fixture(SERVER, &slow, 5).ready().await;
    let record = play.write("after").await;
    assert_eq!((words(&record), play.effects("after")), ((OutcomeKind::Ok, None), 1));
    play.stop().await;
}

#[tokio::test]
async fn rmcp_a_late_answer_to_the_probe_is_taken_for_nothing_else() {
    let late = ["flaky", "--fault", "late-probe", "--pause-ms", "3500"];
    let play = Stage::new().fixture(SERVER, &late, 5).ready().await;
    let peer = play.peer();
    eventually("the late answer came", GONE, async || peer.stats().late_answers == 1).await;
    let record = play.write("after").await;
    assert_eq!((words(&record), play.effects("after")), ((OutcomeKind::Ok, None), 1));
    play.stop().await;
}
