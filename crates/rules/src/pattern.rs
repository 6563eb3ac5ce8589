//! Patterns of rules over the names of targets.

use switchboard_text::{BadPattern, Glob, GlobToken, SingleChoice, escape_wildcards, parse_forms};

/// A pattern over `server/target`: `*` matches any text, including none, `?` one character, `[a-z]`
/// one of these characters, `{a,b}` one of these texts. A backslash escapes a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    /// One form for each choice of the braces.
    forms: Vec<PatternForm>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PatternForm {
    /// The literal prefix of all covered names, as `server/target`.
    start: String,
    is_exact: bool,
    reach: PatternReach,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternReach {
    Everything,
    /// The patterns of server and target, for each slash that may separate them.
    // Both halves may contain slashes. Matching them separately keeps a `*` in the server's half
    // from matching across the separator.
    Halves(Vec<(Glob, Glob)>),
}

impl Pattern {
    /// Creates a pattern from `server/target` with wildcards. A name without `/` covers everything
    /// of that server. An invalid pattern covers nothing.
    pub fn new(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self { text: text.to_owned(), forms: Vec::new() })
    }

    /// Parses `server/target` with wildcards.
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        if let Some(at) = text.find("://") {
            check_address(text, text.get(..at).unwrap_or_default().chars().count())?;
        }
        let forms = parse_forms(text, SingleChoice::Reject)?.into_iter();
        let forms = forms.map(|form| PatternForm::new(form.tokens)).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), forms })
    }

    /// Creates a pattern that covers exactly one target.
    pub fn exactly(server: &str, target: &str) -> Self {
        Self::new(&format!("{}/{}", escape_wildcards(server), escape_wildcards(target)))
    }

    /// Returns the text of a pattern that covers everything of a server.
    pub fn server_text(server: &str) -> String {
        format!("{}/*", escape_wildcards(server))
    }

    /// Returns whether the pattern covers a target of a server.
    pub fn covers(&self, server: &str, target: &str) -> bool {
        self.forms.iter().any(|form| match &form.reach {
            PatternReach::Everything => true,
            PatternReach::Halves(halves) => halves.iter().any(|(of_server, of_target)| {
                of_server.matches(server) && of_target.matches(target)
            }),
        })
    }

    /// Returns whether the pattern can cover any target of a server.
    pub fn reaches(&self, server: &str) -> bool {
        self.forms.iter().any(|form| match &form.reach {
            PatternReach::Everything => true,
            PatternReach::Halves(halves) => {
                halves.iter().any(|(of_server, _)| of_server.matches(server))
            }
        })
    }

    /// Returns the literal prefix of each form, and whether it is the whole name.
    pub fn starts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.forms.iter().map(|form| (form.start.as_str(), form.is_exact))
    }

    /// Returns the single name that the pattern covers, if it has no wildcards.
    pub fn literal(&self) -> Option<&str> {
        match self.forms.as_slice() {
            [form] if form.is_exact => Some(&form.start),
            _ => None,
        }
    }

    /// Returns the pattern as it was written.
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
            // A `deny` that covers nothing must not stay unnoticed. Only the first slash is
            // checked: in `server/dir/`, the second one has an empty half.
            if halves.is_empty() && (lacks_name(server) || lacks_name(target)) {
                return Err(BadPattern {
                    offset: 0,
                    message: "needs a name on both sides of its `/`, without spaces around it",
                    hint: "`server/*` matches everything of a server",
                });
            }
            halves.push((Glob::new(server), Glob::new(target)));
        }
        let start: String = tokens.iter().map_while(GlobToken::literal).collect();
        let is_exact = tokens.iter().all(|token| token.literal().is_some());
        Ok(Self { start, is_exact, reach: PatternReach::Halves(halves) })
    }
}

/// Returns whether one side of a `/` is empty, or has a space at its start or end.
fn lacks_name(tokens: &[GlobToken]) -> bool {
    let is_space = |token: &GlobToken| token.literal().is_some_and(char::is_whitespace);
    let is_escaped = |token: &GlobToken| matches!(token, GlobToken::Char { is_escaped: true, .. });
    // A leading space is accepted if it is escaped.
    tokens.first().is_none_or(|first| is_space(first) && !is_escaped(first))
        || tokens.last().is_some_and(is_space)
}

/// Rejects an unescaped `?` or `[` in the URI that begins after the first `from` characters.
pub(crate) fn check_address(text: &str, from: usize) -> Result<(), BadPattern> {
    // A query begins with `?` and an IPv6 host with `[`. As wildcards, they would match other URIs
    // than the author expects.
    let mut is_taken = false;
    for (offset, sign) in text.chars().enumerate() {
        match sign {
            _ if is_taken => is_taken = false,
            '\\' => is_taken = true,
            '?' | '[' if offset > from => {
                return Err(BadPattern {
                    offset,
                    message: "has a `?` or `[` in a URI, which is either a part of it or a wildcard",
                    hint: "write `\\?` or `\\[` to match the character (in JSON `\\\\?`), or `*` to match any text",
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
