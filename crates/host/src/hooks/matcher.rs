//! The `matcher` of a hook: a regular expression over tool names.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Value, json};

/// Maximum memory of one compiled expression, which a project's file may choose.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// The calls that a hook applies to.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    text: String,
    check: Validator,
}

impl Matcher {
    /// Compiles the text of the file; returns `None` for one that matches every call.
    pub(super) fn new(text: &str) -> Result<Option<Self>, String> {
        if text.is_empty() || text == "*" {
            return Ok(None);
        }
        // The engine without backtracking: it always terminates, so a crafted tool name cannot
        // cause a hook to be skipped.
        let engine =
            PatternOptions::regex().size_limit(MAX_REGEX_BYTES).dfa_size_limit(MAX_REGEX_BYTES);
        let check = jsonschema::options()
            .offline()
            .with_pattern_options(engine)
            .build(&json!({ "pattern": text }))
            .map_err(|error| format!("`matcher` is not a regular expression: {error}"))?;
        Ok(Some(Self { text: text.to_owned(), check }))
    }

    /// Returns whether a call matches, under any of its names.
    pub(super) fn matches(&self, server: &str, target: &str) -> bool {
        [target.to_owned(), format!("MCP:{target}"), format!("{server}/{target}")]
            .into_iter()
            .any(|name| self.check.is_valid(&Value::String(name)))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::Matcher;

    #[test]
    fn a_matcher_is_searched_for_in_each_name_of_a_tool() {
        for (pattern, expected) in [
            ("write", true),
            ("^write_file$", true),
            ("^MCP:write", true),
            ("^files/", true),
            ("read|write", true),
            ("^file$", false),
            ("^WRITE", false),
        ] {
            let matcher = Matcher::new(pattern).unwrap().unwrap();
            assert_eq!(matcher.matches("files", "write_file"), expected, "{pattern}");
        }
    }

    #[test]
    fn no_pattern_means_every_call_and_a_bad_one_is_an_error() {
        assert!(Matcher::new("").unwrap().is_none());
        assert!(Matcher::new("*").unwrap().is_none());
        for bad in ["(", "a(?=b)"] {
            let error = Matcher::new(bad).unwrap_err();
            assert!(error.starts_with("`matcher` is not a regular expression"), "{error}");
        }
    }
}
