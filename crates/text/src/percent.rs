//! Percent-encoding of texts as parts of URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All characters except the unreserved ones of RFC 3986.
pub const RESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Dots are encoded too: a segment of dots would refer to a parent folder.
const COMPONENT: &AsciiSet = &RESERVED.add(b'.');

/// Percent-encodes a text as one path segment or one query value.
#[must_use]
pub fn encode_component(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::encode_component;

    #[test]
    fn what_means_something_in_an_address_is_encoded() {
        for (text, expected) in [
            ("a-b_c~1", "a-b_c~1"),
            ("..", "%2E%2E"),
            ("a/b?c=d&e", "a%2Fb%3Fc%3Dd%26e"),
            ("a b/\u{fc}", "a%20b%2F%C3%BC"),
        ] {
            assert_eq!(encode_component(text), expected);
        }
    }
}
