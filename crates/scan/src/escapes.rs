//! Decodes escape sequences: `%41`, `&#65;`, `\x41`, `\101`, `\u0041`, `\u{41}`, `=41`.

use crate::encoded::DecodedText;

// Letters need no escapes, so this many of them are deliberate.
const MIN_CODED_LETTERS: usize = 4;

/// Decodes all escape sequences of a text, if it has any.
pub(crate) fn decode_escapes(text: &str) -> Option<DecodedText> {
    // `=41` alone may be an assignment; it is decoded only if several follow each other.
    let quoted = has_quoted_printable(text);
    let starts = |c: char| matches!(c, '%' | '&' | '\\') || quoted && c == '=';
    if !text.contains(starts) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut letters = 0;
    let mut first = None;
    while let Some(at) = rest.find(starts) {
        let (before, code) = rest.split_at_checked(at)?;
        plain.push_str(before);
        if let Some((c, length)) = decode_code(code) {
            first.get_or_insert(text.len() - code.len());
            letters += usize::from(c.is_ascii_alphabetic());
            plain.push(c);
            rest = code.get(length..)?;
        } else {
            plain.extend(code.chars().next());
            rest = code.get(1..)?;
        }
    }
    plain.push_str(rest);
    Some(DecodedText { at: first?, text: plain, hides: letters >= MIN_CODED_LETTERS })
}

/// Returns whether several quoted-printable sequences (`=41`) follow each other.
fn has_quoted_printable(text: &str) -> bool {
    let code = |part: &[u8]| match part {
        [sign, one, two] => *sign == b'=' && one.is_ascii_hexdigit() && two.is_ascii_hexdigit(),
        _ => false,
    };
    text.contains('=') && text.as_bytes().windows(9).any(|it| it.chunks_exact(3).all(code))
}

/// Returns the character that the escape sequence at the start encodes, and its length.
fn decode_code(code: &str) -> Option<(char, usize)> {
    let number = |from: usize, to: usize, radix: u32| {
        let digits = code.get(from..to)?;
        let all = digits.bytes().all(|byte| char::from(byte).is_digit(radix));
        char::from_u32(u32::from_str_radix(digits, radix).ok().filter(|_| all)?)
    };
    let seen = |c: &char| c.is_ascii() && !c.is_ascii_control();
    match code.as_bytes() {
        [b'%', b'u' | b'U', ..] => Some((number(2, 6, 16)?, 6)),
        [b'%' | b'=', ..] => Some((number(1, 3, 16).filter(char::is_ascii)?, 3)),
        [b'\\', b'u' | b'U' | b'x', b'{', ..] => {
            let end = code.find('}').filter(|end| (4..=9).contains(end))?;
            Some((number(3, end, 16)?, end + 1))
        }
        [b'\\', b'x' | b'X', ..] => Some((number(2, 4, 16)?, 4)),
        [b'\\', b'u', ..] => Some((number(2, 6, 16)?, 6)),
        [b'\\', b'U', ..] => Some((number(2, 10, 16)?, 10)),
        // Octal, up to `\177`. Other digits after a backslash are references in patterns.
        [b'\\', b'0'..=b'1', ..] => Some((number(1, 4, 8).filter(seen)?, 4)),
        [b'&', ..] => decode_entity(code),
        _ => None,
    }
}

fn decode_entity(code: &str) -> Option<(char, usize)> {
    for (name, c) in
        [("lt", '<'), ("gt", '>'), ("amp", '&'), ("quot", '"'), ("apos", '\''), ("nbsp", ' ')]
    {
        if code
            .get(1..)
            .is_some_and(|rest| rest.strip_prefix(name).is_some_and(|r| r.starts_with(';')))
        {
            return Some((c, name.len() + 2));
        }
    }
    let (radix, begin) = match code.as_bytes() {
        [b'&', b'#', b'x' | b'X', ..] => (16, 3),
        [b'&', b'#', ..] => (10, 2),
        _ => return None,
    };
    // HTML parsers accept a missing semicolon.
    let digits = code.get(begin..)?;
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let value = u32::from_str_radix(digits.get(..end)?, radix).ok()?;
    let semicolon = usize::from(digits.get(end..)?.starts_with(';'));
    Some((char::from_u32(value)?, begin + end + semicolon))
}
