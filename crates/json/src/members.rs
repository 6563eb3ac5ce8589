//! A fast scanner for the members of a JSON object: names are decoded, values stay raw.
//!
//! A general parser inspects every byte. Most bytes of a message are in a few long strings, where
//! only three kinds of bytes matter: these are searched for in blocks.

use std::borrow::Cow;

/// Number of 8-byte blocks of a string that are checked before `memchr` is used.
const MAX_SHORT_BLOCKS: usize = 4;

/// The reason that a text is not an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MembersError {
    NotJson,
    NotAnObject,
}

/// Calls `each` with the name and the value of every member, in order.
///
/// After an error, the members passed so far must be discarded.
pub fn for_each_member<'a>(
    text: &'a str,
    mut each: impl FnMut(Cow<'a, str>, &'a str),
) -> Result<(), MembersError> {
    let mut walk = JsonWalker { bytes: text.as_bytes(), at: 0, open: Vec::new() };
    walk.spaces();
    if walk.peek() != Some(b'{') {
        let whole = walk.value().and_then(|()| walk.end());
        return Err(whole.map_or(MembersError::NotJson, |()| MembersError::NotAnObject));
    }
    let mut each = |name: &'a str, value: &'a str| {
        each(decode_string(name)?, value);
        Some(())
    };
    walk.object(text, &mut each).and_then(|()| walk.end()).ok_or(MembersError::NotJson)
}

/// A position in a text. Every method advances past the element it is named after, or returns
/// `None` if the text is malformed.
struct JsonWalker<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The closing brackets of open values.
    // A stack instead of recursion: the sender chooses the depth and could overflow the call stack.
    open: Vec<u8>,
}

impl<'a> JsonWalker<'a> {
    /// Scans an object and passes its members as they are written, names with quotes.
    fn object(
        &mut self,
        text: &'a str,
        each: &mut impl FnMut(&'a str, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.expect(b'{')?;
        self.spaces();
        if self.peek() == Some(b'}') {
            return self.expect(b'}');
        }
        loop {
            let start = self.at;
            self.expect(b'"')?;
            self.string()?;
            let name = text.get(start..self.at)?;
            self.colon()?;
            let start = self.at;
            self.value()?;
            each(name, text.get(start..self.at)?)?;
            self.spaces();
            match self.next()? {
                b',' => self.spaces(),
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    fn value(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                b'"' => self.string()?,
                b'{' => {
                    self.spaces();
                    if self.peek() != Some(b'}') {
                        self.open.push(b'}');
                        self.name()?;
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.spaces();
                    if self.peek() != Some(b']') {
                        self.open.push(b']');
                        continue;
                    }
                    self.at += 1;
                }
                b't' => self.word(b"rue")?,
                b'f' => self.word(b"alse")?,
                b'n' => self.word(b"ull")?,
                b'-' => {
                    let first = self.next()?;
                    self.number(first)?;
                }
                first => self.number(first)?,
            }
            if !self.close_or_continue()? {
                return Some(());
            }
        }
    }

    /// Closes the brackets after a value; returns whether another value follows.
    fn close_or_continue(&mut self) -> Option<bool> {
        while let Some(&closing) = self.open.last() {
            self.spaces();
            match self.next()? {
                b',' if closing == b'}' => {
                    self.spaces();
                    self.name()?;
                    return Some(true);
                }
                b',' => {
                    self.spaces();
                    return Some(true);
                }
                closed if closed == closing => {
                    self.open.pop();
                }
                _ => return None,
            }
        }
        Some(false)
    }

    fn name(&mut self) -> Option<()> {
        self.expect(b'"')?;
        self.string()?;
        self.colon()
    }

    fn colon(&mut self) -> Option<()> {
        self.spaces();
        self.expect(b':')?;
        self.spaces();
        Some(())
    }

    /// Scans the rest of a string, after its opening quote.
    fn string(&mut self) -> Option<()> {
        loop {
            self.at += plain_prefix(self.bytes.get(self.at..)?)?;
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                ..b' ' => return None,
                // One of the last bytes of the text, which do not fill a block.
                _ => {}
            }
        }
    }

    /// Scans the rest of an escape, after its backslash.
    fn escape(&mut self) -> Option<()> {
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => {
                for _ in 0..4 {
                    self.next().filter(u8::is_ascii_hexdigit)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Scans the rest of a number, after its first digit.
    fn number(&mut self, first: u8) -> Option<()> {
        match first {
            // JSON forbids leading zeros.
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.next().filter(u8::is_ascii_digit)?;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.next().filter(u8::is_ascii_digit)?;
            self.digits();
        }
        Some(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn word(&mut self, rest: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(rest).then(|| self.at += rest.len())
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn end(&mut self) -> Option<()> {
        self.spaces();
        (self.at == self.bytes.len()).then_some(())
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

/// Returns a lower bound for the number of bytes before the next quote, backslash or control
/// character, checked in blocks; `None` if a search finds no end or a control character.
fn plain_prefix(rest: &[u8]) -> Option<usize> {
    let (blocks, _) = rest.as_chunks::<8>();
    // A short string ends before a call of `memchr` would pay off.
    for (number, block) in blocks.iter().take(MAX_SHORT_BLOCKS).enumerate() {
        let special = special_in(*block);
        if special != 0 {
            return Some(number * 8 + special.trailing_zeros() as usize / 8);
        }
    }
    if blocks.len() <= MAX_SHORT_BLOCKS {
        return Some(blocks.len() * 8);
    }
    let length = memchr::memchr2(b'"', b'\\', rest)?;
    // Folding to the minimum without an early exit lets the compiler vectorize the loop.
    let least = rest.get(..length)?.iter().fold(u8::MAX, |least, byte| least.min(*byte));
    (least >= b' ').then_some(length)
}

/// Returns a word in which the highest bit of each byte is set that is a quote, a backslash or a
/// control character. Only the lowest of these bits is reliable.
const fn special_in(block: [u8; 8]) -> u64 {
    // Each subtraction borrows from the next byte if it finds something, so higher bits may be
    // false positives. Little-endian, so that the lowest bits belong to the first byte.
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(block);
    let quotes = word ^ (ONES * b'"' as u64);
    let backslashes = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * b' ' as u64) & !word;
    let quotes = quotes.wrapping_sub(ONES) & !quotes;
    let backslashes = backslashes.wrapping_sub(ONES) & !backslashes;
    (control | quotes | backslashes) & HIGH
}

/// Decodes a JSON string, borrowed if it has no escapes.
pub fn decode_string(quoted: &str) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    // Escapes could disguise a name from a check: `"\u006dethod"` is `method`.
    if inner.contains('\\') {
        return serde_json::from_str(quoted).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

#[cfg(test)]
#[path = "members_tests.rs"]
mod tests;
