//! Wildcard patterns: `*`, `?`, `[a-z]` and `{a,b}`; a backslash makes the next character literal.
//!
//! One engine for rules, allow-lists and file names. Unlike `globset`, it matches characters, not
//! bytes, has an escape inside brackets, and keeps a pattern as a few short vectors, not as an
//! automaton. Matching takes at most the product of both lengths.

use std::str::Chars;

/// Maximum number of forms that the braces of one pattern expand to.
// Each pair of braces multiplies them: twenty times `{a,b}` would be a million.
const MAX_FORMS: usize = 256;

/// One element of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobToken {
    Char {
        sign: char,
        is_escaped: bool,
    },
    AnyChar,
    AnyText,
    Class {
        /// The first and the last character of each range.
        ranges: Vec<(char, char)>,
        is_negated: bool,
    },
}

/// A pattern without braces, ready to be matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// The parts between the stars.
    parts: Vec<GlobPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobPart {
    Text(Box<str>),
    Tokens(Vec<GlobToken>),
}

/// The reason that a text is not a valid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadPattern {
    /// The position of the error, in characters.
    pub offset: usize,
    /// A predicate of the pattern, such as "has an unclosed `[`".
    pub message: &'static str,
    pub hint: &'static str,
}

const ESCAPE_HINT: &str = "to match a special character, escape it: `\\[`, in JSON `\\\\[`";

impl BadPattern {
    const fn new(offset: usize, message: &'static str) -> Self {
        Self { offset, message, hint: ESCAPE_HINT }
    }
}

/// Returns a pattern that matches only `text`.
#[must_use]
pub fn escape_wildcards(text: &str) -> String {
    let is_special = |sign| matches!(sign, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '\\' | '/');
    text.chars()
        .flat_map(|sign| is_special(sign).then_some('\\').into_iter().chain([sign]))
        .collect()
}

/// Whether braces may contain a single alternative: `{a}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleChoice {
    Accept,
    Reject,
}

/// A pattern with one alternative chosen in each of its braces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobForm {
    /// The text of the pattern without braces.
    pub text: String,
    pub tokens: Vec<GlobToken>,
}

impl GlobForm {
    fn join(&self, after: &Self) -> Self {
        let text = format!("{}{}", self.text, after.text);
        Self { text, tokens: [self.tokens.as_slice(), &after.tokens].concat() }
    }
}

/// Parses a pattern into one form per combination of its alternatives; one form without braces.
pub fn parse_forms(text: &str, single_choice: SingleChoice) -> Result<Vec<GlobForm>, BadPattern> {
    PatternReader { rest: text.chars(), passed: 0, single_choice }.forms(None)
}

struct PatternReader<'a> {
    rest: Chars<'a>,
    passed: usize,
    single_choice: SingleChoice,
}

impl PatternReader<'_> {
    fn next(&mut self) -> Option<char> {
        self.passed += 1;
        self.rest.next()
    }

    /// Parses up to the end of the text, or of the braces that start at `brace`.
    fn forms(&mut self, brace: Option<usize>) -> Result<Vec<GlobForm>, BadPattern> {
        let mut done: Vec<GlobForm> = Vec::new();
        let mut current = vec![GlobForm::default()];
        loop {
            let at = self.passed;
            let from = self.rest.as_str();
            let token = match (self.next(), brace) {
                (None, None) => return Ok(current),
                (None, Some(start)) => {
                    return Err(BadPattern::new(start, "has an unclosed `{`"));
                }
                (Some('{'), _) => {
                    let inner = self.forms(Some(at))?;
                    let pairs = current
                        .iter()
                        .flat_map(|before| inner.iter().map(move |after| before.join(after)));
                    // One above the limit proves the excess without building all combinations.
                    current = pairs.take(MAX_FORMS + 1).collect();
                    if current.len() > MAX_FORMS {
                        return Err(BadPattern::new(at, "expands to too many alternatives"));
                    }
                    continue;
                }
                (Some('}'), None) => return Err(BadPattern::new(at, "has an unopened `}`")),
                (Some('}'), Some(start))
                    if done.is_empty() && self.single_choice == SingleChoice::Reject =>
                {
                    return Err(BadPattern::new(start, "has braces with only one alternative"));
                }
                (Some('}'), Some(_)) => {
                    done.append(&mut current);
                    return Ok(done);
                }
                (Some(','), Some(_)) => {
                    done.append(&mut current);
                    current.push(GlobForm::default());
                    continue;
                }
                (Some('\\'), _) => {
                    let incomplete = || BadPattern::new(at, "ends with an incomplete escape");
                    let sign = self.next().ok_or_else(incomplete)?;
                    GlobToken::Char { sign, is_escaped: true }
                }
                (Some('['), _) => self.class(at)?,
                (Some('*'), _) => GlobToken::AnyText,
                (Some('?'), _) => GlobToken::AnyChar,
                (Some(sign), _) => GlobToken::Char { sign, is_escaped: false },
            };
            let read = from.strip_suffix(self.rest.as_str()).unwrap_or_default();
            for form in &mut current {
                form.text.push_str(read);
                form.tokens.push(token.clone());
            }
        }
    }

    /// Parses a class whose opening bracket is at `start`.
    fn class(&mut self, start: usize) -> Result<GlobToken, BadPattern> {
        let unclosed = || BadPattern::new(start, "has an unclosed `[`");
        let is_negated = self.rest.as_str().starts_with(['!', '^']);
        if is_negated {
            self.next();
        }
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            let from = match self.next().ok_or_else(unclosed)? {
                ']' if ranges.iter().any(|(from, to)| to < from) => {
                    return Err(BadPattern::new(start, "has a reversed range"));
                }
                // As in a shell, a `]` directly after the opening bracket is a literal.
                ']' if !ranges.is_empty() => return Ok(GlobToken::Class { ranges, is_negated }),
                '\\' => self.next().ok_or_else(unclosed)?,
                sign => sign,
            };
            // A dash directly before the closing bracket is a literal too.
            let after_dash = self.rest.as_str().strip_prefix('-');
            let is_range = after_dash.is_some_and(|end| !end.is_empty() && !end.starts_with(']'));
            let mut to = from;
            if is_range {
                self.next();
                to = self.next().ok_or_else(unclosed)?;
                if to == '\\' {
                    to = self.next().ok_or_else(unclosed)?;
                }
            }
            ranges.push((from, to));
        }
    }
}

