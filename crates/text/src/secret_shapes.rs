//! Recognizes secrets by their shape: tokens with well-known prefixes, keys, headers.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// The prefix of a secret, and the required continuation.
struct SecretShape {
    prefix: &'static str,
    follows: ShapeTail,
}

#[derive(Clone, Copy)]
enum ShapeTail {
    /// At least this many letters, digits, `_` or `-`.
    Word(usize),
    /// At least this many capital letters and digits: the id of a key, together with the key itself
    /// if it follows closely.
    KeyName(usize),
    /// The value of a field whose name ends with the prefix, with at least this many characters.
    Field(usize),
    SignedToken,
    /// A PEM private key up to its end line.
    PrivateKey,
    /// The value of a header or field with credentials.
    Header,
    /// Credentials after the name of their scheme.
    Bearer,
    /// At least this many letters, digits, `_`, `-` and dots.
    Dotted(usize),
    /// The password in the authority of a URL.
    Login,
}

use ShapeTail::{Bearer, Dotted, Field, Header, KeyName, Login, PrivateKey, SignedToken, Word};

const SHAPES: &[SecretShape] = &[
    SecretShape { prefix: "ghp_", follows: Word(10) },
    SecretShape { prefix: "gho_", follows: Word(10) },
    SecretShape { prefix: "ghu_", follows: Word(10) },
    SecretShape { prefix: "ghs_", follows: Word(10) },
    SecretShape { prefix: "ghr_", follows: Word(10) },
    SecretShape { prefix: "github_pat_", follows: Word(10) },
    SecretShape { prefix: "glpat-", follows: Word(10) },
    SecretShape { prefix: "AKIA", follows: KeyName(12) },
    SecretShape { prefix: "ASIA", follows: KeyName(12) },
    SecretShape { prefix: "sk-", follows: Word(16) },
    SecretShape { prefix: "sk_live_", follows: Word(10) },
    SecretShape { prefix: "sk_test_", follows: Word(10) },
    SecretShape { prefix: "rk_live_", follows: Word(10) },
    SecretShape { prefix: "whsec_", follows: Word(16) },
    SecretShape { prefix: "xoxb-", follows: Word(10) },
    SecretShape { prefix: "xoxp-", follows: Word(10) },
    SecretShape { prefix: "xoxa-", follows: Word(10) },
    SecretShape { prefix: "xoxs-", follows: Word(10) },
    SecretShape { prefix: "xapp-", follows: Word(10) },
    SecretShape { prefix: "AIza", follows: Word(30) },
    SecretShape { prefix: "ya29.", follows: Word(20) },
    SecretShape { prefix: "npm_", follows: Word(30) },
    SecretShape { prefix: "pypi-", follows: Word(30) },
    SecretShape { prefix: "hf_", follows: Word(30) },
    SecretShape { prefix: "dop_v1_", follows: Word(30) },
    SecretShape { prefix: "shpat_", follows: Word(20) },
    SecretShape { prefix: "lin_api_", follows: Word(20) },
    SecretShape { prefix: "gsk_", follows: Word(20) },
    SecretShape { prefix: "hvs.", follows: Word(16) },
    SecretShape { prefix: "SG.", follows: Dotted(24) },
    SecretShape { prefix: "dckr_pat_", follows: Word(16) },
    SecretShape { prefix: "glrt-", follows: Word(16) },
    SecretShape { prefix: "nvapi-", follows: Word(20) },
    SecretShape { prefix: "ATATT3x", follows: Word(20) },
    SecretShape { prefix: "AGE-SECRET-KEY-", follows: Word(20) },
    SecretShape { prefix: "://", follows: Login },
    SecretShape { prefix: "eyJ", follows: SignedToken },
    SecretShape { prefix: "-----BEGIN ", follows: PrivateKey },
    SecretShape { prefix: "authorization", follows: Header },
    SecretShape { prefix: "bearer ", follows: Bearer },
    SecretShape { prefix: "secret_access_key", follows: Field(30) },
    SecretShape { prefix: "SECRET_ACCESS_KEY", follows: Field(30) },
    SecretShape { prefix: "secretAccessKey", follows: Field(30) },
    SecretShape { prefix: "SecretAccessKey", follows: Field(30) },
    SecretShape { prefix: "secret access key", follows: Field(30) },
];

/// Returns the prefixes, in the order of [`SHAPES`].
pub(crate) fn prefixes() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|shape| shape.prefix)
}

/// Returns whether the prefix `number` is case-insensitive.
pub(crate) fn is_any_case(number: usize) -> bool {
    SHAPES.get(number).is_none_or(|shape| matches!(shape.follows, Header | Bearer))
}

static SHAPE_SEARCHER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(prefixes()).ok());

/// Returns whether the text contains anything with the shape of a secret.
pub fn contains_secret(bytes: &[u8]) -> bool {
    // Fails closed: without a searcher, every text counts as one with a secret.
    SHAPE_SEARCHER.as_ref().is_none_or(|table| {
        table
            .find_overlapping_iter(bytes)
            .any(|hit| secret_at(bytes, hit.pattern().as_usize(), hit.start()).is_some())
    })
}

