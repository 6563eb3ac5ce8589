//! Redacts secrets in everything that is written or displayed: known values, and texts with the
//! shape of a secret.
//!
//! The known values are global, because every log, event, record and message could leak them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Span, packed};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, utf8_percent_encode};

use crate::percent::RESERVED;
use crate::secret_shapes;

/// The replacement for a secret, which is valid inside JSON, a header or a log line.
pub const REDACTED: &str = "[redacted]";

/// Minimum length of a known secret: redacting shorter ones would garble ordinary words.
const MIN_SECRET_BYTES: usize = 8;
/// Maximum number of known secrets, in all their encodings; further ones are not redacted.
const MAX_SECRETS: usize = 4_096;

/// Maximum number of patterns for a DFA, which is fast but grows with every pattern.
const MAX_DFA_PATTERNS: usize = 200;

/// Characters that some programs percent-encode in the path of a URL.
const IN_PATH: &AsciiSet = &RESERVED.remove(b'/');
/// Characters that `encodeURIComponent` percent-encodes.
const IN_SCRIPT: &AsciiSet =
    &RESERVED.remove(b'!').remove(b'\'').remove(b'(').remove(b')').remove(b'*');
/// Characters that `encodeURI` percent-encodes, and `?` and `#`.
const IN_URL: &AsciiSet = &IN_SCRIPT
    .remove(b'/')
    .remove(b':')
    .remove(b'@')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

#[derive(Default)]
struct KnownSecrets {
    values: BTreeSet<String>,
    patterns: Vec<SecretPattern>,
    /// For every byte, the patterns that may start with it.
    by_first: Vec<Vec<usize>>,
    /// A SIMD search for the starts of patterns; `None` with too many patterns or without SIMD.
    quick: Option<Searcher>,
    table: Option<AhoCorasick>,
}

/// A known secret, or the prefix of a shape with its number.
struct SecretPattern {
    text: String,
    shape: Option<usize>,
}

impl KnownSecrets {
    fn new(values: BTreeSet<String>) -> Self {
        let shapes = secret_shapes::prefixes().enumerate();
        let shapes =
            shapes.map(|(number, text)| SecretPattern { text: text.into(), shape: Some(number) });
        let known = values.iter().map(|text| SecretPattern { text: text.clone(), shape: None });
        let patterns: Vec<SecretPattern> = shapes.chain(known).collect();
        let mut by_first = vec![Vec::new(); 256];
        for (number, pattern) in patterns.iter().enumerate() {
            let first = pattern.text.bytes().next().unwrap_or_default();
            for byte in BTreeSet::from([first.to_ascii_lowercase(), first.to_ascii_uppercase()]) {
                if let Some(list) = by_first.get_mut(usize::from(byte)) {
                    list.push(number);
                }
            }
        }
        let quick = build_searcher(&patterns);
        let table = if quick.is_none() { build_automaton(&patterns) } else { None };
        Self { values, patterns, by_first, quick, table }
    }

    /// Returns the ranges of secrets, in order and without overlap.
    fn secret_ranges(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        if let Some(quick) = &self.quick {
            let mut from = 0;
            while let Some(hit) = quick.find_in(bytes, Span::from(from..bytes.len())) {
                let first = bytes.get(hit.start()).copied().unwrap_or_default();
                let may_be = self.by_first.get(usize::from(first)).into_iter().flatten();
                places.extend(
                    may_be.filter_map(|number| self.secret_at(*number, bytes, hit.start())),
                );
                // Not after the hit: a secret may begin inside the prefix of another.
                from = hit.start() + 1;
            }
        } else if let Some(table) = &self.table {
            let hits = table.find_overlapping_iter(bytes);
            places.extend(
                hits.filter_map(|hit| self.secret_at(hit.pattern().as_usize(), bytes, hit.start())),
            );
        } else {
            // Fails closed: without a searcher, everything is redacted.
            places.push(0..bytes.len());
        }
        merge_ranges(places)
    }

    /// Returns the range of the secret at `start`, if this pattern matches there.
    fn secret_at(&self, number: usize, bytes: &[u8], start: usize) -> Option<Range<usize>> {
        let pattern = self.patterns.get(number)?;
        let end = start + pattern.text.len();
        let written = bytes.get(start..end)?;
        match pattern.shape {
            Some(shape) if written.eq_ignore_ascii_case(pattern.text.as_bytes()) => {
                secret_shapes::secret_at(bytes, shape, start)
            }
            // Known values are case-sensitive.
            None if written == pattern.text.as_bytes() => Some(start..end),
            _ => None,
        }
    }
}

/// Number of bytes of a pattern that the fast search looks for.
const PREFIX_BYTES: usize = 4;

