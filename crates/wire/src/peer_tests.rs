//! Peers against late, duplicate, invalid, flooding and missing answers.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use proptest::prelude::*;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc;

use crate::{Inbound, Json, Peer, Request, RequestError, WireLimits, stream};

const LONG: Duration = Duration::from_secs(20);

/// The other end of a connection, driven by the test.
struct Far {
    from: BufReader<ReadHalf<DuplexStream>>,
    to: WriteHalf<DuplexStream>,
}

impl Far {
    async fn read(&mut self) -> serde_json::Value {
        let mut line = String::new();
        self.from.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or(serde_json::Value::Null)
    }

    async fn write(&mut self, line: &str) {
        self.to.write_all(line.as_bytes()).await.unwrap();
        self.to.write_all(b"\n").await.unwrap();
    }

    async fn answer(&mut self, id: u64, result: &str) {
        self.write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
    }
}

fn connected(pipe_bytes: usize) -> (Peer, mpsc::Receiver<Inbound>, Far) {
    let (near, far) = tokio::io::duplex(pipe_bytes);
    let (from, to) = tokio::io::split(near);
    let (peer, inbound) = stream::start_stream(from, to, WireLimits::default());
    let (from, to) = tokio::io::split(far);
    (peer, inbound, Far { from: BufReader::new(from), to })
}

fn ask(peer: &Peer, method: &'static str, timeout: Duration) -> tokio::task::JoinHandle<String> {
    let peer = peer.clone();
    tokio::spawn(async move {
        match peer.request(Request::new(method, "{}", timeout)).await {
            Ok(result) => result.as_str().to_owned(),
            Err(error) => format!("{error:?}"),
        }
    })
}

#[tokio::test]
async fn answers_find_their_request_in_any_order() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    let calls: Vec<_> = (0..1_000).map(|_| ask(&peer, "m", LONG)).collect();
    let mut ids = Vec::new();
    for _ in 0..1_000 {
        ids.push(far.read().await["id"].as_u64().unwrap());
    }
    for id in ids.iter().rev() {
        far.answer(*id, &id.to_string()).await;
    }
    let mut results: Vec<u64> = Vec::new();
    for call in calls {
        results.push(call.await.unwrap().parse().unwrap());
    }
    results.sort_unstable();
    ids.sort_unstable();
    assert_eq!((results, peer.in_flight()), (ids, 0));
}

