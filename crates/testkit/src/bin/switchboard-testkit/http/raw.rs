//! A small HTTP/1.1 server on plain TCP, whose responses may be malformed in any way.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::reply::{FixtureReply, FixtureRequest, ReplyBody};
use crate::exchange::WireStep;

/// A handler of the requests to one listener.
pub(crate) trait HttpSite: Send + Sync + 'static {
    fn answer(self: Arc<Self>, asked: FixtureRequest) -> impl Future<Output = FixtureReply> + Send;

    /// How long after a reply the connection is closed; `None` to keep it open.
    fn idle_close(&self) -> Option<Duration> {
        None
    }
}

pub(crate) async fn serve<S: HttpSite>(listener: TcpListener, site: Arc<S>) {
    loop {
        let (stream, _) = listener.accept().await.expect("a loopback listener goes on accepting");
        let _ = stream.set_nodelay(true);
        tokio::spawn(connection(stream, Arc::clone(&site)));
    }
}

async fn connection<S: HttpSite>(mut stream: TcpStream, site: Arc<S>) {
    let idle_close = site.idle_close();
    let mut buffer = Vec::new();
    while let Some(asked) = next_request(&mut stream, &mut buffer).await {
        let answer = Arc::clone(&site).answer(asked);
        let Some(reply) = unless_gone(&stream, answer).await else { return };
        if !matches!(write(&mut stream, reply).await, Ok(true)) {
            return;
        }
        if let Some(pause) = idle_close {
            return sleep(pause).await;
        }
    }
}

/// Returns the result of the work, or `None` if the client disconnects first.
async fn unless_gone<T>(stream: &TcpStream, work: impl Future<Output = T>) -> Option<T> {
    let gone = async {
        let mut byte = [0];
        // A readable byte belongs to the next request, so the client is still connected.
        if stream.peek(&mut byte).await.is_ok_and(|count| count > 0) {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        done = work => Some(done),
        () = gone => None,
    }
}

/// Writes a reply and returns whether the connection can be reused.
async fn write(stream: &mut TcpStream, reply: FixtureReply) -> io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} Reply\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match reply.body {
        ReplyBody::Full(text) => {
            let length = if reply.status == 204 {
                String::new()
            } else {
                format!("content-length: {}\r\n", text.len())
            };
            stream.write_all(format!("{head}{length}\r\n{text}").as_bytes()).await?;
        }
        ReplyBody::Stream(mut pieces) => {
            head.push_str("transfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            loop {
                match unless_gone(stream, pieces.recv()).await {
                    None => return Ok(false),
                    Some(None) => break,
                    Some(Some(piece)) => {
                        let size = format!("{:x}\r\n", piece.len());
                        let chunk = [size.as_bytes(), &piece, b"\r\n"].concat();
                        stream.write_all(&chunk).await?;
                    }
                }
            }
            stream.write_all(b"0\r\n\r\n").await?;
        }
        ReplyBody::Wire(steps) => {
            for step in steps {
                if !take(stream, step).await? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Performs one step; false if the connection has ended.
#[expect(clippy::exit, reason = "a fault that ends the process does so once its bytes are out")]
async fn take(stream: &mut TcpStream, step: WireStep) -> io::Result<bool> {
    match step {
        WireStep::Write(bytes) => stream.write_all(&bytes).await?,
        WireStep::Trickle(bytes) => {
            for byte in bytes.chunks(1) {
                stream.write_all(byte).await?;
            }
        }
        WireStep::Pause(pause) => return Ok(wait(stream, pause).await),
        WireStep::Repeat(bytes, pause) => loop {
            stream.write_all(&bytes).await?;
            if !wait(stream, pause).await {
                return Ok(false);
            }
        },
        WireStep::Exit(code) => std::process::exit(code),
        WireStep::Close => {
            stream.shutdown().await?;
            return Ok(false);
        }
        WireStep::Reset => {
            stream.set_zero_linger()?;
            return Ok(false);
        }
    }
    Ok(true)
}

async fn wait(stream: &TcpStream, pause: Duration) -> bool {
    unless_gone(stream, sleep(pause)).await.is_some()
}

/// Reads the next request. Returns `None` if the connection was closed or the request is invalid.
///
/// Bytes after the request stay in `buffer`.
pub(crate) async fn next_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> Option<FixtureRequest> {
    let head = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        read_more(stream, buffer).await?;
    };
    let rest = buffer.split_off(head);
    let text = String::from_utf8(std::mem::replace(buffer, rest)).ok()?;
    let mut lines = text.split("\r\n");
    let mut request = lines.next()?.split(' ');
    let verb = Method::from_bytes(request.next()?.as_bytes()).ok()?;
    let target = request.next()?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = HeaderMap::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_str(value.trim()).ok()?);
    }
    let length =
        headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    let length: usize = length.unwrap_or(0);
    while buffer.len() < length {
        read_more(stream, buffer).await?;
    }
    let rest = buffer.split_off(length);
    let body = Bytes::from(std::mem::replace(buffer, rest));
    Some(FixtureRequest { verb, path: path.to_owned(), query: query.to_owned(), headers, body })
}

async fn read_more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let count = stream.read_buf(buffer).await.ok()?;
    (count > 0).then_some(())
}
