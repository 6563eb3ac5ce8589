//! Which servers and tools a caller sees.

use switchboard_rules::Pattern;

/// What a caller sees: everything, or what some patterns cover.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// What is seen; without any pattern, everything is.
    pub patterns: Vec<Pattern>,
}

impl View {
    /// Whether a tool, resource or prompt of a server is seen.
    #[must_use]
    pub fn shows(&self, server: &str, name: &str) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.covers(server, name))
    }

    /// Whether everything is seen.
    #[must_use]
    pub fn is_unrestricted(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Tells one view from another.
    #[must_use]
    pub fn key(&self) -> String {
        let words: Vec<&str> = self.patterns.iter().map(Pattern::as_str).collect();
        words.join("\n")
    }
}
