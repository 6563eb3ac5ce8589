//! Estimates how many tokens a text costs without knowing the model's vocabulary.

/// About how many tokens a text costs.
///
/// Four ASCII characters make a token, two of the other alphabets of Europe and the Near East do,
/// each character from U+0800 on is one, and each beyond U+FFFF two.
#[must_use]
pub fn estimate(text: &str) -> usize {
    let quarters: usize = text.chars().map(quarters).sum();
    quarters.div_ceil(4)
}

const fn quarters(c: char) -> usize {
    match c {
        '\0'..='\u{7f}' => 1,
        '\u{80}'..='\u{7ff}' => 2,
        '\u{800}'..='\u{ffff}' => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn scripts_are_counted_by_what_they_cost() {
        let cases =
            [("", 0), ("abcd", 1), ("abcde", 2), ("éé", 1), ("搜索", 2), ("🙂", 2), ("a搜", 2)];
        for (text, tokens) in cases {
            assert_eq!(estimate(text), tokens, "{text}");
        }
    }
}
