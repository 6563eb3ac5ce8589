//! A peer over a pair of byte streams: a child process, a socket, or an in-process pipe.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use switchboard_json::Json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::error::{RpcError, truncate};
use crate::framing::{FramedLine, LineReader};
use crate::limits::{UnreadableLines, WireLimits};
use crate::outbox::Outbox;
use crate::peer::{Inbound, Peer, PeerLink, PeerShared};

/// How long answers may still be received after the writer failed.
const READ_DRAIN: Duration = Duration::from_millis(200);

/// Number of requests in flight above which the writer expects more messages at once.
const CROWDED_THRESHOLD: usize = 8;

/// Starts a peer that reads lines from `from` and writes lines to `to`.
///
/// Runs a reader task and a writer task; both end with the connection.
pub fn start_stream<R, W>(from: R, to: W, limits: WireLimits) -> (Peer, mpsc::Receiver<Inbound>)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let outbox = Outbox::new(limits.queued_bytes);
    let (peer, inbound) = Peer::new(PeerLink::Stream(outbox), limits);
    tokio::spawn(run_writer(Arc::clone(&peer.shared), to));
    tokio::spawn(run_reader(Arc::clone(&peer.shared), from));
    (peer, inbound)
}

/// Creates two peers that are connected within this process.
#[must_use]
pub fn stream_pair(limits: WireLimits) -> [(Peer, mpsc::Receiver<Inbound>); 2] {
    let (near, far) = tokio::io::duplex(256 << 10);
    let (near_from, near_to) = tokio::io::split(near);
    let (far_from, far_to) = tokio::io::split(far);
    [start_stream(near_from, near_to, limits.clone()), start_stream(far_from, far_to, limits)]
}

async fn run_writer<W: AsyncWrite + Unpin>(shared: Arc<PeerShared>, mut to: W) {
    let PeerLink::Stream(outbox) = &shared.link else { return };
    let mut batch = Vec::new();
    let write_all = async {
        let is_crowded = || shared.in_flight.len() > CROWDED_THRESHOLD;
        while outbox.next_batch(&mut batch, is_crowded).await.is_some() {
            to.write_all(&batch).await?;
            to.flush().await?;
        }
        Ok::<(), std::io::Error>(())
    };
    tokio::select! {
        written = write_all => if let Err(error) = written {
            // A server that exits may have written its last answers before it closed its input.
            tokio::time::sleep(READ_DRAIN).await;
            shared.close(&format!("cannot write to the server: {error}"));
        },
        // A blocked write must not keep the pipe open.
        () = shared.over.cancelled() => {}
    }
}

async fn run_reader<R: AsyncRead + Unpin>(shared: Arc<PeerShared>, from: R) {
    let mut lines = LineReader::new(from, shared.limits.line_bytes);
    let mut noise = NoiseCounter::new();
    let over = shared.over.cancelled();
    tokio::pin!(over);
    let reason = loop {
        // Buffered lines need no wake-up, and lines usually arrive in bursts.
        let line = match lines.next_buffered() {
            Some(line) => Ok(line),
            None => tokio::select! {
                biased;
                () = &mut over => return,
                line = lines.next() => line,
            },
        };
        match line {
            Ok(FramedLine::Whole(line)) => {
                if let Err(why) = shared.dispatch(&line) {
                    answer_unreadable(&shared, why.into());
                    if let Some(reason) = noise.count(&shared, &line) {
                        break reason;
                    }
                }
            }
            // The last line may lack its ending; a partial message is an error.
            Ok(FramedLine::Rest(rest)) if shared.dispatch(&rest).is_ok() => {}
            Ok(FramedLine::Rest(rest)) => {
                break format!("the server's output ended in the middle of {}", excerpt(&rest));
            }
            Ok(FramedLine::TooLong) if shared.limits.unreadable == UnreadableLines::Answered => {
                let limit = shared.limits.line_bytes;
                let why = format!("the message has more than {limit} bytes");
                answer_unreadable(&shared, RpcError::new(-32_600, why));
                // Only this message is lost; the client keeps its connection.
                tokio::select! {
                    () = &mut over => return,
                    skipped = lines.skip_line() => if let Err(error) = skipped {
                        break format!("cannot read from the client: {error}");
                    },
                }
            }
            Ok(FramedLine::TooLong) => {
                let limit = shared.limits.line_bytes;
                break format!("the server wrote a line of more than {limit} bytes");
            }
            Ok(FramedLine::End) => break "the server closed its output".to_owned(),
            Err(error) => break format!("cannot read from the server: {error}"),
        }
    };
    shared.close(&reason);
}

/// Answers a line that is not a message, if the other side may be waiting for an answer.
fn answer_unreadable(shared: &Arc<PeerShared>, why: RpcError) {
    if shared.limits.unreadable == UnreadableLines::Answered {
        shared.spawn_reply(Json::NULL, Err(why));
    }
}

/// The lines of the current minute that are not messages.
struct NoiseCounter {
    since: Instant,
    lines: u32,
    bytes: usize,
}

impl NoiseCounter {
    fn new() -> Self {
        Self { since: Instant::now(), lines: 0, bytes: 0 }
    }

    /// Counts a line; returns the reason to close the connection if a limit is exceeded.
    fn count(&mut self, shared: &PeerShared, line: &Bytes) -> Option<String> {
        shared.counts.noise.fetch_add(1, Ordering::Relaxed);
        if self.since.elapsed() > Duration::from_secs(60) {
            *self = Self::new();
        }
        self.lines += 1;
        self.bytes += line.len();
        let limits = &shared.limits;
        (self.lines > limits.noise_lines || self.bytes > limits.noise_bytes).then(|| {
            format!(
                "the server wrote {} lines to its output that are not messages, such as {}",
                self.lines,
                excerpt(line)
            )
        })
    }
}

fn excerpt(bytes: &[u8]) -> String {
    format!("`{}`", truncate(&String::from_utf8_lossy(bytes), 200))
}
