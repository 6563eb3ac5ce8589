//! Names of targets with `*` in them.

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

    /// Whether the pattern covers a target of a server.
    #[must_use]
    pub fn covers(&self, server: &str, target: &str) -> bool {
        let whole = format!("{server}/{target}");
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = whole.strip_prefix(first) else { return false };
        let mut parts: Vec<&str> = parts.collect();
        // The last part has to be at the end; without a `*` there is none, and nothing may be left.
        let Some(last) = parts.pop() else { return rest.is_empty() };
        for part in parts {
            let Some((_, after)) = rest.split_once(part) else { return false };
            rest = after;
        }
        rest.ends_with(last)
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
        ] {
            assert_eq!(Pattern::new(pattern).covers(server, target), expected, "{pattern}");
        }
    }
}
