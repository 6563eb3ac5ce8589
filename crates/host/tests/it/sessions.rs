//! F46, F47, F54 and F59: sessions of legacy servers, and detection of a server's era.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_catalog::ServerStatus;
use switchboard_fleet::SupervisorCommand;
use switchboard_host::OutcomeKind;
use switchboard_wire::Revision;

use crate::case::{ANSWERED, Case};
use crate::stage::{SERVER, Stage, eventually, id, text, words};

#[tokio::test]
async fn f46_a_lost_session_is_made_again_once_and_the_call_runs_once() {
    Case { fault: &["session-lost"], ..ANSWERED }.in_http_era("legacy").await;
}

#[tokio::test]
async fn f46_a_hundred_calls_that_lose_their_session_make_one_new_one() {
    let (stage, _fixture) = Stage::new().web(&["flaky", "--fault", "session-lost"], 10);
    let play = Arc::new(stage.ready().await);
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..100 {
        let play = Arc::clone(&play);
        calls.spawn(async move { play.write(&format!("key-{number}")).await });
    }
    while let Some(call) = calls.join_next().await {
        assert_eq!(words(&call.unwrap()), (OutcomeKind::Ok, None));
    }
    assert_eq!(play.received("initialize"), 2, "the first session and one more");
    assert_eq!(play.home.journal_lines().len(), 100);
    play.host.stop().await;
}

#[tokio::test]
async fn f46_a_session_that_is_lost_again_is_a_refusal() {
    let flags = ["flaky", "--fault", "session-always-lost"];
    let (stage, _fixture) = Stage::new().web(&flags, 5);
    let play = stage.ready().await;
    let record = play.write("lost").await;
    assert_eq!(words(&record), (OutcomeKind::Refused, Some("http_error")), "{record:?}");
    assert_eq!((play.effects("lost"), play.received("tools/call")), (0, 2));
    play.stop().await;
}

#[tokio::test]
async fn f47_the_era_is_found_out_once_and_remembered() {
    let legacy = Revision::NEWEST_LEGACY;
    let cases: [(&[&str], Revision, usize); 4] = [
        (&["echo", "--era", "modern"], Revision::NEWEST, 1),
        (&["echo", "--era", "dual"], Revision::NEWEST, 1),
        (&["echo", "--era", "legacy"], legacy, 1),
        (&["echo", "--transport", "sse", "--era", "legacy"], legacy, 0),
    ];
    for (flags, revision, probes) in cases {
        let (stage, _fixture) = Stage::new().web(flags, 5);
        let play = stage.ready().await;
        let spoken = play.server(SERVER).agreement.as_ref().unwrap().revision;
        assert_eq!(spoken, revision, "{flags:?}");
        let before = (play.received("server/discover"), play.received("initialize"));
        assert!(before.0 >= probes, "{flags:?}: {before:?}");
        play.host.command(SupervisorCommand::Restart(id(SERVER))).await;
        play.until_status("it starts again", |status| *status == ServerStatus::Starting).await;
        play.until_status("it is back", |status| *status == ServerStatus::Ready).await;
        let asked = (play.received("server/discover"), play.received("initialize"));
        let expected = if revision == Revision::NEWEST { (1, 0) } else { (0, 1) };
        assert_eq!((asked.0 - before.0, asked.1 - before.1), expected, "{flags:?}");
        assert_eq!(words(&play.write("again").await), (OutcomeKind::Ok, None));
        play.stop().await;
    }
}

#[tokio::test]
async fn f47_a_place_without_a_server_is_told_with_a_hint() {
    let stage = Stage::new();
    let fixture = stage.listening(&["echo"]);
    let url = format!("{}/elsewhere", fixture.origin());
    let play = stage.with(SERVER, json!({"url": url})).start();
    play.settled(SERVER).await;
    let status = play.status();
    let failure = status.failure().unwrap_or_else(|| panic!("{status:?}"));
    assert!(failure.message.contains("HTTP status 404"), "{failure:?}");
    assert!(failure.hint.as_deref().unwrap_or_default().contains("`url`"), "{failure:?}");
    play.stop().await;
}

#[tokio::test]
async fn f54_an_answer_that_is_replayed_twice_is_one_answer() {
    let (stage, _fixture) = Stage::new().web(&["flaky", "--fault", "sse-replay"], 5);
    let play = stage.ready().await;
    let record = play.write("replayed").await;
    assert_eq!((words(&record), play.effects("replayed")), ((OutcomeKind::Ok, None), 1));
    assert_eq!(text(&record), "wrote replayed");
    assert_eq!(words(&play.write("next").await), (OutcomeKind::Ok, None));
    play.stop().await;
}

#[tokio::test]
async fn f47_a_server_without_an_event_stream_is_usable() {
    for flags in [&["flaky", "--fault", "refuse-get"][..], &["echo", "--no-get-stream"]] {
        let (stage, _fixture) = Stage::new().web(flags, 5);
        let play = stage.ready().await;
        assert_eq!(words(&play.write("plain").await), (OutcomeKind::Ok, None));
        play.stop().await;
    }
}

/// Starts a legacy server that closes every event stream at once; returns its address and their
/// count.
fn closes_streams() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    // The thread ends with the test process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let count = Arc::clone(&count);
            std::thread::spawn(move || serve(stream.unwrap(), &count));
        }
    });
    (url, opened)
}

fn serve(mut stream: TcpStream, opened: &AtomicUsize) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        let mut length = 0;
        while !head.ends_with("\r\n\r\n") {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = if head.starts_with("GET") {
            opened.fetch_add(1, Ordering::SeqCst);
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 0\r\n\r\n".into()
        } else {
            respond(&String::from_utf8_lossy(&body))
        };
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn respond(body: &str) -> String {
    let message: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "short streams", "version": "0"},
        }),
        Some("tools/list") => json!({"tools": []}),
        Some("server/discover") => {
            return "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".into();
        }
        _ => return "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".into(),
    };
    let text = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len())
}

#[tokio::test]
async fn f59_an_event_stream_that_keeps_ending_is_not_opened_in_a_loop() {
    let (url, opened) = closes_streams();
    let play = Stage::new().with(SERVER, json!({"url": url, "type": "http"})).ready().await;
    let begun = Instant::now();
    let count = || opened.load(Ordering::SeqCst);
    eventually("it is opened again", Duration::from_secs(5), async || count() == 3).await;
    // The delay is one second before the second attempt, and two before the third.
    assert!(begun.elapsed() > Duration::from_millis(2_500), "it took {:?}", begun.elapsed());
    assert_eq!(play.status(), ServerStatus::Ready);
    play.stop().await;
}

#[tokio::test]
async fn f59_listening_that_keeps_ending_is_taken_up_after_a_pause_and_nothing_is_missed() {
    let flags = ["flaky", "--era", "modern", "--fault", "listen-closes", "--pause-ms", "100"];
    let (stage, _fixture) = Stage::new().web(&flags, 5);
    let play = stage.ready().await;
    let listens = || play.received("subscriptions/listen");
    eventually("it listens", Duration::from_secs(2), async || listens() == 1).await;
    let begun = Instant::now();
    let listed = play.received("tools/list");
    eventually("it listens again", Duration::from_secs(8), async || listens() == 2).await;
    assert!(begun.elapsed() > Duration::from_millis(4_500), "it took {:?}", begun.elapsed());
    let again = async || play.received("tools/list") > listed;
    eventually("what may have changed meanwhile is listed", Duration::from_secs(2), again).await;
    play.stop().await;
}
