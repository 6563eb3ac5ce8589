//! Incremental parsing of server-sent events.

use std::future::Future as _;
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::reply::WireResponse;
use crate::error::RequestError;

/// How long the end of a stream may take after its last message.
const FINISH_TIMEOUT: Duration = Duration::from_millis(100);
/// Maximum bytes that a server may send after its last message.
const MAX_FINISH_BYTES: usize = 64 << 10;

/// Maximum `retry` delay accepted from a server.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(600);

/// One event of a server-sent stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The event type; empty means `message`.
    pub name: String,
    /// The data; multiple lines are joined by line breaks.
    pub data: Bytes,
}

/// Reads server-sent events from a response.
pub struct SseEvents {
    response: WireResponse,
    parser: SseParser,
    limit_bytes: usize,
}

impl SseEvents {
    /// Reads events of at most `limit_bytes` each.
    #[must_use]
    pub fn new(response: impl Into<WireResponse>, limit_bytes: usize) -> Self {
        Self { response: response.into(), parser: SseParser::default(), limit_bytes }
    }

    /// Returns the next event, or `None` at the end of the stream.
    pub async fn next(&mut self) -> Result<Option<SseEvent>, RequestError> {
        loop {
            if let Some(event) = self.next_ready()? {
                return Ok(Some(event));
            }
            let chunk = self.response.chunk().await;
            if !self.push_chunk(chunk)? {
                return Ok(None);
            }
        }
    }

