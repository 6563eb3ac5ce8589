//! Limits of a connection.

use std::time::Duration;

/// Limits on what the other side may send or leave unread.
#[derive(Clone, Debug)]
pub struct WireLimits {
    /// Maximum length of a line over a pipe.
    pub line_bytes: usize,
    /// Maximum length of a server-sent event.
    pub frame_bytes: usize,
    /// Maximum length of an HTTP body that holds one answer.
    pub body_bytes: usize,
    /// Maximum lines that are not JSON per minute, before the connection is closed.
    pub noise_lines: u32,
    /// Maximum bytes that are not JSON per minute, before the connection is closed.
    pub noise_bytes: usize,
    /// Maximum bytes in the outgoing queue; further requests wait for room.
    pub queued_bytes: usize,
    /// Maximum requests and notifications in the incoming queue.
    pub inbound_messages: usize,
    /// Timeout for opening an HTTP connection.
    pub connect: Duration,
    pub unreadable: UnreadableLines,
}

/// How lines that are not messages are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnreadableLines {
    /// Counted only: servers often print other text to standard output.
    #[default]
    Counted,
    /// Also answered with an error, since a client may be waiting for an answer.
    Answered,
}

impl Default for WireLimits {
    fn default() -> Self {
        Self {
            // Without a limit, a server could fill the memory with a single line.
            line_bytes: 8 << 20,
            frame_bytes: 16 << 20,
            body_bytes: 64 << 20,
            noise_lines: 1_000,
            noise_bytes: 1 << 20,
            queued_bytes: 4 << 20,
            inbound_messages: 1_024,
            connect: Duration::from_secs(5),
            unreadable: UnreadableLines::default(),
        }
    }
}
