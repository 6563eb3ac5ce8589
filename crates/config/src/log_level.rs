//! Minimum severity of log messages from servers.

/// The severity of a log message, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LogLevel {
    Debug,
    #[default]
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
    Off,
}

impl LogLevel {
    /// All levels, with the protocol's name for each; `off` is specific to Switchboard.
    pub const ALL: [(&'static str, Self); 9] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
        ("off", Self::Off),
    ];

    /// Returns the name of the level.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, level)| *level == self).map_or("", |(word, _)| word)
    }

    /// Returns the level for a name sent by a server; `off` is not a protocol level.
    pub fn from_word(word: &str) -> Option<Self> {
        let known = Self::ALL.iter().filter(|(_, level)| *level != Self::Off);
        known.clone().find(|(known, _)| *known == word).map(|(_, level)| *level)
    }
}