fn build_searcher(patterns: &[SecretPattern]) -> Option<Searcher> {
    let mut firsts = BTreeSet::new();
    for pattern in patterns {
        let first = pattern.text.as_bytes().get(..PREFIX_BYTES).unwrap_or(pattern.text.as_bytes());
        // Three bytes instead of four, since the searcher takes a limited number of patterns and
        // every letter doubles the variants.
        if pattern.shape.is_some_and(secret_shapes::is_any_case) {
            firsts.extend(case_variants(first.get(..3)?));
        } else {
            firsts.insert(first.to_vec());
        }
    }
    packed::Config::new().builder().extend(firsts).build()
}

/// Returns the bytes in all combinations of lower and upper case.
fn case_variants(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.iter().fold(vec![Vec::new()], |begun, byte| {
        let both = BTreeSet::from([byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]);
        let with = |end: u8| begun.iter().map(move |text| [text.as_slice(), &[end]].concat());
        both.into_iter().flat_map(with).collect()
    })
}

fn build_automaton(patterns: &[SecretPattern]) -> Option<AhoCorasick> {
    let kind = (patterns.len() < MAX_DFA_PATTERNS).then_some(AhoCorasickKind::DFA);
    let texts = patterns.iter().map(|pattern| &pattern.text);
    AhoCorasick::builder().ascii_case_insensitive(true).kind(kind).build(texts).ok()
}

fn merge_ranges(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|place| place.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for place in places {
        match merged.last_mut() {
            Some(last) if place.start < last.end => last.end = last.end.max(place.end),
            _ => merged.push(place),
        }
    }
    merged
}

static KNOWN_SECRETS: LazyLock<Mutex<Arc<KnownSecrets>>> =
    LazyLock::new(|| Mutex::new(Arc::new(KnownSecrets::new(BTreeSet::new()))));

// Clones the `Arc`, so that threads do not wait for each other while they search.
fn known_secrets() -> Arc<KnownSecrets> {
    Arc::clone(&KNOWN_SECRETS.lock())
}

/// Adds values that are redacted from now on, in all their encodings.
pub fn add_secrets<'a>(secrets: impl IntoIterator<Item = &'a str>) {
    let mut held = KNOWN_SECRETS.lock();
    let mut values = held.values.clone();
    for secret in secrets {
        for form in encodings(secret).into_iter().filter(|form| form.len() >= MIN_SECRET_BYTES) {
            if values.len() < MAX_SECRETS {
                values.insert(form);
            }
        }
    }
    // Building the search is expensive, and a reload usually brings the same secrets again.
    if values != held.values {
        *held = Arc::new(KnownSecrets::new(values));
    }
}

/// Returns the secret and its encodings in JSON, nested JSON, URLs, HTML, hexadecimal and base64.
fn encodings(secret: &str) -> Vec<String> {
    // A secret from a file often ends with a line feed that does not belong to it.
    let secret = secret.trim();
    // Unchanged first: if there is no room for all forms, this is the most important one.
    let mut forms = vec![secret.to_owned()];
    let in_json = json_encodings(secret);
    let inside: Vec<String> = in_json.iter().flat_map(|json| json_encodings(json)).collect();
    forms.extend(in_json.into_iter().chain(inside));
    // Programs differ in which characters they percent-encode, and in the case of the digits.
    for encoded in [RESERVED, IN_PATH, IN_SCRIPT, IN_URL] {
        let address = utf8_percent_encode(secret, encoded).to_string();
        forms.push(digits_after(&address, "%", 2, str::to_lowercase));
        forms.push(address.replace("%20", "+"));
        forms.push(address);
    }
    forms.extend(html_encodings(secret));
    if secret.len() >= MIN_ENCODED_BYTES {
        let digits: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        forms.push(digits.to_uppercase());
        forms.push(digits);
        forms.extend(base64_encodings(secret));
    }
    forms
}

/// Returns the JSON encodings of a text: Unicode or ASCII only, with and without the escapes used
/// for HTML and scripts.
fn json_encodings(text: &str) -> Vec<String> {
    let json = serde_json::to_string(text).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or_default();
    let escaped = |is_left: fn(char) -> bool| {
        json.chars().fold(String::new(), |mut written, letter| {
            if is_left(letter) {
                written.push(letter);
            } else {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    written.push_str(&format!("\\u{unit:04x}"));
                }
            }
            written
        })
    };
    let for_pages = escaped(|letter| !matches!(letter, '<' | '>' | '&'));
    let for_scripts = escaped(|letter| letter.is_ascii() && !"<>&='".contains(letter));
    let plain = escaped(|letter| letter.is_ascii());
    let slashes = [json.replace('/', "\\/"), plain.replace('/', "\\/")];
    let upper = [&for_pages, &for_scripts, &plain]
        .map(|text| digits_after(text, "\\u", 4, str::to_uppercase));
    let rest = [json.to_owned(), for_pages, for_scripts, plain];
    slashes.into_iter().chain(upper).chain(rest).collect()
}

