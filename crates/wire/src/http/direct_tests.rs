//! Direct connections: reused, expired, closed by the server, never asked twice.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";

/// The answers of a server on one connection, which it closes afterwards.
type Script = Vec<&'static str>;

/// A server with a script for each connection. Reports the number of the connection with the text
/// of each request, or with `None` when the connection has ended.
async fn scripted(scripts: Vec<Script>) -> (Url, mpsc::Receiver<(usize, Option<String>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?a=b", listener.local_addr().unwrap()).parse().unwrap();
    let (tell, told) = mpsc::channel(64);
    tokio::spawn(async move {
        for (number, script) in scripts.into_iter().enumerate() {
            let (mut stream, _) = listener.accept().await.unwrap();
            let tell = tell.clone();
            tokio::spawn(async move {
                for answer in script {
                    let Some(asked) = read_one(&mut stream).await else { break };
                    tell.send((number, Some(asked))).await.unwrap();
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
                drop(stream);
                tell.send((number, None)).await.ok();
            });
        }
    });
    (url, told)
}

async fn read_one(stream: &mut TcpStream) -> Option<String> {
    let mut asked = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&asked).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text);
            }
        }
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).await.ok().filter(|count| *count > 0)?;
        asked.extend_from_slice(&bytes[..count]);
    }
}

fn direct(url: &Url) -> Arc<DirectClient> {
    DirectClient::for_url(url, Duration::from_secs(5)).unwrap()
}

async fn post(direct: &Arc<DirectClient>) -> Result<Bytes, RequestError> {
    let mut reply = direct.post(HeaderMap::new(), &Bytes::from_static(b"[1]")).await?;
    let mut body = Vec::new();
    while let Some(chunk) = reply.chunk().await? {
        body.extend_from_slice(&chunk);
    }
    Ok(body.into())
}

#[tokio::test]
async fn one_connection_serves_one_request_after_another_with_and_without_a_body() {
    let (url, mut told) = scripted(vec![vec![OK, ACCEPTED, OK, OK]]).await;
    let direct = direct(&url);
    assert_eq!(post(&direct).await.unwrap(), "{}");
    // A response without a body is dropped unread.
    drop(direct.post(HeaderMap::new(), &Bytes::new()).await.unwrap());
    assert_eq!(post(&direct).await.unwrap(), "{}");
    assert_eq!(post(&direct).await.unwrap(), "{}");
    let (number, asked) = told.recv().await.unwrap();
    let asked = asked.unwrap();
    assert_eq!(number, 0);
    assert!(asked.starts_with("POST /mcp?a=b HTTP/1.1\r\n"), "{asked}");
    let host = format!("host: 127.0.0.1:{}\r\n", url.port().unwrap());
    for expected in [host.as_str(), "accept-encoding: gzip\r\n", "user-agent: switchboard/"] {
        assert!(asked.contains(expected), "no `{expected}` in {asked}");
    }
    assert!(asked.ends_with("\r\n\r\n[1]"), "{asked}");
}

#[tokio::test]
async fn a_connection_that_the_server_closed_meanwhile_costs_no_request() {
    let (url, mut told) = scripted(vec![vec![OK], vec![OK]]).await;
    let direct = direct(&url);
    post(&direct).await.unwrap();
    while told.recv().await.unwrap() != (0, None) {}
    assert_eq!(post(&direct).await.unwrap(), "{}");
    assert_eq!(told.recv().await.unwrap().0, 1);
}

#[tokio::test]
async fn what_may_have_arrived_is_not_sent_again() {
    let (url, mut told) = scripted(vec![vec![OK, ""], vec![OK]]).await;
    let direct = direct(&url);
    post(&direct).await.unwrap();
    let error = post(&direct).await.unwrap_err();
    assert!(matches!(error, RequestError::Unknown(_)), "{error:?}");
    let mut asked = Vec::new();
    while let Some((number, Some(_))) = told.recv().await {
        asked.push(number);
    }
    assert_eq!(asked, [0, 0]);
}

#[tokio::test]
async fn half_an_answer_is_none() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{";
    let (url, _told) = scripted(vec![vec![half]]).await;
    let error = post(&direct(&url)).await.unwrap_err();
    assert!(matches!(error, RequestError::Unknown(_)), "{error:?}");
}

#[tokio::test]
async fn nobody_at_home_means_that_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    drop(listener);
    let error = post(&direct(&url)).await.unwrap_err();
    assert!(matches!(error, RequestError::NotSent(_)), "{error:?}");
}

#[tokio::test]
async fn whoever_gives_up_closes_the_connection() {
    let endless = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n";
    let (url, mut told) = scripted(vec![vec![endless, OK], vec![OK]]).await;
    let direct = direct(&url);
    let mut reply = direct.post(HeaderMap::new(), &Bytes::new()).await.unwrap();
    assert_eq!(reply.chunk().await.unwrap().unwrap(), "data: 1\n\n");
    drop(reply);
    assert!(told.recv().await.unwrap().1.is_some());
    assert_eq!(told.recv().await.unwrap(), (0, None), "the server sees the end");
    assert_eq!(post(&direct).await.unwrap(), "{}");
}

#[tokio::test]
async fn requests_at_the_same_time_have_connections_of_their_own() {
    let (url, mut told) = scripted(vec![vec![OK], vec![OK], vec![OK]]).await;
    let direct = direct(&url);
    let (one, two, three) = tokio::join!(post(&direct), post(&direct), post(&direct));
    for answer in [one, two, three] {
        assert_eq!(answer.unwrap(), "{}");
    }
    let mut asked = Vec::new();
    while asked.len() < 3 {
        if let (number, Some(_)) = told.recv().await.unwrap() {
            asked.push(number);
        }
    }
    asked.sort_unstable();
    assert_eq!(asked, [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn connections_that_nobody_uses_are_closed_by_one_who_looks_after_them() {
    let (url, mut told) = scripted(vec![vec![OK, OK, OK, OK]]).await;
    let direct = direct(&url);
    for _ in 0..3 {
        post(&direct).await.unwrap();
        assert!(told.recv().await.unwrap().1.is_some());
    }
    assert!(direct.idle.lock().is_watched);
    let tasks = Handle::current().metrics().num_alive_tasks();
    assert!(tasks <= 3, "the server has two, so nobody else but one: {tasks}");
    // Connections use `std::time::Instant`, which the paused clock does not affect.
    direct.idle.lock().open.iter_mut().for_each(|open| open.used -= MAX_IDLE_TIME);
    assert_eq!(told.recv().await.unwrap(), (0, None), "it is closed");
    assert!(!direct.idle.lock().is_watched);
}

#[test]
fn the_short_way_is_for_plain_addresses_without_a_proxy() {
    for (url, proxy, expected) in [
        ("http://127.0.0.1:1/mcp", "", true),
        ("http://[::1]:1/mcp", "", true),
        ("http://localhost/mcp", "", true),
        ("https://localhost/mcp", "", false),
        ("http://me@localhost/mcp", "", false),
        ("http://me:word@localhost/mcp", "", false),
        ("http://localhost/mcp", "http_proxy", false),
        ("http://localhost/mcp", "HTTP_PROXY", false),
        ("http://localhost/mcp", "ALL_PROXY", false),
        ("http://localhost/mcp", "https_proxy", true),
        ("http://server.example/mcp", "", cfg!(target_os = "linux")),
    ] {
        let is_set = |name: &str| name == proxy;
        assert_eq!(is_direct(&url.parse().unwrap(), is_set), expected, "{url} {proxy}");
    }
}
