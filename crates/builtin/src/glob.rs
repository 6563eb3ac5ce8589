//! Glob patterns for file names: `*`, `?`, `**` and `{a,b}`.

use switchboard_text::{Glob, GlobToken, SingleChoice, parse_forms};

use crate::error::ToolRefusal;

const MAX_PATTERN_BYTES: usize = 256;

#[derive(Debug)]
pub(crate) struct FileGlob {
    alternatives: Vec<Vec<PathPart>>,
    /// Whether the pattern has no `/`, so that it is matched against the file name in any folder.
    name_only: bool,
}

#[derive(Debug)]
enum PathPart {
    Name(Glob),
    /// `**`: zero or more folders.
    Folders,
}

impl FileGlob {
    pub(crate) fn new(pattern: &str) -> Result<Self, ToolRefusal> {
        let wrong = |problem: &str| ToolRefusal::parameter("glob", problem);
        if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
            return Err(wrong("must have 1 to 256 bytes"));
        }
        // Rejected, since a literal reading would silently match nothing.
        if pattern.contains(['[', ']', '\\']) {
            return Err(wrong(
                "may use `*`, `?`, `**` and `{a,b}`, but no brackets or backslashes",
            ));
        }
        // Paths below the searched folder never begin with `./`.
        let pattern = pattern.trim_start_matches("./");
        let alternatives = parse_forms(pattern, SingleChoice::Accept)
            .map_err(|bad| wrong(bad.message))?
            .iter()
            .map(|form| path_parts(&form.tokens))
            .collect();
        Ok(Self { alternatives, name_only: !pattern.contains('/') })
    }

    /// Returns whether a path matches, relative to the searched folder and with `/`.
    pub(crate) fn matches(&self, path: &str) -> bool {
        let path = match self.name_only {
            true => path.rsplit('/').next().unwrap_or(path),
            false => path,
        };
        let names: Vec<&str> = path.split('/').collect();
        self.alternatives.iter().any(|parts| matches_names(parts, &names))
    }
}

fn path_parts(tokens: &[GlobToken]) -> Vec<PathPart> {
    let mut parts = Vec::new();
    let mut names = tokens.split(GlobToken::is_slash).peekable();
    while let Some(name) = names.next() {
        match name {
            [GlobToken::AnyText, GlobToken::AnyText] if names.peek().is_some() => {
                parts.push(PathPart::Folders);
            }
            // `**.rs` means `**/*.rs`; a final `**` means `**/*`.
            [GlobToken::AnyText, rest @ ..] if rest.first() == Some(&GlobToken::AnyText) => {
                parts.extend([PathPart::Folders, PathPart::Name(Glob::new(rest))]);
            }
            name => parts.push(PathPart::Name(Glob::new(name))),
        }
    }
    parts
}

/// Tracks all partial matches at once, so that no pattern takes exponential time.
fn matches_names(parts: &[PathPart], names: &[&str]) -> bool {
    // For each number of names, whether the parts so far match exactly that many.
    let mut reached = vec![false; names.len() + 1];
    reached.iter_mut().take(1).for_each(|none| *none = true);
    for part in parts {
        match part {
            PathPart::Folders => {
                let mut is_past = false;
                for place in &mut reached {
                    is_past |= *place;
                    *place = is_past;
                }
            }
            PathPart::Name(glob) => {
                let next =
                    reached.iter().zip(names).map(|(here, name)| *here && glob.matches(name));
                reached = [false].into_iter().chain(next).collect();
            }
        }
    }
    reached.last().copied().unwrap_or(false)
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
            ("{a,b{c,d}}.x", "bd.x", true),
            ("na?ve.txt", "naïve.txt", true),
            ("src/**.rs", "src/a/b.rs", true),
            ("*.{rs}", "src/lib.rs", true),
            ("src/**/**/lib.rs", "src/lib.rs", true),
            ("?", "", false),
            ("*", "", true),
        ] {
            let glob = FileGlob::new(pattern).unwrap();
            assert_eq!(glob.matches(path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn patterns_that_cannot_be_meant_are_refused() {
        for pattern in ["", "[a]", "a{b", "a}b", "a\\b", &"{a,b}".repeat(9)] {
            let refusal = FileGlob::new(pattern).unwrap_err();
            assert!(refusal.message.starts_with("parameter `glob` "), "{pattern}: {refusal}");
        }
    }

    #[test]
    fn a_pattern_made_to_be_slow_is_not() {
        let glob = FileGlob::new(&"*a".repeat(100)).unwrap();
        assert!(!glob.matches(&format!("{}b", "a".repeat(4000))));
        let glob = FileGlob::new(&format!("{}x", "**/".repeat(80))).unwrap();
        assert!(!glob.matches(&"a/".repeat(2000)));
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
