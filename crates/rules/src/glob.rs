//! Texts with wildcards: `*`, `?`, `[a-z]` and `{a,b}`; a backslash takes a sign as it is.

use std::iter::Peekable;
use std::str::Chars;

/// More alternatives than anybody writes by hand.
const MAX_ALTERNATIVES: usize = 256;

/// A text without braces in which wildcards stand for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    /// What is between the stars; one part where there is none.
    parts: Vec<GlobPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobPart {
    Text(Box<str>),
    Signs(Vec<GlobChar>),
}

/// What stands for one character.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobChar {
    Is(char),
    Any,
    In { ranges: Vec<(char, char)>, is_negated: bool },
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadPattern {
    /// How many characters are before the place.
    pub offset: usize,
    /// What is wrong: what can be said of a pattern, such as "has no end".
    pub message: &'static str,
    /// What to write instead.
    pub hint: &'static str,
}

const ESCAPE_HINT: &str = "a backslash before a sign takes it as it is: `\\[`, in JSON `\\\\[`";

impl BadPattern {
    pub(crate) const fn new(offset: usize, message: &'static str) -> Self {
        Self { offset, message, hint: ESCAPE_HINT }
    }
}

/// A text with every sign taken as it is.
pub(crate) fn escape(text: &str) -> String {
    text.chars()
        .flat_map(|sign| is_special(sign).then_some('\\').into_iter().chain([sign]))
        .collect()
}

const fn is_special(sign: char) -> bool {
    matches!(sign, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '\\' | '/')
}

/// The texts that braces stand for, one for each choice; a text without braces is one.
pub(crate) fn alternatives(text: &str) -> Result<Vec<String>, BadPattern> {
    expand_braces(&mut PatternCursor::new(text), BraceDepth::Outside)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BraceDepth {
    Outside,
    /// Inside braces that begin here.
    Inside(usize),
}

/// What is up to the end of the text, or of the braces.
fn expand_braces(
    signs: &mut PatternCursor<'_>,
    depth: BraceDepth,
) -> Result<Vec<String>, BadPattern> {
    let mut done: Vec<String> = Vec::new();
    let mut commas = 0;
    let mut current = vec![String::new()];
    let push = |current: &mut Vec<String>, text: &str| {
        current.iter_mut().for_each(|one| one.push_str(text));
    };
    loop {
        let at = signs.passed;
        match (signs.next(), depth) {
            (None, BraceDepth::Outside) => return Ok(current),
            (None, BraceDepth::Inside(start)) => {
                return Err(BadPattern::new(start, "has a `{` without its `}`"));
            }
            (Some('\\'), _) => {
                let sign = signs.next().ok_or_else(|| {
                    BadPattern::new(at, "ends with a backslash that stands before nothing")
                })?;
                push(&mut current, &format!("\\{sign}"));
            }
            (Some('['), _) => push(&mut current, &class_text(signs, at)?),
            (Some('{'), _) => {
                let inner = expand_braces(signs, BraceDepth::Inside(at))?;
                let pairs = current
                    .iter()
                    .flat_map(|before| inner.iter().map(move |after| format!("{before}{after}")));
                current = pairs.take(MAX_ALTERNATIVES + 1).collect();
                if current.len() > MAX_ALTERNATIVES {
                    return Err(BadPattern::new(at, "stands for too many texts"));
                }
            }
            (Some('}'), BraceDepth::Outside) => {
                return Err(BadPattern::new(at, "has a `}` without its `{`"));
            }
            (Some('}'), BraceDepth::Inside(start)) => {
                if commas == 0 {
                    return Err(BadPattern::new(start, "has braces with nothing to choose from"));
                }
                done.append(&mut current);
                return Ok(done);
            }
            (Some(','), BraceDepth::Inside(_)) => {
                commas += 1;
                done.append(&mut current);
                current = vec![String::new()];
            }
            (Some(sign), _) => push(&mut current, sign.encode_utf8(&mut [0; 4])),
        }
    }
}

/// The text of `[…]`, whose bracket was passed at `start`.
fn class_text(signs: &mut PatternCursor<'_>, start: usize) -> Result<String, BadPattern> {
    let unclosed = || BadPattern::new(start, "has a `[` without its `]`");
    let mut text = String::from("[");
    let mut is_first = true;
    loop {
        let sign = signs.next().ok_or_else(unclosed)?;
        text.push(sign);
        match sign {
            '\\' => text.push(signs.next().ok_or_else(unclosed)?),
            '!' | '^' if is_first && text.len() == 2 => continue,
            ']' if !is_first => {
                let inside = text.strip_prefix('[').unwrap_or_default();
                parse_class(&mut PatternCursor::new(inside), 0)
                    .map_err(|bad| BadPattern { offset: start, ..bad })?;
                return Ok(text);
            }
            _ => {}
        }
        is_first = false;
    }
}

/// The characters of a text, counted.
struct PatternCursor<'a> {
    signs: Peekable<Chars<'a>>,
    passed: usize,
}

