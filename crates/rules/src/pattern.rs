//! Names of targets with wildcards in them.

use switchboard_text::{BadPattern, Glob, GlobToken, SingleChoice, escape_wildcards, parse_forms};

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
        let forms = parse_forms(text, SingleChoice::Reject)?.into_iter();
        let forms = forms.map(|form| PatternForm::new(form.tokens)).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), forms })
    }

    /// A pattern for one target and no other.
    #[must_use]
    pub fn exactly(server: &str, target: &str) -> Self {
        Self::new(&format!("{}/{}", escape_wildcards(server), escape_wildcards(target)))
    }

    /// The text of a pattern for everything that a server offers.
    #[must_use]
    pub fn server_text(server: &str) -> String {
        format!("{}/*", escape_wildcards(server))
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
    fn new(mut tokens: Vec<GlobToken>) -> Result<Self, BadPattern> {
        if tokens == [GlobToken::AnyText] {
            let reach = PatternReach::Everything;
            return Ok(Self { start: String::new(), is_exact: false, reach });
        }
        if !tokens.iter().any(GlobToken::is_slash) {
            tokens.extend([GlobToken::Char { sign: '/', is_escaped: false }, GlobToken::AnyText]);
        }
        let slashes = tokens.iter().enumerate().filter(|(_, token)| token.is_slash());
        let mut halves = Vec::new();
        for (at, _) in slashes {
            let (server, rest) = tokens.split_at_checked(at).unwrap_or_default();
            let target = rest.get(1..).unwrap_or_default();
            // It would cover nothing, and a `deny` that covers nothing must not go unnoticed.
            if halves.is_empty() && (lacks_name(server) || lacks_name(target)) {
                return Err(BadPattern {
                    offset: 0,
                    message: "lacks a name on one side of its `/`, or has a space there",
                    hint: "`server/*` is everything of a server",
                });
            }
            halves.push((Glob::new(server), Glob::new(target)));
        }
        let start: String = tokens.iter().map_while(GlobToken::literal).collect();
        let is_exact = tokens.iter().all(|token| token.literal().is_some());
        Ok(Self { start, is_exact, reach: PatternReach::Halves(halves) })
    }
}

/// Whether one side of a `/` is empty, or has a space at its start or end.
fn lacks_name(tokens: &[GlobToken]) -> bool {
    let is_space = |token: &GlobToken| token.literal().is_some_and(char::is_whitespace);
    let is_escaped = |token: &GlobToken| matches!(token, GlobToken::Char { is_escaped: true, .. });
    // A space at the start can be meant, if a backslash says so.
    tokens.first().is_none_or(|first| is_space(first) && !is_escaped(first))
        || tokens.last().is_some_and(is_space)
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
