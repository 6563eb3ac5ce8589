//! What a connection accepts before it says no.

use std::time::Duration;

/// Bounds on what the other side may send or leave unread.
#[derive(Clone, Debug)]
pub struct WireLimits {
    /// The longest line over a pipe.
    pub line_bytes: usize,
    /// The longest event of an HTTP event stream.
    pub frame_bytes: usize,
    /// The longest HTTP body that is one answer.
    pub body_bytes: usize,
    /// Lines that are not JSON, in one minute, before the connection is given up.
    pub noise_lines: u32,
    /// Bytes that are not JSON, in one minute, before the connection is given up.
    pub noise_bytes: usize,
    /// Bytes that wait to be written before a request has to wait for room.
    pub queued_bytes: usize,
    /// Requests and notifications from the other side that wait to be read.
    pub inbound_messages: usize,
    /// How long one HTTP connection may take to be made.
    pub connect: Duration,
    /// What becomes of lines that are no messages.
    pub unreadable: UnreadableLines,
}

/// What becomes of lines that are no messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnreadableLines {
    /// They are counted: servers write all sorts of things to their output.
    #[default]
    Counted,
    /// They are answered with an error as well: a client may wait for an answer.
    Answered,
}

impl Default for WireLimits {
    fn default() -> Self {
        Self {
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