#[tokio::test]
async fn an_id_of_nobody_is_counted_and_ignored() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    let call = ask(&peer, "m", LONG);
    let id = far.read().await["id"].as_u64().unwrap();
    far.write(r#"{"id":"text","result":"text id"}"#).await;
    far.write(r#"{"id":999,"result":"unknown id"}"#).await;
    far.write(r#"{"id":"999","result":"unknown id"}"#).await;
    far.answer(id, r#""right""#).await;
    far.answer(id, r#""second""#).await;
    assert_eq!(call.await.unwrap(), r#""right""#);
    let ping = ask(&peer, "m", LONG);
    let id = far.read().await["id"].as_u64().unwrap();
    far.answer(id, "1").await;
    ping.await.unwrap();
    assert_eq!(peer.stats().unknown_answers, 4);
}

#[tokio::test]
async fn an_answer_whose_id_is_of_another_type_is_none_and_says_so_at_once() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    for spelling in [|id: u64| format!("\"{id}\""), |id: u64| format!("{id}.0")] {
        let call = ask(&peer, "m", LONG);
        let id = far.read().await["id"].as_u64().unwrap();
        far.write(&format!(r#"{{"id":{},"result":"x"}}"#, spelling(id))).await;
        let why = r#"Protocol("its id is of another type than the number that was sent")"#;
        assert_eq!(call.await.unwrap(), why);
    }
    assert_eq!(peer.stats().unknown_answers, 0);
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_kept_apart_and_carries_its_tag() {
    let (peer, mut inbound, mut far) = connected(1 << 16);
    let request = Request { tag: 42, ..Request::new("m", "{}", Duration::from_secs(2)) };
    let outcome = peer.request(request).await;
    assert!(matches!(outcome, Err(RequestError::TimedOut(_))), "{outcome:?}");
    let id = far.read().await["id"].as_u64().unwrap();
    let cancelled = far.read().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], id);
    far.answer(id, r#""late""#).await;
    match inbound.recv().await.unwrap() {
        Inbound::Late { tag: 42, answer: Ok(result) } => assert_eq!(result.as_str(), r#""late""#),
        other => panic!("{other:?}"),
    }
    assert_eq!(peer.stats().late_answers, 1);
}

#[tokio::test]
async fn the_tags_of_the_requests_that_wait_are_known() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    assert_eq!(peer.tags(), [0_u64; 0]);
    let untagged = ask(&peer, "ping", LONG);
    far.read().await;
    assert_eq!(peer.tags(), [0_u64; 0]);
    let mut calls = Vec::new();
    for (tag, expected) in [(7, vec![7]), (8, vec![7, 8])] {
        let peer_of_call = peer.clone();
        calls.push(tokio::spawn(async move {
            let request = Request { tag, ..Request::new("m", "{}", LONG) };
            peer_of_call.request(request).await.is_ok()
        }));
        far.read().await;
        let mut tags = peer.tags();
        tags.sort_unstable();
        assert_eq!(tags, expected);
    }
    far.answer(2, "{}").await;
    assert!(calls.remove(0).await.unwrap());
    assert_eq!(peer.tags(), [8]);
    far.answer(1, "{}").await;
    far.answer(3, "{}").await;
    assert!(calls.remove(0).await.unwrap());
    untagged.await.unwrap();
    assert_eq!(peer.tags(), [0_u64; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_fires_while_the_other_side_reads_nothing() {
    let (peer, _inbound, far) = connected(1_024);
    let big = format!(r#"{{"text":"{}"}}"#, "x".repeat(400_000));
    let stuck = peer.request(Request::new("m", &big, Duration::from_secs(2)));
    let behind = peer.request(Request::new("n", "{}", Duration::from_secs(1)));
    let (stuck, behind) = tokio::join!(stuck, behind);
    assert!(matches!(behind, Err(RequestError::NotSent(_))), "{behind:?}");
    assert!(matches!(stuck, Err(RequestError::Unknown(_))), "{stuck:?}");
    assert!(peer.is_closed(), "half a message is in the pipe");
    drop(far);
}

#[tokio::test]
async fn a_lost_connection_tells_what_left_from_what_did_not() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    let call = ask(&peer, "m", LONG);
    far.read().await;
    far.write(r#"{"jsonrpc":"2.0","id":1,"resu"#).await;
    drop(far);
    assert!(call.await.unwrap().starts_with("Unknown("));
    assert!(ask(&peer, "m", LONG).await.unwrap().starts_with("NotSent("));
}

#[tokio::test]
async fn the_last_line_may_lack_its_ending() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    let call = ask(&peer, "m", LONG);
    far.read().await;
    far.to.write_all(br#"{"jsonrpc":"2.0","id":1,"result":"kept"}"#).await.unwrap();
    drop(far);
    assert_eq!(call.await.unwrap(), r#""kept""#);
}

#[tokio::test(start_paused = true)]
async fn progress_keeps_a_request_alive_up_to_the_total() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    let (progress, mut reports) = mpsc::channel(1_000);
    let request = Request {
        idle: Duration::from_secs(3),
        total: Duration::from_secs(60),
        progress: Some(progress),
        ..Request::new("m", "{}", LONG)
    };
    let server = async {
        let token = far.read().await["params"]["_meta"]["progressToken"].clone();
        for step in 0..100 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let params = format!(r#"{{"progressToken":{token},"progress":{step}}}"#);
            far.write(&format!(r#"{{"method":"notifications/progress","params":{params}}}"#)).await;
        }
    };
    let started = tokio::time::Instant::now();
    let outcome = tokio::select! {
        outcome = peer.request(request) => outcome,
        () = server => panic!("the request should have ended first"),
    };
    assert!(matches!(outcome, Err(RequestError::TimedOut(_))));
    assert_eq!(started.elapsed().as_secs(), 60);
    let mut steps = Vec::new();
    while let Ok(report) = reports.try_recv() {
        let report: serde_json::Value = report.read().unwrap();
        steps.push(report["progress"].as_u64().unwrap());
    }
    assert!(steps.len() >= 58 && steps.is_sorted(), "{steps:?}");
}

/// Records the tag and the number of each observed notification.
fn overheard(peer: &Peer) -> Arc<Mutex<Vec<(u64, u64)>>> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    peer.observe_notifications(move |tag, _, params| {
        let params: serde_json::Value = params.read().unwrap();
        let number = params["progress"].as_u64().or(params["data"].as_u64());
        hear.lock().push((tag, number.unwrap()));
    });
    heard
}

#[tokio::test]
async fn every_report_is_overheard_before_the_answer_also_where_its_watcher_lags() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    let heard = overheard(&peer);
    let (progress, mut reports) = mpsc::channel(1);
    let request = Request { progress: Some(progress), tag: 7, ..Request::new("m", "{}", LONG) };
    let server = async {
        let asked = far.read().await;
        let id = &asked["id"];
        let token = &asked["params"]["_meta"]["progressToken"];
        for step in 0..100 {
            let params = format!(r#"{{"progressToken":{token},"progress":{step}}}"#);
            far.write(&format!(r#"{{"method":"notifications/progress","params":{params}}}"#)).await;
        }
        far.write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)).await;
    };
    let (answer, ()) = tokio::join!(peer.request(request), server);
    assert!(answer.is_ok());
    assert_eq!(*heard.lock(), (0..100).map(|step| (7, step)).collect::<Vec<_>>());
    assert!(reports.try_recv().is_ok() && reports.try_recv().is_err());
}

#[tokio::test]
async fn a_message_is_overheard_where_only_one_request_can_be_meant() {
    for (tags, expected) in [
        (&[][..], vec![]),
        (&[0], vec![]),
        (&[7], vec![(7, 1)]),
        (&[0, 7], vec![(7, 1)]),
        (&[7, 8], vec![]),
    ] {
        let (peer, mut inbound, mut far) = connected(1 << 16);
        let heard = overheard(&peer);
        let mut open = tokio::task::JoinSet::new();
        for tag in tags.iter().copied() {
            let peer = peer.clone();
            open.spawn(async move {
                peer.request(Request { tag, ..Request::new("m", "{}", LONG) }).await.ok();
            });
            far.read().await;
        }
        far.write(r#"{"method":"notifications/message","params":{"data":1}}"#).await;
        assert!(matches!(inbound.recv().await, Some(Inbound::Notification { .. })));
        assert_eq!(*heard.lock(), expected, "{tags:?}");
    }
}

#[tokio::test]
async fn a_flood_of_notifications_starves_no_request() {
    let (peer, _unread, mut far) = connected(1 << 16);
    let call = ask(&peer, "m", LONG);
    let id = far.read().await["id"].as_u64().unwrap();
    for _ in 0..20_000 {
        far.write(r#"{"method":"notifications/message","params":{}}"#).await;
    }
    far.answer(id, "7").await;
    assert_eq!(call.await.unwrap(), "7");
    assert!(peer.stats().dropped > 10_000);
}

#[tokio::test]
async fn a_ping_is_answered_and_other_requests_are_handed_over() {
    let (peer, mut inbound, mut far) = connected(1 << 16);
    far.write(r#"{"id":"p","method":"ping"}"#).await;
    assert_eq!(far.read().await, serde_json::json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    far.write(r#"{"id":[1],"method":"roots/list"}"#).await;
    let Some(Inbound::Request { id, method, .. }) = inbound.recv().await else { panic!() };
    peer.reply(&id, Ok(r#"{"roots":[]}"#)).await.unwrap();
    assert_eq!(method, "roots/list");
    assert_eq!(far.read().await["result"], serde_json::json!({"roots": []}));
}

#[tokio::test]
async fn noise_is_tolerated_up_to_its_budget() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    for line in ["Listening…", "{not json", "[1,2", "\u{0}\u{1}", "7"] {
        far.write(line).await;
    }
    let call = ask(&peer, "m", LONG);
    let id = far.read().await["id"].as_u64().unwrap();
    far.answer(id, "7").await;
    assert_eq!((call.await.unwrap().as_str(), peer.stats().noise), ("7", 5));
    for _ in 0..1_001 {
        if far.to.write_all(b"noise\n").await.is_err() {
            break;
        }
    }
    assert!(peer.wait_until_closed().await.0.contains("not messages"));
}

#[tokio::test]
async fn a_batch_is_an_answer_only_where_the_revision_has_batches() {
    let (peer, _inbound, mut far) = connected(1 << 16);
    for (revision, expected) in [
        (crate::Revision::V2025_03_26, "5"),
        (crate::Revision::V2025_06_18, r#"Protocol("it came in a batch")"#),
    ] {
        peer.set_protocol(crate::peer::ProtocolState { revision, meta: String::new() });
        let call = ask(&peer, "m", LONG);
        let id = far.read().await["id"].as_u64().unwrap();
        far.write(&format!(r#"[{{"method":"x"}},{{"id":{id},"result":5}}]"#)).await;
        assert_eq!(call.await.unwrap(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_json_passes_both_ways_byte_for_byte(
        argument in crate::envelope::tests::any_json(),
        result in crate::envelope::tests::any_json(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (got_argument, got_result) = runtime.block_on(async {
            let [(near, _unused), (far, mut asked)] = stream::stream_pair(WireLimits::default());
            let params = format!(r#"{{"value":{argument}}}"#);
            let server = async {
                let Some(Inbound::Request { id, params: Some(params), .. }) = asked.recv().await
                else { panic!("no request") };
                far.reply(&id, Ok(&result)).await.unwrap();
                params
            };
            let (answer, params) = tokio::join!(near.request(Request::new("m", &params, LONG)), server);
            (params, answer.unwrap())
        });
        prop_assert_eq!(got_argument.as_str(), format!(r#"{{"value":{argument}}}"#));
        prop_assert_eq!(got_result.as_str(), result);
        prop_assert!(Json::parse(got_result.bytes().clone()).is_ok());
    }
}