/// Changes the case of the hexadecimal digits after each `sign`.
fn digits_after(text: &str, sign: &str, count: usize, case: fn(&str) -> String) -> String {
    let mut parts = text.split(sign);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut written, part| {
        let (digits, rest) = part.split_at_checked(count).unwrap_or((part, ""));
        written.push_str(sign);
        written.push_str(&case(digits));
        written.push_str(rest);
        written
    })
}

fn html_encodings(text: &str) -> [String; 2] {
    let page = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let page = page.replace('"', "&quot;");
    [page.replace('\'', "&#39;"), page.replace('\'', "&#x27;")]
}

/// Minimum length of a secret whose hexadecimal and base64 forms are distinctive enough to redact.
const MIN_ENCODED_BYTES: usize = 12;

/// Returns the base64 digits that are the same at each alignment of a secret in a longer text.
fn base64_encodings(secret: &str) -> Vec<String> {
    let mut all = Vec::new();
    // The first digits also encode bits of the preceding text.
    for (before, shared) in [("", 0), ("x", 2), ("xx", 3)] {
        let text = format!("{before}{secret}");
        let digits = BASE64_STANDARD_NO_PAD.encode(&text);
        // The last digit may encode bits of the following text.
        let end = text.len() * 8 / 6;
        if let Some(own) = digits.get(shared..end) {
            all.push(own.replace('+', "-").replace('/', "_"));
            all.push(own.to_owned());
        }
    }
    all
}

/// Returns the bytes with secrets redacted; `None`, without a copy, if they contain none.
#[must_use]
pub fn redact_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    let places = known_secrets().secret_ranges(bytes);
    if places.is_empty() {
        return None;
    }
    let mut clean = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for place in places {
        clean.extend_from_slice(bytes.get(from..place.start).unwrap_or_default());
        clean.extend_from_slice(REDACTED.as_bytes());
        from = place.end;
    }
    clean.extend_from_slice(bytes.get(from..).unwrap_or_default());
    Some(clean)
}

/// Returns the text with secrets redacted.
#[must_use]
pub fn redact_text(text: &str) -> Cow<'_, str> {
    match redact_bytes(text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
    }
}

/// Returns whether the value of a variable or header of this name is a literal secret.
#[must_use]
pub fn is_secret(name: &str, value: &str) -> bool {
    let is_plain = value.len() >= MIN_SECRET_BYTES && !value.starts_with(['/', '.', '~']);
    secret_shapes::contains_secret(value.as_bytes())
        || (is_plain && secret_shapes::is_secret_name(name) && !value.contains("://"))
}

/// Redacts a stream line by line, including private keys over several lines.
#[derive(Debug, Default)]
pub struct LineRedactor {
    buffer: Vec<u8>,
    in_key: bool,
}

/// Maximum length of a buffered line; a longer one is redacted in parts.
// A secret across two parts is missed; the alternative is unbounded memory.
const MAX_LINE_BYTES: usize = 64 * 1_024;

impl LineRedactor {
    /// Adds a piece of the stream, and returns the redacted lines that are complete.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.buffer.extend_from_slice(piece);
        let mut out = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', &self.buffer)
            .map(|at| at + 1)
            .or_else(|| (self.buffer.len() > MAX_LINE_BYTES).then_some(self.buffer.len()))
        {
            let rest = self.buffer.split_off(end);
            let line = std::mem::replace(&mut self.buffer, rest);
            self.redact_line(&line, &mut out);
        }
        out
    }

    /// Returns the redacted rest at the end of the stream.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        let line = std::mem::take(&mut self.buffer);
        self.redact_line(&line, &mut out);
        out
    }

    fn redact_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let holds = |words: &[u8]| memchr::memmem::find(line, words).is_some();
        if self.in_key {
            self.in_key = !holds(b"-----END ");
            return;
        }
        let opens = holds(b"-----BEGIN ") && holds(b"PRIVATE KEY") && !holds(b"-----END ");
        match redact_bytes(line) {
            None => out.extend_from_slice(line),
            Some(clean) => {
                out.extend_from_slice(&clean);
                // The redaction of the open key extends over the line feed.
                if opens {
                    out.push(b'\n');
                }
            }
        }
        self.in_key = opens;
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
