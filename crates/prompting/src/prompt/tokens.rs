//! Estimation of token counts without the vocabulary of the model.

// Most words of up to this length are one token.
const LETTERS_PER_TOKEN: usize = 8;
const DIGITS_PER_TOKEN: usize = 3;
// JSON has runs such as `":{"` that are common enough to be one token.
const MARKS_PER_TOKEN: usize = 4;
// The space before a word belongs to its token; indentation is a separate token.
const SPACES_PER_TOKEN: usize = 32;

/// Estimates the number of tokens of a text. Counts words, numbers and runs of punctuation and
/// white space, because tokenizers split a text there first.
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut halves: usize = 0;
    let mut kind = CharKind::Other;
    let mut length = 0;
    for character in text.chars() {
        let next = CharKind::from_char(character);
        if next == CharKind::Other {
            // Half a token for alphabets such as Greek, one for most CJK, two for emoji.
            halves += match character {
                '\0'..='\u{7ff}' => 1,
                '\u{800}'..='\u{ffff}' => 2,
                _ => 4,
            };
        }
        if next == kind {
            length += 1;
            continue;
        }
        // The underscore before a word belongs to its token, like a space.
        let joins = kind == CharKind::Underscore && next == CharKind::Letter && length == 1;
        tokens += if joins { 0 } else { kind.tokens(length) };
        (kind, length) = (next, 1);
    }
    tokens + kind.tokens(length) + halves.div_ceil(2)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Letter,
    Digit,
    Underscore,
    Mark,
    Space,
    Other,
}

impl CharKind {
    const fn from_char(character: char) -> Self {
        match character {
            'a'..='z' | 'A'..='Z' => Self::Letter,
            '0'..='9' => Self::Digit,
            '_' => Self::Underscore,
            '\0'..=' ' => Self::Space,
            '\u{80}'.. => Self::Other,
            _ => Self::Mark,
        }
    }

    const fn tokens(self, length: usize) -> usize {
        match self {
            Self::Letter => length.div_ceil(LETTERS_PER_TOKEN),
            Self::Digit => length.div_ceil(DIGITS_PER_TOKEN),
            Self::Underscore | Self::Mark => length.div_ceil(MARKS_PER_TOKEN),
            Self::Space => length.saturating_sub(1).div_ceil(SPACES_PER_TOKEN),
            Self::Other => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::estimate_tokens;

    #[test]
    fn words_numbers_marks_and_scripts_are_counted_by_what_they_cost() {
        let cases = [
            ("", 0),
            ("word", 1),
            ("two words", 2),
            ("responsibilities", 2),
            ("12345", 2),
            ("read_text_file", 3),
            ("a\n    b", 3),
            (r#"{"type":"string"},"#, 5),
            ("éé", 1),
            ("搜索", 2),
            ("🙂", 2),
            ("a搜", 2),
        ];
        for (text, tokens) in cases {
            assert_eq!(estimate_tokens(text), tokens, "{text}");
        }
    }

    /// The expected counts are from the vocabulary `o200k_base`.
    #[test]
    fn the_estimate_is_within_fifteen_percent_of_a_real_count() {
        let cases = [
            (
                "The server lists the files of a folder and says how large each of them is. \
                 Folders that cannot be opened are named at the end, with the reason why.",
                34,
            ),
            (
                r#"{"name":"files__read_text","description":"Reads a text file.","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"Where the file is."},"lines":{"type":"integer","minimum":1,"maximum":1000}},"required":["path"]}}"#,
                59,
            ),
            (
                "- `create_issue`, `list_issues`, `update_issue`, `search_repositories`, \
                 `merge_pull_request`, `get_file_contents`, `create_branch`",
                33,
            ),
            (
                "    Arguments:\n      - `path` (string, required): Where the file is.\n      \
                 - `lines` (integer, optional, at least 1, default 100)\n    Example: \
                 <use_mcp_tool><server_name>files</server_name><tool_name>read_text</tool_name>\
                 </use_mcp_tool>\n",
                68,
            ),
        ];
        for (text, counted) in cases {
            let error = (estimate_tokens(text) as f64 / f64::from(counted) - 1.0) * 100.0;
            assert!(error.abs() <= 15.0, "{error:+.1} % of {counted}: {text}");
        }
    }
}