    /// Returns the next event, unless nothing arrives for `silence`; keep-alive comments count.
    pub async fn next_within(
        &mut self,
        silence: Duration,
    ) -> Result<Result<Option<SseEvent>, RequestError>, tokio::time::error::Elapsed> {
        loop {
            match self.next_ready() {
                Ok(None) => {}
                ready => return Ok(ready),
            }
            let chunk = timeout(silence, self.response.chunk()).await?;
            match self.push_chunk(chunk) {
                Ok(true) => {}
                Ok(false) => return Ok(Ok(None)),
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    fn next_ready(&mut self) -> Result<Option<SseEvent>, RequestError> {
        if let Some(event) = self.parser.next() {
            return Ok(Some(event));
        }
        let limit = self.limit_bytes;
        if self.parser.pending_bytes() > limit {
            let why = format!("the server sent an event of more than {limit} bytes");
            return Err(RequestError::Unknown(why));
        }
        Ok(None)
    }

    /// Adds a chunk to the parser; returns `false` at the end of the stream.
    fn push_chunk(
        &mut self,
        chunk: Result<Option<Bytes>, RequestError>,
    ) -> Result<bool, RequestError> {
        let chunk = chunk?;
        let is_more = chunk.is_some();
        if let Some(chunk) = chunk {
            self.parser.push(chunk);
        }
        Ok(is_more)
    }

    /// Reads the rest of the stream after its last message, so that its connection can be reused.
    ///
    /// A stream that stays open is closed together with its connection.
    pub(crate) fn finish(self) {
        let mut reading = Box::pin(read_rest(self.response));
        // Most servers send the end together with the last message: no task is needed for that.
        let is_over = reading.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        if let (false, Ok(runtime)) = (is_over, Handle::try_current()) {
            runtime.spawn(timeout(FINISH_TIMEOUT, reading));
        }
    }

    pub(crate) fn last_id(&self) -> Option<&str> {
        self.parser.last_id.as_deref()
    }

    /// Returns the reconnection delay that the server requested.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.parser.retry
    }
}

async fn read_rest(mut response: WireResponse) {
    let mut left = MAX_FINISH_BYTES;
    // A stream that fails has no connection to reuse.
    while let Ok(Some(chunk)) = response.chunk().await {
        let Some(less) = left.checked_sub(chunk.len()) else { return };
        left = less;
    }
}

#[derive(Default)]
pub(crate) struct SseParser {
    buffer: BytesMut,
    searched: usize,
    after_cr: bool,
    past_start: bool,
    name: String,
    data: Option<Bytes>,
    /// The second and further lines of data.
    more: BytesMut,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl SseParser {
    pub(crate) fn push(&mut self, chunk: Bytes) {
        if self.buffer.is_empty() {
            // Takes over the chunk without a copy if it is not shared.
            self.buffer = BytesMut::from(chunk);
        } else {
            self.buffer.extend_from_slice(&chunk);
        }
    }

    fn pending_bytes(&self) -> usize {
        self.buffer.len() + self.data.as_ref().map_or(0, Bytes::len) + self.more.len()
    }

    pub(crate) fn next(&mut self) -> Option<SseEvent> {
        while let Some(line) = self.next_line() {
            if line.is_empty() {
                let name = std::mem::take(&mut self.name);
                if let Some(data) = self.data.take() {
                    let more = self.more.split().freeze();
                    let data = if more.is_empty() { data } else { [data, more].concat().into() };
                    return Some(SseEvent { name, data });
                }
            } else {
                self.apply_field(&line);
            }
        }
        None
    }

    fn next_line(&mut self) -> Option<Bytes> {
        // CR, LF and CRLF all end a line, and a chunk may end between CR and LF.
        if self.after_cr && !self.buffer.is_empty() {
            self.after_cr = false;
            if self.buffer.starts_with(b"\n") {
                self.buffer.advance(1);
            }
        }
        if !self.past_start && self.buffer.len() >= 3 {
            self.past_start = true;
            if self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.advance(3);
            }
        }
        let tail = self.buffer.get(self.searched..)?;
        let Some(offset) = memchr::memchr2(b'\n', b'\r', tail) else {
            self.searched = self.buffer.len();
            return None;
        };
        self.after_cr = tail.get(offset) == Some(&b'\r');
        let line = self.buffer.split_to(self.searched + offset).freeze();
        self.buffer.advance(1);
        self.searched = 0;
        Some(line)
    }

    fn apply_field(&mut self, line: &Bytes) {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let field = line.slice(..colon);
        let mut value = line.slice((colon + 1).min(line.len())..);
        if value.starts_with(b" ") {
            value.advance(1);
        }
        match &field[..] {
            b"data" if self.data.is_none() => self.data = Some(value),
            b"data" => {
                self.more.extend_from_slice(b"\n");
                self.more.extend_from_slice(&value);
            }
            b"event" => self.name = String::from_utf8_lossy(&value).into_owned(),
            b"id" if !value.contains(&0) => {
                self.last_id = Some(String::from_utf8_lossy(&value).into_owned());
            }
            b"retry" => {
                let millis = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
                let wait =
                    millis.map(|millis: u64| Duration::from_millis(millis).min(MAX_RETRY_DELAY));
                self.retry = wait.or(self.retry);
            }
            // Comments have an empty name; the standard requires unknown fields to be ignored.
            _ => {}
        }
    }
}

#[cfg(test)]
pub(crate) fn parse_events<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<SseEvent> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    for chunk in chunks {
        parser.push(Bytes::copy_from_slice(chunk));
        events.extend(std::iter::from_fn(|| parser.next()));
    }
    events
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Bytes, SseEvent, SseParser};

    fn events(chunks: &[&[u8]]) -> (Vec<SseEvent>, Option<String>) {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        for chunk in chunks {
            parser.push(Bytes::copy_from_slice(chunk));
            while let Some(event) = parser.next() {
                events.push(event);
            }
        }
        (events, parser.last_id)
    }

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.to_owned(), data: Bytes::copy_from_slice(data.as_bytes()) }
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        let text = "\u{feff}: hello\nid: 7\nevent: endpoint\ndata: /post\n\n\
                    data:a\ndata: b\r\n\r\nretry: 50\n\ndata\n\nevent: lost\n\ndata:  two\r\rdata: cut";
        assert_eq!(
            events(&[text.as_bytes()]),
            (
                vec![
                    event("endpoint", "/post"),
                    event("", "a\nb"),
                    event("", ""),
                    event("", " two")
                ],
                Some("7".to_owned())
            )
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn events_do_not_depend_on_how_the_bytes_arrive(
            text in "((data|id|event|x):? ?[a-z:]{0,6}(\r\n|\n|\r)|(\r\n|\n|\r)){0,20}",
            cut in 1..6_usize,
        ) {
            let chunks: Vec<_> = text.as_bytes().chunks(cut).collect();
            prop_assert_eq!(events(&chunks), events(&[text.as_bytes()]));
        }

        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            events(&[&bytes]);
        }
    }
}