impl<'a> PatternCursor<'a> {
    fn new(text: &'a str) -> Self {
        Self { signs: text.chars().peekable(), passed: 0 }
    }

    fn next(&mut self) -> Option<char> {
        self.passed += 1;
        self.signs.next()
    }
}

impl Glob {
    /// Reads a text that has no braces any more.
    pub(crate) fn parse(text: &str) -> Result<Self, BadPattern> {
        let mut signs = PatternCursor::new(text);
        let mut parts = Vec::new();
        let mut part = Vec::new();
        loop {
            let at = signs.passed;
            let Some(sign) = signs.next() else { break };
            match sign {
                '*' => parts.push(GlobPart::new(std::mem::take(&mut part))),
                '?' => part.push(GlobChar::Any),
                '\\' => part.extend(signs.next().map(GlobChar::Is)),
                '[' => part.push(parse_class(&mut signs, at)?),
                sign => part.push(GlobChar::Is(sign)),
            }
        }
        parts.push(GlobPart::new(part));
        Ok(Self { parts })
    }

    /// Whether a text is one of those that it stands for.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some((first, others)) = self.parts.split_first() else { return false };
        let Some(mut rest) = first.strip_start(text) else { return false };
        // Without a star nothing may be left.
        let Some((last, between)) = others.split_last() else { return rest.is_empty() };
        for part in between {
            let Some(after) = part.find(rest) else { return false };
            rest = after;
        }
        last.matches_end(rest)
    }

    /// The text that everything begins with that it stands for, and whether there is no more to it.
    pub(crate) fn literal_prefix(&self) -> (String, bool) {
        match self.parts.as_slice() {
            [GlobPart::Text(text)] => (text.to_string(), true),
            [GlobPart::Text(text), ..] => (text.to_string(), false),
            [GlobPart::Signs(signs), ..] => {
                let sign = |sign: &GlobChar| match sign {
                    GlobChar::Is(sign) => Some(*sign),
                    GlobChar::Any | GlobChar::In { .. } => None,
                };
                (signs.iter().map_while(sign).collect(), false)
            }
            [] => (String::new(), false),
        }
    }
}

/// Reads what is between brackets, the first of which was passed at `start`.
fn parse_class(signs: &mut PatternCursor<'_>, start: usize) -> Result<GlobChar, BadPattern> {
    let unclosed = || BadPattern::new(start, "has a `[` without its `]`");
    let is_negated = signs.signs.next_if(|sign| matches!(sign, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let sign = match signs.next().ok_or_else(unclosed)? {
            ']' if !ranges.is_empty() => return Ok(GlobChar::In { ranges, is_negated }),
            '\\' => signs.next().ok_or_else(unclosed)?,
            sign => sign,
        };
        let mut ahead = signs.signs.clone();
        let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|next| next != ']');
        let mut end = sign;
        if is_range {
            signs.next();
            end = signs.next().ok_or_else(unclosed)?;
            if end == '\\' {
                end = signs.next().ok_or_else(unclosed)?;
            }
        }
        if end < sign {
            return Err(BadPattern::new(start, "has a range that ends before it begins"));
        }
        ranges.push((sign, end));
    }
}

impl GlobPart {
    fn new(signs: Vec<GlobChar>) -> Self {
        let text: Option<String> = signs
            .iter()
            .map(|sign| match sign {
                GlobChar::Is(sign) => Some(*sign),
                GlobChar::Any | GlobChar::In { .. } => None,
            })
            .collect();
        text.map_or(Self::Signs(signs), |text| Self::Text(text.into()))
    }

    /// What is left of a text that begins with this.
    fn strip_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            // Most are nothing, beside a star; to compare with nothing in memory takes its time.
            Self::Text(start) if start.is_empty() => Some(text),
            Self::Text(start) => text.strip_prefix(&**start),
            Self::Signs(signs) => {
                let mut rest = text.chars();
                signs
                    .iter()
                    .all(|sign| rest.next().is_some_and(|next| sign.matches(next)))
                    .then_some(rest.as_str())
            }
        }
    }

    /// What is left of a text after the first place where this is.
    fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Text(part) => text.split_once(&**part).map(|(_, after)| after),
            Self::Signs(_) => {
                let mut places = text.char_indices();
                places.find_map(|(at, _)| self.strip_start(text.get(at..).unwrap_or_default()))
            }
        }
    }

    fn matches_end(&self, text: &str) -> bool {
        match self {
            Self::Text(end) => end.is_empty() || text.ends_with(&**end),
            Self::Signs(signs) => {
                let mut rest = text.chars().rev();
                signs.iter().rev().all(|sign| rest.next().is_some_and(|next| sign.matches(next)))
            }
        }
    }
}

impl GlobChar {
    fn matches(&self, character: char) -> bool {
        match self {
            Self::Is(sign) => *sign == character,
            Self::Any => true,
            Self::In { ranges, is_negated } => {
                let is_in = |(from, to): &(char, char)| (*from..=*to).contains(&character);
                ranges.iter().any(is_in) != *is_negated
            }
        }
    }
}
