//! Reads HTTP/1.1 requests by hand.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::reply::FixtureRequest;

/// The next request on a connection, or nothing when it was closed or is not understood.
///
/// What was read beyond it stays in `buffer`.
pub(crate) async fn next(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<FixtureRequest> {
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
