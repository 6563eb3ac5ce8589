//! HTTP on the wire: headers, compressed answers, resumption, and the end of a session.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::super::client::new_http_client;
use super::*;

const SOON: Duration = Duration::from_secs(10);

/// A server that sends these answers, one per connection, and reports the requests it receives.
async fn scripted(answers: Vec<Vec<u8>>) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (seen, requests) = mpsc::channel(16);
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = Vec::new();
            while !is_whole(&asked) {
                let mut bytes = [0; 4096];
                let count = stream.read(&mut bytes).await.unwrap();
                asked.extend_from_slice(&bytes[..count]);
            }
            seen.send(String::from_utf8(asked).unwrap()).await.unwrap();
            stream.write_all(&answer).await.unwrap();
        }
    });
    (url, requests)
}

fn is_whole(asked: &[u8]) -> bool {
    let text = String::from_utf8_lossy(asked);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

const JSON: &str = "content-type: application/json\r\n";
const EVENTS: &str = "content-type: text/event-stream\r\n";

fn peer_at(url: &str, limits: WireLimits) -> (Peer, mpsc::Receiver<Inbound>) {
    let headers = [("X-Team".to_owned(), "green".to_owned())];
    let endpoint =
        HttpEndpoint::new(url, headers.iter().map(|(name, value)| (name, value))).unwrap();
    start_http(new_http_client(&limits).unwrap(), endpoint, limits)
}

/// Wraps bytes as an uncompressed gzip block.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    let lengths = [length.to_le_bytes(), (!length).to_le_bytes()].concat();
    let tail = [(!crc).to_le_bytes(), u32::from(length).to_le_bytes()].concat();
    [&head[..], &lengths, bytes, &tail].concat()
}

#[tokio::test]
async fn a_packed_answer_is_read_and_configured_headers_are_sent() {
    let body = packed(br#"{"jsonrpc":"2.0","id":1,"result":{"packed":true}}"#);
    let headers = format!("{JSON}content-encoding: gzip\r\n");
    let (url, mut requests) = scripted(vec![answer(&headers, &body)]).await;
    let (peer, _inbound) = peer_at(&url, WireLimits::default());
    let result = peer.request(Request::new("tools/list", "{}", SOON)).await.unwrap();
    assert_eq!(result.as_str(), r#"{"packed":true}"#);
    let asked = requests.recv().await.unwrap().to_lowercase();
    for expected in ["accept-encoding: gzip", "x-team: green", "accept: application/json, text/"] {
        assert!(asked.contains(expected), "no `{expected}` in {asked}");
    }
}

#[tokio::test]
async fn what_is_packed_counts_by_what_comes_out_of_it() {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "x".repeat(20_000));
    let headers = format!("{JSON}content-encoding: gzip\r\n");
    let (url, _requests) = scripted(vec![answer(&headers, &packed(text.as_bytes()))]).await;
    let limits = WireLimits { body_bytes: 10_000, ..WireLimits::default() };
    let (peer, _inbound) = peer_at(&url, limits);
    let error = peer.request(Request::new("tools/list", "{}", SOON)).await.unwrap_err();
    assert!(error.to_string().contains("more than 10000 bytes"), "{error}");
}

#[tokio::test]
async fn a_stream_is_taken_up_after_its_last_event_and_the_session_is_ended() {
    let begun = answer(
        &format!("{JSON}mcp-session-id: session-7\r\n"),
        br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    );
    let cut = answer(EVENTS, b"id: event-3\nretry: 1\ndata:\n\n");
    let rest = answer(EVENTS, b"data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":7}\n\n");
    let (url, mut requests) = scripted(vec![begun, cut, rest, answer("", b"")]).await;
    let (peer, _inbound) = peer_at(&url, WireLimits::default());
    peer.request(Request::new("initialize", "{}", SOON)).await.unwrap();
    let result = peer.request(Request::new("tools/call", "{}", SOON)).await.unwrap();
    assert_eq!(result.as_str(), "7");
    peer.shutdown("done").await;
    let mut starts = Vec::new();
    for expected in ["", "mcp-session-id: session-7", "last-event-id: event-3", "session-7"] {
        let asked = requests.recv().await.unwrap();
        assert!(asked.to_lowercase().contains(expected), "no `{expected}` in {asked}");
        starts.push(asked.split(' ').next().unwrap().to_owned());
    }
    assert_eq!(starts, ["POST", "POST", "GET", "DELETE"]);
}
