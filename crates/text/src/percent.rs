//! Texts as parts of addresses, where other characters than a few would mean something.

/// The text with `%XX` for every byte that is no letter, no digit and not among `kept`.
#[must_use]
pub fn encode(text: &str, kept: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The text as one part of a path, or as a value of a query.
#[must_use]
pub fn encode_component(text: &str) -> String {
    // Also dots: a part that is only dots would be taken for a way up.
    encode(text, b"-_~")
}

#[cfg(test)]
mod tests {
    use super::{encode, encode_component};

    #[test]
    fn what_means_something_in_an_address_is_encoded() {
        for (text, expected) in
            [("a-b_c~1", "a-b_c~1"), ("..", "%2E%2E"), ("a/b?c=d&e", "a%2Fb%3Fc%3Dd%26e")]
        {
            assert_eq!(encode_component(text), expected);
        }
        assert_eq!(encode("/a b/ü.txt", b"/."), "/a%20b/%C3%BC.txt");
    }
}
