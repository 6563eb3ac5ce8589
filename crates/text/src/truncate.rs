//! Truncates the middle of a long text at character boundaries.

/// The beginning and the end of a truncated text, and its original size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TruncatedText<'a> {
    pub head: &'a str,
    pub tail: &'a str,
    pub omitted_bytes: usize,
    pub total_bytes: usize,
    /// Number of lines of the whole text.
    pub lines: usize,
}

/// Truncates `text` to `limit` bytes; `None` if it fits.
pub fn truncate_middle(text: &str, limit: usize) -> Option<TruncatedText<'_>> {
    if text.len() <= limit {
        return None;
    }
    // The beginning identifies a text and gets two thirds; the end of a log shows the result.
    let tail_room = limit / 3;
    let (head, rest) = text.split_at_checked(text.floor_char_boundary(limit - tail_room))?;
    let tail_at = text.ceil_char_boundary(text.len() - tail_room);
    let (omitted, tail) = rest.split_at_checked(tail_at.checked_sub(head.len())?)?;
    Some(TruncatedText {
        head,
        tail,
        omitted_bytes: omitted.len(),
        total_bytes: text.len(),
        lines: text.lines().count(),
    })
}

impl TruncatedText<'_> {
    /// Returns both ends with a notice between them: the omitted size, and the file with the rest.
    pub fn with_notice(&self, file: Option<&str>) -> String {
        let Self { head, tail, omitted_bytes, total_bytes, lines } = self;
        let place = match file {
            Some(file) => format!("the whole text is in the file {file}"),
            None => "the whole text was not kept".to_owned(),
        };
        format!(
            "{head}\n\n[{omitted_bytes} of {total_bytes} bytes are left out here; \
             the text has {lines} lines; {place}]\n\n{tail}"
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_fits_is_left_alone() {
        assert_eq!(truncate_middle("123456", 6), None);
        assert_eq!(truncate_middle("", 0), None);
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        let short = truncate_middle("one\ntwo\nthree\n", 9).unwrap();
        let expected = TruncatedText {
            head: "one\ntw",
            tail: "ee\n",
            omitted_bytes: 5,
            total_bytes: 14,
            lines: 3,
        };
        assert_eq!(short, expected);
        assert_eq!(
            short.with_notice(Some("/tmp/x")),
            "one\ntw\n\n[5 of 14 bytes are left out here; the text has 3 lines; \
             the whole text is in the file /tmp/x]\n\nee\n"
        );
    }

    proptest! {
        #[test]
        fn the_ends_fit_and_make_up_the_text(text in "\\PC{0,80}", limit in 0_usize..100) {
            match truncate_middle(&text, limit) {
                None => prop_assert!(text.len() <= limit),
                Some(short) => {
                    prop_assert!(text.len() > limit);
                    prop_assert!(short.head.len() + short.tail.len() <= limit);
                    prop_assert!(text.starts_with(short.head) && text.ends_with(short.tail));
                    let kept = short.head.len() + short.tail.len();
                    prop_assert_eq!(kept + short.omitted_bytes, text.len());
                    // A character has at most 4 bytes, so each end may lose 3.
                    prop_assert!(kept + 6 >= limit);
                }
            }
        }
    }
}
