//! F12 to F16: no process that a server started is left behind, however the server or the host
//! ends.

use std::time::Instant;

use switchboard_catalog::ServerStatus;

use crate::another_process::AnotherProcess;
use crate::processes::{GONE, gone, is_alive, kill};
use crate::stage::{Play, SERVER, Stage, eventually};

/// Returns the server's process and its children.
async fn family(play: &Play) -> Vec<u32> {
    eventually("the grandchild runs", GONE, async || grandchildren(play).len() == 1).await;
    let family = [play.started(), grandchildren(play)].concat();
    assert!(family.iter().all(|pid| is_alive(*pid)), "{family:?}");
    family
}

fn grandchildren(play: &Play) -> Vec<u32> {
    let lines = play.home.journal_lines();
    lines.iter().filter_map(|line| line.strip_prefix("grandchild ")?.parse().ok()).collect()
}

async fn goes_with_the_host(fault: &str) {
    let play = Stage::new().flaky(&[fault], 5).kept().ready().await;
    let family = family(&play).await;
    let begun = Instant::now();
    let _home = play.stop().await;
    gone(&family, GONE.saturating_sub(begun.elapsed())).await;
}

async fn goes_with_the_server(fault: &str) {
    let play = Stage::new().flaky(&[fault], 5).kept().ready().await;
    let family = family(&play).await;
    kill(family[0]);
    gone(&family, GONE).await;
    play.until_status("another one runs", |status| *status == ServerStatus::Ready).await;
    play.stop().await;
}

#[tokio::test]
async fn f12_a_server_that_ignores_every_request_to_end_is_ended_within_five_seconds() {
    let ends = async |kept: bool| {
        let stage = Stage::new().flaky(&["ignore-term"], 5);
        let play = if kept { stage.kept() } else { stage }.ready().await;
        let pids = play.started();
        assert!(is_alive(pids[0]));
        let begun = Instant::now();
        let _home = play.stop().await;
        assert!(begun.elapsed() < GONE, "kept: {kept}, stopping took {:?}", begun.elapsed());
        gone(&pids, GONE.saturating_sub(begun.elapsed())).await;
    };
    tokio::join!(ends(false), ends(true));
}

#[tokio::test]
async fn f13_what_a_server_started_goes_when_the_host_stops() {
    goes_with_the_host("grandchild").await;
}

#[tokio::test]
async fn f13_what_a_server_started_goes_when_the_server_crashes() {
    goes_with_the_server("grandchild").await;
}

#[tokio::test]
async fn f14_what_left_the_process_group_goes_when_the_host_stops() {
    goes_with_the_host("grandchild-setsid").await;
}

#[tokio::test]
async fn f14_what_left_the_process_group_goes_when_the_server_crashes() {
    goes_with_the_server("grandchild-setsid").await;
}

#[tokio::test]
async fn f16_nothing_survives_a_host_that_was_killed() {
    let stage = Stage::new()
        .fixture("stubborn", &["flaky", "--fault", "ignore-term"], 5)
        .fixture("parent", &["flaky", "--fault", "grandchild"], 5)
        .fixture("leaver", &["flaky", "--fault", "grandchild-setsid"], 5);
    let mut host = AnotherProcess::start(&stage, 0);
    assert_eq!(host.hear(), "ready");
    let lines = stage.home.journal_lines();
    let children = lines.iter().filter_map(|line| line.strip_prefix("grandchild ")?.parse().ok());
    let family: Vec<u32> = children.chain(stage.started()).collect();
    assert_eq!(family.iter().filter(|pid| is_alive(**pid)).count(), 5, "{family:?}");
    kill(host.pid());
    gone(&family, GONE).await;
}

/// A start that is interrupted by the kill leaves nothing behind either.
#[tokio::test]
async fn f16_nothing_survives_a_host_that_was_killed_while_a_server_starts() {
    let slow = ["flaky", "--fault", "slow-start", "--pause-ms", "25000"];
    let stage = Stage::new().fixture(SERVER, &slow, 5);
    let host = AnotherProcess::start(&stage, 0);
    eventually("the server runs", GONE, async || !stage.started().is_empty()).await;
    let family = stage.started();
    kill(host.pid());
    gone(&family, GONE).await;
}
