//! The client side of a call that a running `switchboard serve` makes: updates, one per line.

use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::call_event::CallUpdate;

/// How long the stream may be silent: four missed heartbeats.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Maximum length of an update, not counting the result in it.
const MAX_LINE_OVERHEAD: usize = 4 << 20;

/// The updates about one call in flight. Dropping the stream cancels the call.
pub struct CallStream<S = BufReader<TcpStream>> {
    stream: S,
    /// The part of the next line that has arrived.
    line: Vec<u8>,
    longest_line: usize,
}

/// The stream broke before the outcome arrived. The call may have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLost;

impl<S: AsyncBufRead + Unpin> CallStream<S> {
    /// Reads the head of the response to a call whose result has at most `limit_bytes`. Returns
    /// `None` if the instance rejected the call.
    pub(crate) async fn open(stream: S, limit_bytes: usize) -> Result<Option<Self>, StreamLost> {
        // A result is embedded as a JSON string, and escaping may double its length.
        let longest_line = limit_bytes.saturating_mul(2).saturating_add(MAX_LINE_OVERHEAD);
        let mut answer = Self { stream, line: Vec::new(), longest_line: MAX_HEAD_BYTES };
        let status = answer.line().await?;
        let is_well = status.split(' ').nth(1) == Some("200");
        while !answer.line().await?.is_empty() {}
        answer.longest_line = longest_line;
        Ok(is_well.then_some(answer))
    }

    /// Returns the next update. Cancel safe: a partially read line is kept for the next call.
    pub async fn next(&mut self) -> Result<CallUpdate, StreamLost> {
        let line = self.line().await?;
        serde_json::from_str(&line).map_err(|_| StreamLost)
    }

    async fn line(&mut self) -> Result<String, StreamLost> {
        loop {
            let chunk = timeout(SILENCE_TIMEOUT, self.stream.fill_buf()).await;
            let Ok(Ok(chunk)) = chunk else { return Err(StreamLost) };
            let end = chunk.iter().position(|byte| *byte == b'\n');
            // No delimiter yet: take the whole chunk, so that a long line cannot stall the buffer.
            let taken = end.map_or(chunk.len(), |end| end + 1);
            // Zero bytes mean that the instance closed the connection.
            if taken == 0 || self.line.len() + taken > self.longest_line {
                return Err(StreamLost);
            }
            self.line.extend(chunk.iter().take(taken));
            self.stream.consume(taken);
            if end.is_some() {
                let line = String::from_utf8(std::mem::take(&mut self.line));
                let line = line.map_err(|_| StreamLost)?;
                return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(answer: &str, limit_bytes: usize) -> Vec<Result<Option<CallUpdate>, StreamLost>> {
        let begun = CallStream::open(answer.as_bytes(), limit_bytes).await;
        let mut stream = match begun {
            Ok(Some(stream)) => stream,
            Ok(None) => return vec![Ok(None)],
            Err(gone) => return vec![Err(gone)],
        };
        let mut all = Vec::new();
        while all.last() != Some(&Err(StreamLost)) {
            all.push(stream.next().await.map(Some));
        }
        all
    }

    #[tokio::test]
    async fn what_is_told_is_read_line_by_line_until_the_other_side_has_gone() {
        let head = "HTTP/1.0 200 OK\r\ncontent-type: application/jsonl\r\n\r\n";
        let alive = "{\"event\":\"alive\"}\n";
        let told = |told: CallUpdate| Ok(Some(told));
        let long = "x".repeat(MAX_LINE_OVERHEAD + 20);
        for (answer, expected) in [
            (
                format!("{head}{alive}{alive}"),
                vec![told(CallUpdate::Alive), told(CallUpdate::Alive), Err(StreamLost)],
            ),
            (
                format!("{head}{{\"event\":\"new\"}}\n"),
                vec![told(CallUpdate::Unknown), Err(StreamLost)],
            ),
            (
                format!("{head}{alive}{{\"event\":\"al"),
                vec![told(CallUpdate::Alive), Err(StreamLost)],
            ),
            (format!("{head}no json\n"), vec![Err(StreamLost)]),
            (format!("{head}{{\"event\":\"{long}\"}}\n"), vec![Err(StreamLost)]),
            ("HTTP/1.1 405 Method Not Allowed\r\nallow: GET\r\n\r\n".to_owned(), vec![Ok(None)]),
            ("HTTP/1.1 404 Not Found\r\n\r\n{}".to_owned(), vec![Ok(None)]),
            ("HTTP/1.0 200 OK\r\n".to_owned(), vec![Err(StreamLost)]),
            (String::new(), vec![Err(StreamLost)]),
        ] {
            assert_eq!(read(&answer, 10).await, expected, "{answer:.200}");
        }
    }
}
