//! Decoding of XML entities and CDATA sections.

use std::borrow::Cow;

use memchr::memchr2;

use crate::parse::strings::{find, part, rest};

const CDATA_OPEN: &str = "<![CDATA[";
const CDATA_CLOSE: &str = "]]>";

/// Decodes entities and unwraps CDATA sections.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if memchr2(b'&', b'<', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(open) = find(text, at, CDATA_OPEN) {
        let Some(close) = find(text, open, CDATA_CLOSE) else { break };
        decode_entities(part(text, at, open), &mut out);
        out.push_str(part(text, open + CDATA_OPEN.len(), close));
        at = close + CDATA_CLOSE.len();
    }
    decode_entities(rest(text, at), &mut out);
    Cow::Owned(out)
}

/// Removes the CDATA section around the whole text. Returns `None` if there is none.
pub(super) fn without_cdata(text: &str) -> Option<&str> {
    text.trim().strip_prefix(CDATA_OPEN)?.strip_suffix(CDATA_CLOSE)
}

fn decode_entities(text: &str, out: &mut String) {
    let mut pieces = text.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let read =
            piece.split_once(';').and_then(|(name, after)| Some((decode_entity(name)?, after)));
        if let Some((character, after)) = read {
            out.push(character);
            out.push_str(after);
        } else {
            // Unknown entities are left alone: `?a=1&b=2;c` is a URL.
            out.push('&');
            out.push_str(piece);
        }
    }
}

fn decode_entity(name: &str) -> Option<char> {
    match name {
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "amp" => return Some('&'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => {}
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn entities_and_cdata_are_read_and_anything_else_stays() {
        let cases = [
            ("a&amp;b", "a&b"),
            ("&lt;&#65;&#x42;&gt;", "<AB>"),
            ("?a=1&b=2;c", "?a=1&b=2;c"),
            ("&nbsp; &", "&nbsp; &"),
            ("a<![CDATA[&amp;<b>]]>&quot;", "a&amp;<b>\""),
            ("<![CDATA[open", "<![CDATA[open"),
            ("&#xD800;", "&#xD800;"),
        ];
        for (text, expected) in cases {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
