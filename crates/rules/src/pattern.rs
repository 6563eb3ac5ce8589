//! Names of targets with wildcards in them.

use crate::glob;
use crate::glob::{BadPattern, Glob};

/// A pattern over `server/target`: `*` stands for any text, also for none, `?` for one character,
/// `[a-z]` for one of those, `{a,b}` for one of the texts. A backslash takes a sign as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    /// One for each choice of its braces; without any it covers nothing.
    forms: Vec<PatternForm>,
}

/// One of the texts that the braces of a pattern stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PatternForm {
    /// What each name begins with that it covers, written as `server/target`.
    start: String,
    is_exact: bool,
    reach: PatternReach,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternReach {
    Everything,
    /// What is before one of its slashes is the server, what is after it the target. So no star
    /// reaches from one into the other.
    Halves(Vec<(Glob, Glob)>),
}

impl Pattern {
    /// Takes `server/target`, with wildcards where something else may stand. A name without `/` is a
    /// server with all that it offers. What cannot be read as a pattern covers nothing.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self { text: text.to_owned(), forms: Vec::new() })
    }

    /// Reads `server/target`, with wildcards where something else may stand.
    ///
    /// # Errors
    /// When a wildcard has no end, a name is missing, or a sign can be meant in two ways.
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        if let Some(at) = text.find("://") {
            check_address(text, text.get(..at).unwrap_or_default().chars().count())?;
        }
        let texts = glob::alternatives(text)?;
        let forms = texts.iter().map(|form| PatternForm::parse(form)).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), forms })
    }

    /// A pattern for one target and no other.
    #[must_use]
    pub fn exactly(server: &str, target: &str) -> Self {
        Self::new(&format!("{}/{}", glob::escape(server), glob::escape(target)))
    }

    /// The text of a pattern for everything that a server offers.
    #[must_use]
    pub fn server_text(server: &str) -> String {
        format!("{}/*", glob::escape(server))
    }

    /// Whether the pattern covers a target of a server.
    #[must_use]
    pub fn covers(&self, server: &str, target: &str) -> bool {
        self.forms.iter().any(|form| match &form.reach {
            PatternReach::Everything => true,
            PatternReach::Halves(halves) => halves.iter().any(|(of_server, of_target)| {
                of_server.matches(server) && of_target.matches(target)
            }),
        })
    }

    /// Whether the pattern can cover something of a server.
    #[must_use]
    pub fn reaches(&self, server: &str) -> bool {
        self.forms.iter().any(|form| match &form.reach {
            PatternReach::Everything => true,
            PatternReach::Halves(halves) => {
                halves.iter().any(|(of_server, _)| of_server.matches(server))
            }
        })
    }

    /// What each name begins with that it covers, for each of its forms, and whether that is all.
    pub fn starts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.forms.iter().map(|form| (form.start.as_str(), form.is_exact))
    }

    /// The one name that it covers, if there is no wildcard in it.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.forms.as_slice() {
            [form] if form.is_exact => Some(&form.start),
            _ => None,
        }
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PatternForm {
    fn parse(text: &str) -> Result<Self, BadPattern> {
        if text == "*" {
            return Ok(Self {
                start: String::new(),
                is_exact: false,
                reach: PatternReach::Everything,
            });
        }
        let slashes = slashes(text);
        if slashes.is_empty() {
            return Self::parse(&format!("{text}/*"));
        }
        let mut halves = Vec::new();
        for at in slashes {
            let (server, rest) = text.split_at_checked(at).unwrap_or_default();
            let target = rest.strip_prefix('/').unwrap_or_default();
            // It would cover nothing, and a `deny` that covers nothing is no slip that may go unseen.
            let is_half = |text: &str| text.is_empty() || text.trim() != text;
            if halves.is_empty() && (is_half(server) || is_half(target)) {
                return Err(BadPattern {
                    offset: 0,
                    message: "lacks a name on one side of its `/`, or has a space there",
                    hint: "`server/*` is everything of a server",
                });
            }
            halves.push((Glob::parse(server)?, Glob::parse(target)?));
        }
        let (start, is_exact) = Glob::parse(text)?.literal_prefix();
        Ok(Self { start, is_exact, reach: PatternReach::Halves(halves) })
    }
}

/// Where the slashes of a text are that divide it.
fn slashes(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut is_taken = false;
    let mut is_in_class = false;
    for (at, sign) in text.char_indices() {
        match sign {
            _ if is_taken => is_taken = false,
            '\\' => is_taken = true,
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '/' if !is_in_class => found.push(at),
            _ => {}
        }
    }
    found
}

/// Looks for signs in an address that can be meant in two ways: addresses have `?` and `[` of their
/// own. The first `from` characters are no part of it.
pub(crate) fn check_address(text: &str, from: usize) -> Result<(), BadPattern> {
    let mut is_taken = false;
    for (offset, sign) in text.chars().enumerate() {
        match sign {
            _ if is_taken => is_taken = false,
            '\\' => is_taken = true,
            '?' | '[' if offset > from => {
                return Err(BadPattern {
                    offset,
                    message: "has a `?` or `[` in an address, which can be a part of it or a wildcard",
                    hint: "write `\\?` or `\\[` for the sign itself (in JSON `\\\\?`), or `*` for any text",
                });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