impl GlobToken {
    /// Returns the character, if the token is a literal.
    #[must_use]
    pub const fn literal(&self) -> Option<char> {
        match self {
            Self::Char { sign, .. } => Some(*sign),
            Self::AnyChar | Self::AnyText | Self::Class { .. } => None,
        }
    }

    /// Returns whether this is an unescaped `/`, which separates parts of the pattern.
    #[must_use]
    pub const fn is_slash(&self) -> bool {
        matches!(self, Self::Char { sign: '/', is_escaped: false })
    }

    fn matches(&self, character: char) -> bool {
        match self {
            Self::Char { sign, .. } => *sign == character,
            Self::AnyChar | Self::AnyText => true,
            Self::Class { ranges, is_negated } => {
                let is_in = |(from, to): &(char, char)| (*from..=*to).contains(&character);
                ranges.iter().any(is_in) != *is_negated
            }
        }
    }
}

impl Glob {
    /// Creates a pattern from tokens, in which `/` has no special meaning.
    #[must_use]
    pub fn new(tokens: &[GlobToken]) -> Self {
        let parts = tokens.split(|token| *token == GlobToken::AnyText);
        Self { parts: parts.map(GlobPart::new).collect() }
    }

    /// Creates a pattern in which only `*` has a special meaning.
    #[must_use]
    pub fn with_stars(text: &str) -> Self {
        Self { parts: text.split('*').map(|part| GlobPart::Text(part.into())).collect() }
    }

    /// Returns whether the pattern matches the whole text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, others)) = self.parts.split_first() else { return false };
        let Some(mut rest) = first.strip_start(text) else { return false };
        // Without a star, the first part must match the whole text.
        let Some((last, between)) = others.split_last() else { return rest.is_empty() };
        for part in between {
            // The leftmost match is enough, so no backtracking is needed: a later one would only
            // leave less text for the parts that follow.
            let Some(after) = part.find(rest) else { return false };
            rest = after;
        }
        last.matches_end(rest)
    }
}

impl GlobPart {
    fn new(tokens: &[GlobToken]) -> Self {
        let text: Option<String> = tokens.iter().map(GlobToken::literal).collect();
        text.map_or_else(|| Self::Tokens(tokens.to_vec()), |text| Self::Text(text.into()))
    }

    /// Returns the rest of a text that starts with this part.
    fn strip_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            // The part next to a star is often empty; this avoids the call of a comparison.
            Self::Text(start) if start.is_empty() => Some(text),
            Self::Text(start) => text.strip_prefix(&**start),
            Self::Tokens(tokens) => {
                let mut rest = text.chars();
                tokens
                    .iter()
                    .all(|token| rest.next().is_some_and(|next| token.matches(next)))
                    .then_some(rest.as_str())
            }
        }
    }

    /// Returns the rest of a text after the first occurrence of this part.
    fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Text(part) => text.split_once(&**part).map(|(_, after)| after),
            Self::Tokens(_) => {
                let mut places = text.char_indices();
                places.find_map(|(at, _)| self.strip_start(text.get(at..).unwrap_or_default()))
            }
        }
    }

    fn matches_end(&self, text: &str) -> bool {
        match self {
            Self::Text(end) => end.is_empty() || text.ends_with(&**end),
            Self::Tokens(tokens) => {
                let mut rest = text.chars().rev();
                tokens.iter().rev().all(|token| rest.next().is_some_and(|next| token.matches(next)))
            }
        }
    }
}