/// Returns the range of the secret whose prefix `number` is at `start`, if it is one.
pub(crate) fn secret_at(bytes: &[u8], number: usize, start: usize) -> Option<Range<usize>> {
    let shape = SHAPES.get(number)?;
    let after = start + shape.prefix.len();
    let written = bytes.get(start..after)?;
    let rest = bytes.get(after..)?;
    // `sk-` at the end of `task-` does not begin a secret.
    let is_free = start.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(|before| {
        !before.is_ascii_alphanumeric() && *before != b'_' || follows_escape(bytes, start)
    });
    // The search ignores case, which is right only for headers and schemes.
    let exact = written == shape.prefix.as_bytes();
    let run = |fits: fn(u8) -> bool| rest.iter().take_while(|byte| fits(**byte)).count();
    let end = match shape.follows {
        Word(least) if exact && is_free => {
            let count = run(is_token_byte);
            let long = count >= least;
            // Words joined by hyphens are prose; a token has a digit or a capital letter.
            let mixed = rest
                .iter()
                .take(count)
                .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
            (long && (mixed || shape.prefix != "sk-")).then_some(after + count)?
        }
        KeyName(least) if exact && is_free => {
            let count = run(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
            let key = rest.get(count..).and_then(nearby_key).unwrap_or(0);
            (count >= least).then_some(after + count + key)?
        }
        Field(least) if exact => {
            return field(rest, least).map(|at| after + at.start..after + at.end);
        }
        Dotted(least) if exact && is_free => {
            let count = run(|byte| is_token_byte(byte) || byte == b'.');
            (count >= least).then_some(after + count)?
        }
        Login => return login(rest).map(|found| after + found.start..after + found.end),
        SignedToken if exact && is_free => signed_token(rest).map(|count| after + count)?,
        PrivateKey => private_key(rest).map(|count| after + count)?,
        Header => return header(rest).map(|found| after + found.start..after + found.end),
        Bearer if is_free => {
            let count = run(is_credential_byte);
            let digits = rest.iter().take(count).any(u8::is_ascii_digit);
            return (count >= 12 && digits).then_some(after..after + count);
        }
        Word(_) | KeyName(_) | Field(_) | Dotted(_) | SignedToken | Bearer => return None,
    };
    Some(start..end)
}

/// Returns whether the preceding letters belong to an escape and not to a word: `\n` or `\u003d` in
/// JSON, `%3D` in a URL, or a terminal colour code.
fn follows_escape(bytes: &[u8], start: usize) -> bool {
    let before = bytes.get(start.saturating_sub(MAX_ESCAPE_BYTES)..start).unwrap_or_default();
    let is_code = |sign: &[u8], digits: usize| {
        let at = before.len().checked_sub(sign.len() + digits);
        at.and_then(|at| before.get(at..))
            .and_then(|code| code.strip_prefix(sign))
            .is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
    };
    let is_letter = matches!(before, [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f']);
    is_letter
        || is_code(b"%", 2)
        || is_code(b"\\x", 2)
        || is_code(b"\\u", 4)
        || before.strip_suffix(b"m").is_some_and(is_ansi_color)
}

/// Maximum length of such an escape: a terminal colour code in JSON.
const MAX_ESCAPE_BYTES: usize = 32;

/// Returns whether the text ends with the start and the numbers of a terminal escape sequence.
fn is_ansi_color(before: &[u8]) -> bool {
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let numbers = before.iter().rev().take_while(|byte| is_number(byte)).count();
    let before = before.get(..before.len() - numbers).unwrap_or_default();
    let escape = before.strip_suffix(b"[").unwrap_or_default();
    let writings: [&[u8]; 6] = [b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\e", b"\\033"];
    writings.iter().any(|writing| escape.ends_with(writing))
}

const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

const fn is_credential_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
}

/// Returns the length up to the end of a key of 40 characters that follows closely, if there is
/// one: key id and key are usually written together.
fn nearby_key(rest: &[u8]) -> Option<usize> {
    const LENGTH: usize = 40;
    const MAX_DISTANCE: usize = 48;
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+');
    let mut start = 0;
    while start <= MAX_DISTANCE {
        let signs = rest.get(start..)?.iter();
        let word = signs.clone().take_while(|byte| is_key(byte)).count();
        let has = |is_one: fn(&u8) -> bool| signs.clone().take(word).any(is_one);
        // Upper and lower case, so that it is not an unquoted number in JSON.
        if word == LENGTH && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) {
            return Some(start + LENGTH);
        }
        start += word;
        // Redaction must not remove the structure of JSON.
        let next = rest.get(start).filter(|byte| !matches!(byte, b'{' | b'}' | b'[' | b']'))?;
        start += usize::from(!is_key(next));
    }
    None
}

/// Returns the value after the name of a field, in JSON, in a settings file or in prose.
fn field(rest: &[u8], least: usize) -> Option<Range<usize>> {
    let is_between = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b':' | b'=' | b'`');
    let start = rest.iter().take(12).take_while(|byte| is_between(byte)).count();
    let count = rest.get(start..)?.iter().take_while(|byte| is_credential_byte(**byte)).count();
    (start > 0 && count >= least).then_some(start..start + count)
}

/// Returns the password between the first colon and the last `@` of the authority of a URL.
fn login(rest: &[u8]) -> Option<Range<usize>> {
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'\\')
    };
    // Bounded, so that a text full of `://` does not take quadratic time.
    let host = rest.iter().take(300).take_while(|byte| !ends(byte)).count();
    let host = rest.get(..host)?;
    // The last `@`: people paste passwords that contain one unencoded.
    let at = memchr::memrchr(b'@', host)?;
    let colon = memchr::memchr(b':', host.get(..at)?)?;
    (colon + 1 < at).then_some(colon + 1..at)
}

