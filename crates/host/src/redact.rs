//! Takes secrets out of everything that is written down or shown: the ones we know, and whatever looks like one.
//!
//! What the process has resolved as a secret is known to the whole process, because every log, event,
//! record and message of it is a way out.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::secret_shapes;

/// What stands in place of a secret. It is harmless inside JSON, a header or a line of a log.
pub const MARK: &str = "[redacted]";

/// A shorter secret is not known: taking it out would garble ordinary words.
const SHORTEST: usize = 8;
/// As many secrets are known; a process that resolves more forgets none, it only stops learning.
const MOST: usize = 4_096;

/// Up to so many patterns every byte is looked at once, in one step.
const FEW: usize = 200;

#[derive(Default)]
struct Known {
    values: BTreeSet<String>,
    table: Option<AhoCorasick>,
    shapes: usize,
}

impl Known {
    fn of(values: BTreeSet<String>) -> Self {
        let patterns: Vec<String> =
            secret_shapes::beginnings().map(str::to_owned).chain(values.clone()).collect();
        let shapes = secret_shapes::beginnings().count();
        // The faster table grows with every pattern.
        let kind = (patterns.len() < FEW).then_some(AhoCorasickKind::DFA);
        let mut builder = AhoCorasick::builder();
        let table = builder.ascii_case_insensitive(true).kind(kind).build(patterns).ok();
        Self { table, shapes, values }
    }

    /// Where secrets are, in order and without overlap.
    fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        // Without a table nothing can be told apart, so all of it goes.
        let Some(table) = &self.table else { return std::iter::once(0..bytes.len()).collect() };
        let mut places: Vec<Range<usize>> = Vec::new();
        for hit in table.find_overlapping_iter(bytes) {
            let number = hit.pattern().as_usize();
            let found = if number < self.shapes {
                secret_shapes::secret_at(bytes, number, hit.start())
            } else {
                // The table does not mind letter case; a value is itself or it is not.
                let value = self.values.iter().nth(number - self.shapes);
                let same = value.map(String::as_bytes) == bytes.get(hit.start()..hit.end());
                same.then(|| hit.start()..hit.end())
            };
            places.extend(found);
        }
        merged(places)
    }
}

fn merged(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
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

static KNOWN: LazyLock<Mutex<Arc<Known>>> =
    LazyLock::new(|| Mutex::new(Arc::new(Known::of(BTreeSet::new()))));

fn known() -> Arc<Known> {
    Arc::clone(&KNOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Has these values taken out of everything from here on.
pub fn remember<'a>(secrets: impl IntoIterator<Item = &'a str>) {
    let mut held = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut values = held.values.clone();
    for secret in secrets {
        for form in forms(secret).into_iter().filter(|form| form.len() >= SHORTEST) {
            if values.len() < MOST {
                values.insert(form);
            }
        }
    }
    if values != held.values {
        *held = Arc::new(Known::of(values));
    }
}

/// A secret as it is, as JSON writes it, and as an address does.
fn forms(secret: &str) -> Vec<String> {
    let secret = secret.trim();
    let json = serde_json::to_string(secret).unwrap_or_default();
    let json = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let address = secret.bytes().fold(String::new(), |mut text, byte| {
        if plain(byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
        text
    });
    vec![secret.to_owned(), json, address]
}

/// The bytes without secrets; `None` if there are none in them, which takes one pass and no copy.
#[must_use]
pub fn redacted(bytes: &[u8]) -> Option<Vec<u8>> {
    let places = known().places(bytes);
    if places.is_empty() {
        return None;
    }
    let mut clean = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for place in places {
        clean.extend_from_slice(bytes.get(from..place.start).unwrap_or_default());
        clean.extend_from_slice(MARK.as_bytes());
        from = place.end;
    }
    clean.extend_from_slice(bytes.get(from..).unwrap_or_default());
    Some(clean)
}

/// The text without secrets.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    match redacted(text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
    }
}

/// Takes secrets out of what comes in pieces, line by line; a private key may have many lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    held: Vec<u8>,
    in_key: bool,
}

/// A longer line is looked at in parts.
const LONGEST_LINE: usize = 64 * 1_024;

impl Lines {
    /// What can be written now.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        let mut out = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', &self.held)
            .map(|at| at + 1)
            .or_else(|| (self.held.len() > LONGEST_LINE).then_some(self.held.len()))
        {
            let rest = self.held.split_off(end);
            let line = std::mem::replace(&mut self.held, rest);
            self.line(&line, &mut out);
        }
        out
    }

    /// What was held back.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        let line = std::mem::take(&mut self.held);
        self.line(&line, &mut out);
        out
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let holds = |words: &[u8]| memchr::memmem::find(line, words).is_some();
        if self.in_key {
            self.in_key = !holds(b"-----END ");
            return;
        }
        let opens = holds(b"-----BEGIN ") && holds(b"PRIVATE KEY") && !holds(b"-----END ");
        match redacted(line) {
            None => out.extend_from_slice(line),
            Some(clean) => {
                out.extend_from_slice(&clean);
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
