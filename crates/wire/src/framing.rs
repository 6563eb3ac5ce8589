//! Line framing of a byte stream: bounded, tolerant of line endings, cancel safe.

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Minimum and maximum read size; it grows while reads fill the buffer.
const READ_BUFFER_RANGE: (usize, usize) = (8 << 10, 256 << 10);

pub(crate) struct LineReader<R> {
    from: R,
    buffer: BytesMut,
    /// Bytes at the front of the buffer that are known to hold no newline.
    searched: usize,
    limit_bytes: usize,
    at_start: bool,
    read_bytes: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FramedLine {
    /// A line without its ending, never blank.
    Whole(Bytes),
    /// An unterminated line at the end of the stream.
    Rest(Bytes),
    /// The line exceeds the limit; the part already read is lost.
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(from: R, limit_bytes: usize) -> Self {
        let read_bytes = READ_BUFFER_RANGE.0;
        Self { from, buffer: BytesMut::new(), searched: 0, limit_bytes, at_start: true, read_bytes }
    }

    /// Returns the next line. Cancel safe: bytes already read stay in the buffer.
    pub(crate) async fn next(&mut self) -> std::io::Result<FramedLine> {
        loop {
            if let Some(line) = self.next_buffered() {
                return Ok(line);
            }
            // Before the next read, so that the buffer grows by at most one read past the limit.
            if self.buffer.len() > self.limit_bytes {
                return Ok(FramedLine::TooLong);
            }
            self.buffer.reserve(self.read_bytes);
            let count = self.from.read_buf(&mut self.buffer).await?;
            self.read_bytes = match count {
                _ if count >= self.read_bytes => (self.read_bytes * 4).min(READ_BUFFER_RANGE.1),
                _ if count < self.read_bytes / 8 => (self.read_bytes / 2).max(READ_BUFFER_RANGE.0),
                _ => self.read_bytes,
            };
            if count == 0 {
                let rest = self.buffer.split().freeze();
                self.searched = 0;
                let rest = trim_line(rest);
                return Ok(if rest.is_empty() { FramedLine::End } else { FramedLine::Rest(rest) });
            }
        }
    }

    /// Discards the rest of a line that exceeds the limit.
    pub(crate) async fn skip_line(&mut self) -> std::io::Result<()> {
        loop {
            self.searched = 0;
            if let Some(end) = memchr::memchr(b'\n', &self.buffer) {
                self.buffer.advance(end + 1);
                return Ok(());
            }
            self.buffer.clear();
            self.buffer.reserve(self.read_bytes);
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(());
            }
        }
    }

    pub(crate) fn next_buffered(&mut self) -> Option<FramedLine> {
        loop {
            // Programs on Windows often begin their output with a byte order mark.
            if self.at_start && self.buffer.len() >= 3 {
                self.at_start = false;
                if self.buffer.starts_with(b"\xef\xbb\xbf") {
                    self.buffer.advance(3);
                }
            }
            let tail = self.buffer.get(self.searched..)?;
            let Some(offset) = memchr::memchr(b'\n', tail) else {
                self.searched = self.buffer.len();
                return None;
            };
            let end = self.searched + offset;
            self.searched = 0;
            if end > self.limit_bytes {
                return Some(FramedLine::TooLong);
            }
            let line = self.buffer.split_to(end).freeze();
            self.buffer.advance(1);
            let line = trim_line(line);
            if !line.is_empty() {
                return Some(FramedLine::Whole(line));
            }
        }
    }
}

fn trim_line(mut line: Bytes) -> Bytes {
    let kept = line.trim_ascii_end().len();
    line.truncate(kept);
    let blank = line.len() - line.trim_ascii_start().len();
    line.advance(blank);
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FramedLine, LineReader};

    fn read_lines(chunks: Vec<Vec<u8>>, limit: usize) -> Vec<FramedLine> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async move {
            let (mut near, far) = tokio::io::duplex(1 << 20);
            let writer = async move {
                for chunk in chunks {
                    tokio::io::AsyncWriteExt::write_all(&mut near, &chunk).await.unwrap();
                    tokio::task::yield_now().await;
                }
            };
            let reader = async move {
                let mut lines = Vec::new();
                let mut reader = LineReader::new(far, limit);
                loop {
                    match reader.next().await.unwrap() {
                        FramedLine::End => return lines,
                        FramedLine::TooLong => {
                            lines.push(FramedLine::TooLong);
                            return lines;
                        }
                        line => lines.push(line),
                    }
                }
            };
            tokio::join!(writer, reader).1
        })
    }

    fn whole(text: &'static str) -> FramedLine {
        FramedLine::Whole(text.as_bytes().into())
    }

    #[test]
    fn a_mark_at_the_start_and_any_line_ending_are_accepted() {
        let text = b"\xef\xbb\xbf{}\r\n\r\n  \n{\"a\":1}\n\x20{\"b\":2}  \r\n".to_vec();
        assert_eq!(
            read_lines(vec![text], 100),
            [whole("{}"), whole("{\"a\":1}"), whole("{\"b\":2}")]
        );
    }

    #[test]
    fn the_end_of_the_stream_gives_the_rest() {
        assert_eq!(
            read_lines(vec![b"{}\n{\"a\"".to_vec()], 100),
            [whole("{}"), FramedLine::Rest("{\"a\"".as_bytes().into())]
        );
    }

    #[test]
    fn a_line_over_the_limit_is_told() {
        let exact = [vec![b'x'; 100], vec![b'\n']].concat();
        let over = [vec![b'x'; 101], vec![b'\n']].concat();
        assert_eq!(read_lines(vec![exact.clone()], 100).len(), 1);
        assert_ne!(read_lines(vec![exact], 100), [FramedLine::TooLong]);
        assert_eq!(read_lines(vec![over], 100), [FramedLine::TooLong]);
        assert_eq!(read_lines(vec![vec![b'x'; 1000]], 100), [FramedLine::TooLong]);
    }

    #[tokio::test]
    async fn what_follows_a_line_that_is_too_long_is_read() {
        let text = [vec![b'x'; 300_000], b"\n{}\n".to_vec(), vec![b'y'; 200]].concat();
        let mut reader = LineReader::new(text.as_slice(), 100);
        assert_eq!(reader.next().await.unwrap(), FramedLine::TooLong);
        reader.skip_line().await.unwrap();
        assert_eq!(reader.next().await.unwrap(), whole("{}"));
        assert_eq!(reader.next().await.unwrap(), FramedLine::TooLong);
        reader.skip_line().await.unwrap();
        assert_eq!(reader.next().await.unwrap(), FramedLine::End);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(
            text in "([a-z{}\"]{0,20}\r?\n){0,12}[a-z]{0,5}",
            cuts in prop::collection::vec(1..7_usize, 0..40),
        ) {
            let bytes = text.as_bytes();
            let mut chunks = Vec::new();
            let mut start = 0;
            for cut in cuts {
                let end = (start + cut).min(bytes.len());
                chunks.push(bytes[start..end].to_vec());
                start = end;
            }
            chunks.push(bytes[start..].to_vec());
            prop_assert_eq!(read_lines(chunks, 100), read_lines(vec![bytes.to_vec()], 100));
        }
    }
}
