//! Regular expressions of conditions, and their limits.

use regex::{Regex, RegexBuilder};

/// Maximum compiled size of a regular expression that comes from a call, in bytes.
// A caller could write `\w{1000}`, which takes many megabytes.
const MAX_CALL_REGEX_BYTES: usize = 1 << 20;

/// The reason why a text is not a valid regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadRegex {
    pub message: String,
    pub hint: &'static str,
}

/// Compiles a literal of a condition.
pub(crate) fn compile(text: &str) -> Result<Regex, BadRegex> {
    Regex::new(text).map_err(|error| bad_regex(&error))
}

/// Compiles a regular expression that is only known at the time of a call.
pub fn compile_at_call(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(MAX_CALL_REGEX_BYTES).build();
    built.map_err(|error| {
        format!("`{text}` is not a valid regular expression: {}", bad_regex(&error).message)
    })
}

fn bad_regex(error: &regex::Error) -> BadRegex {
    let told = error.to_string();
    // The last line is the message; the lines before it show the position.
    let line = told.lines().last().unwrap_or_default();
    let message = line.strip_prefix("error: ").unwrap_or(line).to_owned();
    let hint = if message.contains("look-around") || message.contains("backreference") {
        "look-ahead, look-behind and backreferences are not supported; write two conditions"
    } else if matches!(error, regex::Error::CompiledTooBig(_)) {
        "use smaller repetition counts"
    } else {
        "escape a special character with a backslash: r'\\(' in a condition, r'\\\\(' in JSON"
    };
    BadRegex { message, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_in_one_line() {
        for (text, message, hint) in [
            ("a(b", "unclosed group", "escape a special character"),
            ("[z-a]", "invalid character class range", "escape a special character"),
            ("(?=x)", "look-around, including look-ahead", "look-ahead, look-behind"),
            ("(a)\\1", "backreferences are not supported", "look-ahead, look-behind"),
            ("(\\w{1000}){1000}", "Compiled regex exceeds size limit", "use smaller"),
        ] {
            let bad = compile(text).unwrap_err();
            assert!(bad.message.starts_with(message), "{text}: {bad:?}");
            assert!(bad.hint.starts_with(hint), "{text}: {bad:?}");
            assert_eq!(bad.message.lines().count(), 1, "{text}");
        }
        assert!(compile("^[a-z]+$").unwrap().is_match("abc"));
        assert!(
            compile_at_call("[a")
                .unwrap_err()
                .starts_with("`[a` is not a valid regular expression")
        );
        assert!(compile_at_call("\\w{100}").is_err() && compile("\\w{100}").is_ok());
    }
}
