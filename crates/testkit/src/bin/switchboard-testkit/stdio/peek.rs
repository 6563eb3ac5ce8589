//! Peeks into the pipe of standard input without consuming anything.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

/// Default capacity of a pipe on Linux.
const PEEK_BYTES: usize = 64 * 1024;

pub(crate) enum PeekedLine {
    Line(Vec<u8>),
    /// A `tools/call` is next and was left in the pipe.
    Call,
    End,
}

/// A reader that consumes whole lines only.
pub(crate) struct Peek {
    copy: (OwnedFd, OwnedFd),
    partial: Vec<u8>,
}

impl Peek {
    pub(crate) fn new() -> Self {
        let copy = rustix::pipe::pipe().expect("a pipe can be made");
        Self { copy, partial: Vec::new() }
    }

    /// Waits for the next line; with `look`, a call is announced instead of consumed.
    pub(crate) fn next(&mut self, look: bool) -> PeekedLine {
        let mut before = 0;
        loop {
            let Ok(seen) = self.look() else { return PeekedLine::End };
            if seen.is_empty() {
                return PeekedLine::End;
            }
            let end = seen.iter().position(|byte| *byte == b'\n').map(|position| position + 1);
            let line = String::from_utf8_lossy(&seen[..end.unwrap_or(seen.len())]).into_owned();
            // A line that fills the pipe counts as a call: its method may not be visible yet.
            let call =
                line.contains("\"tools/call\"") || (end.is_none() && seen.len() == PEEK_BYTES);
            if look && self.partial.is_empty() && call {
                return PeekedLine::Call;
            }
            let still_growing = end.is_none() && seen.len() < PEEK_BYTES && seen.len() != before;
            if still_growing {
                before = seen.len();
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            if self.take(end.unwrap_or(seen.len())).is_err() {
                return PeekedLine::End;
            }
            if end.is_some() {
                return PeekedLine::Line(std::mem::take(&mut self.partial));
            }
        }
    }

    /// Copies the contents of the pipe; empty at the end of input.
    fn look(&self) -> io::Result<Vec<u8>> {
        let stdin = io::stdin();
        poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None)?;
        let count = rustix::pipe::tee(
            &stdin,
            &self.copy.1,
            PEEK_BYTES,
            rustix::pipe::SpliceFlags::empty(),
        )?;
        let mut bytes = vec![0; count];
        let mut filled = 0;
        while filled < count {
            filled += rustix::io::read(&self.copy.0, &mut bytes[filled..])?;
        }
        Ok(bytes)
    }

    fn take(&mut self, count: usize) -> io::Result<()> {
        let mut left = count;
        while left > 0 {
            let mut bytes = vec![0; left];
            let taken = rustix::io::read(io::stdin(), &mut bytes)?;
            self.partial.extend_from_slice(&bytes[..taken]);
            left -= taken.max(1);
        }
        Ok(())
    }
}
