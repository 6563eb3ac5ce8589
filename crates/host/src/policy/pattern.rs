//! Names of targets with `*` in them.

use crate::config::glob;

/// A pattern over `server/target`; `*` stands for any text, also for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Takes `server/target`, with `*` where anything may stand. A name without `/` is a server with
    /// all that it offers.
    #[must_use]
    pub fn new(text: &str) -> Self {
        if text == "*" || text.contains('/') {
            Self(text.to_owned())
        } else {
            Self(format!("{text}/*"))
        }
    }

    /// Whether the pattern covers a target of a server: what is before one of its slashes the
    /// server, and what is after it the target. So no star reaches from one into the other.
    #[must_use]
    pub fn covers(&self, server: &str, target: &str) -> bool {
        if self.0 == "*" {
            return true;
        }
        self.0.match_indices('/').any(|(at, _)| {
            let (of_server, rest) = self.0.split_at_checked(at).unwrap_or_default();
            glob(of_server, server) && glob(rest.strip_prefix('/').unwrap_or_default(), target)
        })
    }

    /// The text before the first star: whatever is covered begins with it.
    #[must_use]
    pub fn literal(&self) -> &str {
        self.0.split('*').next().unwrap_or_default()
    }

    /// Whether it names one target, without any star.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_pattern_covers_what_fits_around_its_stars() {
        for (pattern, server, target, expected) in [
            ("files/read", "files", "read", true),
            ("files/read", "files", "read_all", false),
            ("files/*", "files", "read", true),
            ("files", "files", "read", true),
            ("files", "files2", "read", false),
            ("*", "any", "thing", true),
            ("*/read*", "files", "read_all", true),
            ("*/read*", "files", "write", false),
            ("files/r*d", "files", "rd", true),
            ("files/r*d", "files", "red_hat", false),
            ("github.com/a/b/*", "github.com/a/b", "create", true),
            ("f*s/*e*d", "files", "read", true),
            ("files/a*a", "files", "a", false),
            ("*/read*", "evil", "x/read_all", false),
            ("files/*", "files", "a/b", true),
            ("a/b/c", "a", "b/c", true),
            ("Files/read", "files", "read", false),
            ("files/read", "files", "read ", false),
        ] {
            assert_eq!(Pattern::new(pattern).covers(server, target), expected, "{pattern}");
        }
    }
}