/// Returns the length of a JWT (three dot-separated parts) after its prefix.
fn signed_token(rest: &[u8]) -> Option<usize> {
    let whole = rest.iter().take_while(|byte| is_token_byte(**byte) || **byte == b'.').count();
    let mut parts = rest.get(..whole)?.split(|byte| *byte == b'.');
    let first = parts.next()?;
    let second = parts.next()?;
    // The signature may be missing, if the text is truncated or the token is unsigned.
    (first.len() >= 6 && second.len() >= 6).then_some(whole)
}

/// Returns the length up to the end line, or of the whole rest if it is truncated.
fn private_key(rest: &[u8]) -> Option<usize> {
    let line = rest.get(..rest.len().min(60))?;
    let title = memchr::memmem::find(line, b"-----")?;
    memchr::memmem::find(line.get(..title)?, b"PRIVATE KEY")?;
    let Some(last) = memchr::memmem::find(rest, b"-----END ") else { return Some(rest.len()) };
    let tail = rest.get(last + 9..)?;
    let close = memchr::memmem::find(tail, b"-----").map_or(tail.len(), |at| at + 5);
    Some(last + 9 + close)
}

/// Returns the value after `authorization`, in a header, in JSON or in JSON inside a string.
fn header(rest: &[u8]) -> Option<Range<usize>> {
    let is_between = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b':' | b'=');
    let start = rest.iter().take_while(|byte| is_between(byte)).count();
    if !rest.get(..start)?.iter().any(|byte| matches!(byte, b':' | b'=')) {
        return None;
    }
    let ends = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | b'\r' | b'\n');
    let value = rest.get(start..)?;
    let word = value.iter().take_while(|byte| is_credential_byte(**byte)).count();
    let scheme = value.get(..word)?.to_ascii_lowercase();
    let schemes: [&[u8]; 9] = [
        b"bearer", b"basic", b"token", b"digest", b"negotiate", b"apikey", b"key", b"dpop", b"hawk",
    ];
    let known = schemes.contains(&scheme.as_slice()) || scheme.starts_with(b"aws4");
    let count = if known { value.iter().take_while(|byte| !ends(byte)).count() } else { word };
    let digits = value.get(..count)?.iter().any(u8::is_ascii_digit);
    (known && count > word + 1 || word >= 16 && digits).then_some(start..start + count)
}

/// Returns whether a variable, header or flag of this name contains a secret.
pub fn is_secret_name(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "token", "secret", "password", "passwd", "passphrase", "apikey", "credential",
        "credentials", "authorization", "cookie", "bearer", "pat", "jwt", "privatekey",
    ];
    let mut plain = String::new();
    let mut lower = false;
    for letter in name.chars() {
        // `apiKey` is two words.
        if lower && letter.is_ascii_uppercase() {
            plain.push('_');
        }
        lower = letter.is_ascii_lowercase();
        plain.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
    }
    let words: Vec<&str> = plain.split('_').filter(|word| !word.is_empty()).collect();
    let pairs = words.windows(2).any(|pair| {
        matches!(pair, ["api" | "access" | "private" | "secret" | "signing" | "auth", "key"])
    });
    pairs
        || words.iter().any(|word| WORDS.contains(word))
        || words.last() == Some(&"key")
        || words.concat().ends_with("apikey")
}

/// Returns the values whose names indicate secrets, and the credentials after the scheme in each.
pub fn secret_values<'a>(
    pairs: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> impl Iterator<Item = &'a str> {
    let secret = pairs.into_iter().filter(|(name, _)| is_secret_name(name));
    secret.flat_map(|(_, value)| {
        let last = value.rsplit(' ').next().filter(|last| *last != value);
        // A path is the location of a secret, not the secret.
        std::iter::once(value.as_str())
            .chain(last)
            .filter(|value| !value.starts_with(['/', '.', '~']) && !value.contains(":\\"))
    })
}
