//! F22 to F27: framing errors and unusual framing in a server's output.

use std::time::Duration;

use serde_json::json;
use switchboard_catalog::ServerStatus;
use switchboard_host::OutcomeKind;
use switchboard_wire::{Request, WireLimits, start_stream};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::case::{ANSWERED, Case, TIMED_OUT, UNKNOWN};
use crate::stage::{SERVER, Stage, eventually, message, words};

#[tokio::test]
async fn f22_noise_before_and_between_messages_is_counted_and_ignored() {
    Case { fault: &["noise"], ..ANSWERED }.over_stdio().await;
    let play = Stage::new().flaky(&["noise", "--era", "legacy"], 5).ready().await;
    let before = play.peer().stats().noise;
    assert!(before > 0, "the banner counts");
    assert_eq!(words(&play.write("noisy").await), (OutcomeKind::Ok, None));
    assert_eq!(play.peer().stats().noise, before + 3, "and so do three lines before the answer");
    play.stop().await;
}

#[tokio::test]
async fn f22_a_flood_of_noise_ends_the_connection() {
    for record in (Case { fault: &["noise-flood"], effects: 1, ..UNKNOWN }).over_stdio().await {
        assert!(message(&record).contains("1001 lines"), "{record:?}");
        assert!(message(&record).contains("`[debug] cache miss"), "an example is told: {record:?}");
    }
}

#[tokio::test]
async fn f22_a_server_that_only_makes_noise_is_not_one() {
    let words_of_it = ["flaky", "--fault", "noise-flood", "--after", "0"];
    let play = Stage::new().fixture(SERVER, &words_of_it, 5).start();
    play.until_status("it is given up", ServerStatus::is_settled).await;
    let status = play.status();
    assert!(status.failure().unwrap().message.contains("1001 lines"), "{status:?}");
    assert_eq!(words(&play.write("never").await), (OutcomeKind::NotSent, Some("not_ready")));
    play.stop().await;
}

#[tokio::test]
async fn f23_bytes_that_are_no_text_are_noise() {
    Case { fault: &["binary-noise"], ..ANSWERED }.over_stdio().await;
}

#[tokio::test]
async fn f24_an_answer_in_two_halves_is_one_answer() {
    let case = Case { fault: &["half-pause", "--pause-ms", "700"], ..ANSWERED };
    for record in case.over_stdio().await {
        assert!(record.duration >= Duration::from_millis(700), "{record:?}");
    }
}

#[tokio::test]
async fn f25_an_answer_byte_by_byte_and_many_messages_at_once_are_understood() {
    Case { fault: &["split"], ..ANSWERED }.over_stdio().await;
    Case { fault: &["many-in-one-write"], ..ANSWERED }.over_stdio().await;
}

#[tokio::test]
async fn f25_an_answer_may_be_split_at_every_byte() {
    let filling = "é".repeat(1_000);
    let result = format!(r#"{{"text":"{filling}\n"}}"#);
    let limit = Duration::from_secs(5);
    let length = answer(1, &result).len();
    assert!(length > 2_000);
    for at in 1..length {
        let (near, far) = tokio::io::duplex(8 << 10);
        let (from, to) = tokio::io::split(near);
        let (peer, _inbound) = start_stream(from, to, WireLimits::default());
        let server = async {
            let (from, mut to) = tokio::io::split(far);
            let mut line = String::new();
            BufReader::new(from).read_line(&mut line).await.unwrap();
            let bytes = answer(1, &result);
            to.write_all(&bytes[..at]).await.unwrap();
            to.flush().await.unwrap();
            // The first half is read, and a new read has begun, before the second half arrives.
            tokio::task::yield_now().await;
            to.write_all(&bytes[at..]).await.unwrap();
            to.flush().await.unwrap();
            to
        };
        let (answered, _open) =
            tokio::join!(peer.request(Request::new("tools/call", "{}", limit)), server);
        assert_eq!(answered.unwrap().as_str(), result, "split at {at}");
    }
}

fn answer(id: u64, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes()
}

#[tokio::test]
async fn f26_other_line_ends_blank_lines_and_a_mark_at_the_start_are_accepted() {
    Case { fault: &["crlf-bom-blank"], ..ANSWERED }.over_stdio().await;
}

#[tokio::test]
async fn f26_an_answer_over_many_lines_is_none_and_nothing_is_sent_back_for_its_lines() {
    let sent_back = async {
        let play = Stage::new().flaky(&["pretty", "--era", "legacy"], 1).ready().await;
        let before = play.trace().len();
        let record = play.write("pretty").await;
        assert_eq!(words(&record), (OutcomeKind::Unknown, Some("timeout")));
        play.call("echo", json!({"text": "next"})).await;
        let bodies: Vec<_> =
            play.trace().iter().skip(before).map(|line| line["body"].to_string()).collect();
        assert_eq!(bodies.len(), 3, "the call, its cancellation, the next call: {bodies:?}");
        play.stop().await;
    };
    tokio::join!(Case { fault: &["pretty"], ..TIMED_OUT }.over_stdio(), sent_back);
}

#[tokio::test]
async fn f27_a_line_beyond_the_limit_ends_the_connection_and_every_call_on_it() {
    for record in (Case { fault: &["long-line"], ..UNKNOWN }).over_stdio().await {
        assert!(message(&record).contains("more than 8388608 bytes"), "{record:?}");
    }
    let play =
        Stage::new().flaky(&["long-line", "--after", "2", "--era", "legacy"], 20).ready().await;
    let lease = play.host.lease();
    let slow = json!({"ms": 10_000, "steps": 1});
    let key = json!({"key": "long"});
    let second = async {
        let arrived = async || play.received("tools/call") == 1;
        eventually("the slow call arrives", Duration::from_secs(10), arrived).await;
        // It counts as the first call only once the fixture has begun to handle it.
        tokio::time::sleep(Duration::from_millis(200)).await;
        play.call_on(&lease, SERVER, "write", &key).await
    };
    let (beside, long) = tokio::join!(play.call_on(&lease, SERVER, "slow", &slow), second);
    for record in [&beside, &long] {
        assert_eq!(words(record), (OutcomeKind::Unknown, Some("may_have_executed")), "{record:?}");
        assert!(record.duration < Duration::from_secs(5), "it took {:?}", record.duration);
    }
    play.stop().await;
}
