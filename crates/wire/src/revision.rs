//! The protocol revisions and their two eras.

use std::fmt;

/// A revision of the protocol, named by its date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05: the first revision, with HTTP+SSE.
    V2024_11_05,
    /// 2025-03-26: streamable HTTP, and the only revision with batches.
    V2025_03_26,
    /// 2025-06-18: structured content, elicitation.
    V2025_06_18,
    /// 2025-11-25: the last revision with a handshake.
    V2025_11_25,
    /// 2026-07-28: no handshake, no sessions.
    V2026_07_28,
}

/// The era of a server: whether the protocol starts with a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// A handshake and sessions; the server may send requests.
    Legacy,
    /// No handshake; every request is self-contained.
    Modern,
}

impl Revision {
    /// The newest revision that `initialize` may offer.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest supported revision.
    pub const NEWEST: Self = Self::V2026_07_28;

    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// Returns the date that names the revision on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the revision named by a date, if it is supported.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Returns the era of the revision.
    #[must_use]
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }

    /// Returns whether a message may be an array of messages.
    #[must_use]
    pub fn allows_batches(self) -> bool {
        self == Self::V2025_03_26
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}
