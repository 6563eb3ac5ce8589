//! Patterns for file names: `*`, `?`, `**` and `{a,b}`, matched in time linear in the name.

use crate::error::ToolRefusal;

const MAX_PATTERN_BYTES: usize = 256;
const MAX_ALTERNATIVES: usize = 64;

/// A pattern ready to be held against paths.
#[derive(Debug)]
pub(crate) struct FileGlob {
    alternatives: Vec<Vec<GlobToken>>,
    /// A pattern without `/` is about the name alone, wherever the file is.
    name_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GlobToken {
    Exactly(char),
    /// `?`
    One,
    /// `*`
    Some,
    /// `**`
    Any,
    /// `**/`
    Folders,
}

impl FileGlob {
    pub(crate) fn new(pattern: &str) -> Result<Self, ToolRefusal> {
        let wrong = |problem| Err(ToolRefusal::parameter("glob", problem));
        if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
            return wrong("must have 1 to 256 bytes");
        }
        if pattern.contains(['[', ']', '\\']) {
            return wrong("may use `*`, `?`, `**` and `{a,b}`, but no brackets or backslashes");
        }
        let pattern = pattern.trim_start_matches("./");
        let mut expanded = vec![String::new()];
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inside, after)) = after.split_once('}') else {
                return wrong("has a `{` without `}`");
            };
            if inside.contains('{') {
                return wrong("has braces within braces");
            }
            expanded = expanded
                .iter()
                .flat_map(|start| inside.split(',').map(move |one| format!("{start}{before}{one}")))
                .take(MAX_ALTERNATIVES + 1)
                .collect();
            if expanded.len() > MAX_ALTERNATIVES {
                return wrong("stands for more than 64 patterns");
            }
            rest = after;
        }
        if rest.contains('}') {
            return wrong("has a `}` without `{`");
        }
        let alternatives =
            expanded.iter().map(|start| parse_tokens(&format!("{start}{rest}"))).collect();
        Ok(Self { alternatives, name_only: !pattern.contains('/') })
    }

    /// Whether a file matches, given its path below the searched folder with `/` between names.
    pub(crate) fn matches(&self, path: &str) -> bool {
        let subject = match self.name_only {
            true => path.rsplit('/').next().unwrap_or(path),
            false => path,
        };
        self.alternatives.iter().any(|tokens| matches_tokens(tokens, subject))
    }
}

fn parse_tokens(pattern: &str) -> Vec<GlobToken> {
    let mut out = Vec::new();
    let mut characters = pattern.chars().peekable();
    let mut at_start = true;
    while let Some(character) = characters.next() {
        let begins_name = std::mem::replace(&mut at_start, character == '/');
        out.push(match character {
            '?' => GlobToken::One,
            '*' if characters.next_if_eq(&'*').is_none() => GlobToken::Some,
            '*' if begins_name && characters.next_if_eq(&'/').is_some() => {
                at_start = true;
                GlobToken::Folders
            }
            '*' => GlobToken::Any,
            other => GlobToken::Exactly(other),
        });
    }
    out
}

/// Follows all ways through the pattern at once, so that no pattern takes exponential time.
fn matches_tokens(tokens: &[GlobToken], subject: &str) -> bool {
    let mut alive = vec![false; tokens.len() + 1];
    enter(&mut alive, tokens, 0);
    for character in subject.chars() {
        let mut next = vec![false; tokens.len() + 1];
        for (at, token) in tokens.iter().enumerate() {
            if !alive.get(at).copied().unwrap_or(false) {
                continue;
            }
            match token {
                GlobToken::Exactly(wanted) if *wanted == character => {
                    enter(&mut next, tokens, at + 1);
                }
                GlobToken::One if character != '/' => enter(&mut next, tokens, at + 1),
                GlobToken::Some if character != '/' => enter(&mut next, tokens, at),
                GlobToken::Any => enter(&mut next, tokens, at),
                GlobToken::Folders => {
                    stay(&mut next, at);
                    if character == '/' {
                        enter(&mut next, tokens, at + 1);
                    }
                }
                _ => {}
            }
        }
        alive = next;
    }
    alive.last().copied().unwrap_or(false)
}

/// Marks a position and those reachable from it without a character.
fn enter(alive: &mut [bool], tokens: &[GlobToken], at: usize) {
    stay(alive, at);
    let optional =
        |token: &GlobToken| matches!(token, GlobToken::Some | GlobToken::Any | GlobToken::Folders);
    let free = tokens.iter().skip(at).take_while(|token| optional(token)).count();
    for further in at..=at + free {
        stay(alive, further);
    }
}

fn stay(alive: &mut [bool], at: usize) {
    if let Some(place) = alive.get_mut(at) {
        *place = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::FileGlob;

    #[test]
    fn patterns_match_what_people_mean_by_them() {
        for (pattern, path, expected) in [
            ("*.rs", "lib.rs", true),
            ("*.rs", "src/deep/lib.rs", true),
            ("*.rs", "lib.rst", false),
            ("src/*.rs", "src/lib.rs", true),
            ("src/*.rs", "src/deep/lib.rs", false),
            ("src/**/*.rs", "src/lib.rs", true),
            ("src/**/*.rs", "src/a/b/lib.rs", true),
            ("src/**/*.rs", "other/src/lib.rs", false),
            ("**/lib.rs", "lib.rs", true),
            ("**/lib.rs", "a/b/lib.rs", true),
            ("**/lib.rs", "a/zlib.rs", false),
            ("src/**", "src/a/b", true),
            ("./src/*.rs", "src/lib.rs", true),
            ("*.{ts,tsx}", "a.tsx", true),
            ("*.{ts,tsx}", "a.js", false),
            ("{a,b}/{c,d}.x", "b/c.x", true),
            ("na?ve.txt", "naïve.txt", true),
            ("?", "", false),
            ("*", "", true),
        ] {
            let glob = FileGlob::new(pattern).unwrap();
            assert_eq!(glob.matches(path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn patterns_that_cannot_be_meant_are_refused() {
        for pattern in ["", "[a]", "a{b", "a}b", "{a,{b}}", "a\\b", &"{a,b}".repeat(7)] {
            let refusal = FileGlob::new(pattern).unwrap_err();
            assert!(refusal.message.starts_with("parameter `glob` "), "{pattern}: {refusal}");
        }
    }

    #[test]
    fn a_pattern_made_to_be_slow_is_not() {
        let glob = FileGlob::new(&"*a".repeat(100)).unwrap();
        assert!(!glob.matches(&format!("{}b", "a".repeat(4000))));
    }

    proptest! {
        #[test]
        fn a_plain_name_matches_itself_and_nothing_longer(name in "[a-z0-9_. é-]{1,20}") {
            let glob = FileGlob::new(&name).unwrap();
            assert!(glob.matches(&name));
            let longer = format!("{name}x");
            assert!(!glob.matches(&longer));
        }
    }
}
