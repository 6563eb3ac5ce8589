//! One connection that is kept open: each request is one write, each answer is read whole.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::error::Result;

/// How long after its last use a connection counts as safe: servers close connections that are idle
/// for some seconds.
const FRESH_WINDOW: Duration = Duration::from_secs(1);

/// A connection, and the bytes read after the last answer.
pub(crate) struct HttpConnection {
    stream: TcpStream,
    buffer: BytesMut,
    used: Instant,
    /// The session of this connection, if it does not share one.
    pub(super) session: Option<String>,
}

pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: BytesMut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyLength {
    Bytes(usize),
    Chunked,
}

impl HttpConnection {
    pub(crate) async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: BytesMut::new(), used: Instant::now(), session: None })
    }

    /// Whether the other side has not closed the connection and is not about to.
    pub(super) fn is_good(&self) -> bool {
        let read = self.stream.try_read(&mut [0]);
        let is_open = read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        // Kept despite its age, because a new connection would need a new session.
        is_open && (self.session.is_some() || self.used.elapsed() < FRESH_WINDOW)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<HttpReply> {
        self.stream.write_all(request).await?;
        let mut searched = 0;
        let end = loop {
            if let Some(at) =
                self.buffer.get(searched..).and_then(|new| memmem::find(new, b"\r\n\r\n"))
            {
                break searched + at + 4;
            }
            searched = self.buffer.len().saturating_sub(3);
            self.more().await?;
        };
        let head = self.buffer.split_to(end);
        let (status, session, length) = read_head(&head)?;
        let body = match length {
            BodyLength::Bytes(length) => self.take(length).await?,
            BodyLength::Chunked => self.chunks().await?,
        };
        self.used = Instant::now();
        Ok(HttpReply { status, session, body })
    }

    async fn more(&mut self) -> Result<()> {
        self.buffer.reserve(32 << 10);
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            return Err("the connection was closed before its answer came".into());
        }
        Ok(())
    }

    async fn take(&mut self, length: usize) -> Result<BytesMut> {
        while self.buffer.len() < length {
            self.more().await?;
        }
        Ok(self.buffer.split_to(length))
    }

    async fn line(&mut self) -> Result<BytesMut> {
        loop {
            if let Some(at) = memmem::find(&self.buffer, b"\r\n") {
                let line = self.buffer.split_to(at);
                self.take(2).await?;
                return Ok(line);
            }
            self.more().await?;
        }
    }

    async fn chunks(&mut self) -> Result<BytesMut> {
        let mut body = BytesMut::new();
        loop {
            let line = self.line().await?;
            let digits = std::str::from_utf8(&line)?.split(';').next().unwrap_or_default();
            let length = usize::from_str_radix(digits.trim(), 16)?;
            let chunk = self.take(length).await?;
            self.line().await?;
            if length == 0 {
                return Ok(body);
            }
            // Most answers are one chunk, which is then not copied.
            if body.is_empty() {
                body = chunk;
            } else {
                body.extend_from_slice(&chunk);
            }
        }
    }
}

fn read_head(head: &[u8]) -> Result<(u16, Option<String>, BodyLength)> {
    let text = std::str::from_utf8(head)?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status: u16 = status.ok_or("the answer has no status")?;
    let mut session = None;
    let mut length = BodyLength::Bytes(0);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = BodyLength::Bytes(value.parse()?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            length = BodyLength::Chunked;
        } else if name.eq_ignore_ascii_case("mcp-session-id") {
            session = Some(value.to_owned());
        }
    }
    Ok((status, session, length))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::HttpConnection;

    #[tokio::test]
    async fn answers_are_read_whole_one_after_another() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answers = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nMcp-Session-Id: s\r\n\r\nfirst",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nsec\r\n3;x=y\r\nond\r\n0\r\n\r\n",
            "HTTP/1.1 202 Accepted\r\n\r\n",
        ];
        let serving = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            for answer in answers {
                stream.read_exact(&mut [0]).await.unwrap();
                // In two halves, so that no boundary of the message coincides with a read.
                let (left, right) = answer.split_at(answer.len() - 6);
                stream.write_all(left.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                tokio::task::yield_now().await;
                stream.write_all(right.as_bytes()).await.unwrap();
            }
        });
        let mut connection = HttpConnection::open(&address).await.unwrap();
        let mut found = Vec::new();
        for _ in answers {
            let reply = connection.exchange(b"x").await.unwrap();
            found.push((
                reply.status,
                reply.session,
                String::from_utf8(reply.body.to_vec()).unwrap(),
            ));
        }
        serving.await.unwrap();
        let expected = [
            (200, Some("s".to_owned()), "first".to_owned()),
            (200, None, "second".to_owned()),
            (202, None, String::new()),
        ];
        assert_eq!(found, expected);
    }
}
