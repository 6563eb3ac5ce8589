//! JSON text that is forwarded unchanged: the same bytes, shared, never re-encoded.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Valid JSON text, cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Bytes);

impl Json {
    /// The JSON value `null`.
    pub const NULL: Self = Self(Bytes::from_static(b"null"));

    /// Wraps text that is known to be JSON, for instance because a serializer wrote it.
    pub fn from_trusted(text: String) -> Self {
        Self(Bytes::from(text))
    }

    /// Wraps bytes that are known to be JSON text, for instance because they came from a [`Json`].
    pub const fn from_trusted_bytes(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Checks that `bytes` are JSON text and keeps them unchanged.
    pub fn parse(bytes: Bytes) -> Result<Self, serde_json::Error> {
        serde_json::from_slice::<&RawValue>(&bytes)?;
        Ok(Self(bytes))
    }

    /// Returns the part of `line` that `text` borrows, without copying.
    pub fn slice_from(line: &Bytes, text: &str) -> Self {
        Self(line.slice_ref(text.as_bytes()))
    }

    /// Returns `text`, which must be JSON, as a [`Json`]; shared if it borrows from `self`.
    pub fn slice(&self, text: &str) -> Self {
        // `Bytes::slice_ref` would panic for a text from elsewhere, so addresses are compared.
        let whole = self.0.as_ptr().addr();
        let part = text.as_ptr().addr();
        let range = part.checked_sub(whole).map(|start| start..start + text.len());
        match range.filter(|range| range.end <= self.0.len()) {
            Some(range) => Self(self.0.slice(range)),
            None => Self(Bytes::copy_from_slice(text.as_bytes())),
        }
    }

    /// Returns the JSON text unchanged.
    pub fn as_str(&self) -> &str {
        // Every constructor requires bytes that a JSON parser accepted, so the check cannot fail.
        // It is repeated because skipping it would need `unsafe`.
        utf8(&self.0).unwrap_or("null")
    }

    /// Returns the bytes of the text.
    pub const fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// Deserializes the text; borrowed fields point into it.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Returns the value of a JSON string, unescaped.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        self.read().ok()
    }
}

/// Returns the bytes as text, if they are UTF-8.
pub fn utf8(bytes: &[u8]) -> Option<&str> {
    // With SIMD: every message of a gateway passes here, and messages may be long.
    simdutf8::basic::from_utf8(bytes).ok()
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the text, which may contain secrets and would end up in logs.
        write!(f, "Json({} bytes)", self.0.len())
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(Bytes::copy_from_slice(raw.get().as_bytes()))
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        Self(Bytes::from(value.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::Json;

    #[test]
    fn a_part_is_shared_and_what_is_none_is_copied() {
        let whole = Json::from_trusted(r#"[1,{"a":2}]"#.to_owned());
        let (_, raw): (u8, &RawValue) = whole.read().unwrap();
        let part = whole.slice(raw.get());
        assert_eq!((part.as_str(), part.bytes().as_ptr()), (r#"{"a":2}"#, raw.get().as_ptr()));
        let other = RawValue::from_string("[3]".to_owned()).unwrap();
        assert_eq!(whole.slice(other.get()).as_str(), "[3]");
    }
}
