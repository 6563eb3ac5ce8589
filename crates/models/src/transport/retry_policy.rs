//! How long a vendor may take, and how long is waited before it is asked again.

use std::time::Duration;

/// How long a vendor may take, and how long is waited before it is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How long a vendor may take to begin an answer. A server on this machine may have to load
    /// the model first.
    pub beginning: Duration,
    /// How long an answer may pause between two events.
    pub silence: Duration,
    /// How long is waited before a vendor that is busy is asked again; doubled every time.
    pub back_off: Duration,
    /// The longest wait that a vendor can ask for.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            beginning: Duration::from_secs(120),
            silence: Duration::from_secs(120),
            back_off: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// Patience with a server on a machine of one's own.
    #[must_use]
    pub fn local() -> Self {
        Self { beginning: Duration::from_secs(600), ..Self::default() }
    }
}
