//! How serious a message of a server has to be to be wanted.

/// How serious a message is, the least serious first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LogLevel {
    Debug,
    #[default]
    Info,
    /// What is worth a look.
    Notice,
    /// What may go wrong.
    Warning,
    Error,
    /// What went badly wrong.
    Critical,
    /// What needs somebody at once.
    Alert,
    /// Nothing works any more.
    Emergency,
    /// No messages at all.
    Off,
}

impl LogLevel {
    /// All of them, with the protocol's word for each; `off` is ours.
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

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, level)| *level == self).map_or("", |(word, _)| word)
    }

    /// The level that a server's word stands for; `off` is no word of a server.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let known = Self::ALL.iter().filter(|(_, level)| *level != Self::Off);
        known.clone().find(|(known, _)| *known == word).map(|(_, level)| *level)
    }
}
