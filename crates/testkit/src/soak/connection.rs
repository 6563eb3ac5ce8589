//! One HTTP connection that is kept open: a request, and its whole answer.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::SoakError;

/// A connection.
pub(super) struct SoakConnection {
    stream: BufReader<TcpStream>,
}

/// An answer.
#[derive(Debug, Default)]
pub(super) struct SoakReply {
    pub(super) status: u16,
    pub(super) session: Option<String>,
    pub(super) body: String,
}

impl SoakConnection {
    /// Connects to `host:port`.
    pub(super) async fn open(address: &str) -> Result<Self, SoakError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Posts a message and waits for the answer.
    pub(super) async fn post(&mut self, headers: &str, body: &str) -> Result<SoakReply, SoakError> {
        let length = body.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}\
             content-length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).await?;
        let mut reply = SoakReply::default();
        let status = self.line().await?;
        let status = status.split(' ').nth(1).and_then(|word| word.parse().ok());
        reply.status = status.ok_or("the answer has no status")?;
        let mut length = 0;
        let mut chunked = false;
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse()?,
                "transfer-encoding" => chunked = true,
                "mcp-session-id" => reply.session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let body = if chunked { self.chunks().await? } else { self.take(length).await? };
        reply.body = String::from_utf8(body)?;
        Ok(reply)
    }

    async fn line(&mut self) -> Result<String, SoakError> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err("the connection was closed before its answer came".into());
        }
        Ok(line.trim_end().to_owned())
    }

    async fn take(&mut self, length: usize) -> Result<Vec<u8>, SoakError> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).await?;
        Ok(bytes)
    }

    async fn chunks(&mut self) -> Result<Vec<u8>, SoakError> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(self.line().await?.trim(), 16)?;
            body.extend(self.take(length).await?);
            self.line().await?;
            if length == 0 {
                return Ok(body);
            }
        }
    }
}

impl SoakReply {
    /// The messages in it, the last of which is the answer.
    pub(super) fn messages(&self) -> Vec<&str> {
        if self.body.starts_with('{') {
            return vec![&self.body];
        }
        self.body.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
    }
}
