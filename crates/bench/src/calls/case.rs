//! What is measured: over which transport, with how much text, how many calls at a time.

use std::fmt;

use serde::Serialize;

/// How a client reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CaseTransport {
    Stdio,
    Http,
}

/// One thing to measure of every client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct CallCase {
    pub(super) transport: CaseTransport,
    /// Bytes of text, there and back.
    pub(super) bytes: usize,
    /// Calls that are under way at the same time.
    pub(super) in_flight: usize,
}

pub(super) const SMALL: usize = 200;
pub(super) const LARGE: usize = 1 << 20;
const SIZES: [usize; 3] = [SMALL, 64 << 10, LARGE];
/// As many calls are under way where not each waits for the one before.
pub(super) const MAX_IN_FLIGHT: usize = 64;

/// Every case.
pub(super) fn all() -> Vec<CallCase> {
    let mut cases = Vec::new();
    for transport in [CaseTransport::Stdio, CaseTransport::Http] {
        for bytes in SIZES {
            for in_flight in [1, MAX_IN_FLIGHT] {
                cases.push(CallCase { transport, bytes, in_flight });
            }
        }
    }
    cases
}

impl CallCase {
    /// The payload's size as people write it.
    pub(super) fn size(self) -> String {
        match self.bytes {
            bytes if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
            bytes if bytes >= 1 << 10 => format!("{} KiB", bytes >> 10),
            bytes => format!("{bytes} B"),
        }
    }
}

impl fmt::Display for CaseTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Http => "HTTP",
        })
    }
}

impl fmt::Display for CallCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = if self.in_flight == 1 { "one at a time" } else { "64 in flight" };
        write!(f, "{}, {}, {load}", self.transport, self.size())
    }
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn cases_are_named_as_people_would() {
        let names: Vec<String> = all().iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 12);
        assert_eq!(names.first().unwrap(), "stdio, 200 B, one at a time");
        assert_eq!(names.last().unwrap(), "HTTP, 1 MiB, 64 in flight");
    }
}
